"""What a person sees of results: the diagnosis, the terminal scorecard, charts and the HTML page; computes nothing."""

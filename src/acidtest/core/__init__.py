"""The types everything else is written in; imports nothing else of acidtest."""

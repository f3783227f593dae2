"""One module for each architecture: its function ``network`` makes the layers above the words."""

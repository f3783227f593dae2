"""One module for each architecture; its class or function ``network`` takes a reader's basis, then its options."""

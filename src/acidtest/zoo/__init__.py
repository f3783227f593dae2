"""The papers' architectures, how they are trained, and the adapter that asks trained networks."""

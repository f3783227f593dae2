"""What runs and data sets show: one module or family of modules per study."""

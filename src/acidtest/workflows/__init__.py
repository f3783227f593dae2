"""What crosses parts: runs, batteries, training, experiments, annotation projects, exports."""

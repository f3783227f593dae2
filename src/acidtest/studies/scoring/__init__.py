"""What studies share: scored rows, slices, controls, severities."""

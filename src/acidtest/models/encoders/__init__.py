"""Checkpoints, tokens and kernels that the adapters of neural models share."""

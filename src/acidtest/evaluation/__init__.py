"""Evaluation: plan the batches, ask the model, keep every answer."""

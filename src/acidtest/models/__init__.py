"""Adapters that turn a spec into a model, one a module, and what they share."""

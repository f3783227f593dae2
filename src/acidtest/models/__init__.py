"""Models: one adapter per module, found because it lies here."""

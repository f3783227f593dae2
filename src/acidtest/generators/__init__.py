"""Generators: sources in, a suite out; one module per suite, found because it lies here."""

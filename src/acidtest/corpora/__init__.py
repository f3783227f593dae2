"""Pairs and claims read from files."""

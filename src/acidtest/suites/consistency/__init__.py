"""Pairs whose answers must agree with one another."""

"""Engines: where planned work is done."""

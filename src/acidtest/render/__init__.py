"""Renderers of documents: the terminal, one HTML page, files; the only code that draws."""

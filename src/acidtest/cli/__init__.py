"""The command line: parse, call the API, print. One module per command."""

from acidtest.cli.app import main

__all__ = ["main"]

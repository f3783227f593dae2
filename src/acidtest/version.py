"""The version of acidtest, in every signature and every file it writes."""

__version__ = "0.2.0"

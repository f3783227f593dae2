"""Text for terminals and logs: names and values come from files, and a terminal obeys what is in them."""

from __future__ import annotations

import re

_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tab and line end, escapes among them, and marks that turn the direction of text."""


def terminal_text(text: str) -> str:
    """The text with a replacement character for everything that a terminal would obey rather than show."""
    return _OBEYED.sub("\ufffd", text)

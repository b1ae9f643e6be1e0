"""Escapes text in tables, so that no spreadsheet reads it as a formula."""

import unicodedata
from typing import Final

_FORMULA: Final = frozenset("=+-@\N{MINUS SIGN}")
_DASHES: Final = "Pd"
_UNSEEN: Final = ("C", "Z")  # controls, characters of no width, blanks of every kind


def plain(text: str) -> str:
    """Returns the text, after an apostrophe where a spreadsheet could read a formula.

    Some programs skip blanks and what has no width, and take wide, small and raised signs for plain ones.
    """
    if not text or (text[0].isascii() and text[0].isalnum()):
        return text
    visible = next((sign for sign in text if not unicodedata.category(sign).startswith(_UNSEEN)), "")
    first = unicodedata.normalize("NFKC", visible)[:1]
    is_formula = first in _FORMULA or (first and unicodedata.category(first) == _DASHES)
    return f"'{text}" if is_formula or unicodedata.category(text[0]) == "Cc" else text

"""The form in which a search compares texts: without case, accents and widths."""

import re
from typing import Final
from unicodedata import normalize

# Accents of Latin, Greek and Cyrillic; points of Hebrew; vowel signs of Arabic.
_MARKS: Final = re.compile("[\u0300-\u036f\u05b0-\u05c7\u064b-\u065f\u0670]+")


def folded(text: str) -> str:
    """Return a text without case, accents and widths: "Straße" and "STRASSE" are the same."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", normalize("NFKD", text.casefold()))

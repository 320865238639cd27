"""Encodings of files: the given one, that of a byte order mark, or UTF-8."""

import re
from codecs import (
    BOM_UTF8,
    BOM_UTF16_BE,
    BOM_UTF16_LE,
    BOM_UTF32_BE,
    BOM_UTF32_LE,
    getincrementaldecoder,
    lookup,
)
from typing import Final

UTF8: Final = "utf-8-sig"  # with or without a byte order mark
BYTE_ORDER_MARK: Final = BOM_UTF8
_MARKS: Final = {  # longest first: the mark of UTF-32 begins with that of UTF-16
    BOM_UTF32_LE: "utf-32",
    BOM_UTF32_BE: "utf-32",
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
}
WESTERN: Final = "cp1252"  # of Windows in Western Europe
_LETTER: Final = r"[^\W\d_\u00b2\u00b3\u00b9\u00bc-\u00be]"
_WORD = re.compile(f"{_LETTER}+")
_FOREIGN = re.compile("[\u0161\u017e\u00f0\u00fe\u00fd]", re.IGNORECASE)
_SIGNS: Final = (
    "\u00a1-\u00a9\u00ab-\u00b1\u00b3\u00b6\u00b8\u00b9\u00bb-\u00bf\u0192\u02c6\u02dc"
    "\u2020-\u2022\u2030\u2039\u203a\u20ac\u2122"
)
_AMID = re.compile(f"(?<={_LETTER})[{_SIGNS}](?={_LETTER})")
_BEYOND = re.compile(r"[^\x00-\x7f\ufeff]")
_LEAST: Final = 3  # letters beyond ASCII that make a word of another script
_SAMPLE: Final = 40  # letters
ESCAPED: Final = re.compile("[\ud800-\udfff]")  # a byte that could not be decoded
_OTHERS: Final = (
    "add --encoding cp1252 for a file of Windows in Western Europe, or another encoding"
)


class EncodingFault(Exception):
    """Bytes that are invalid in their encoding, or an unknown encoding."""


def given_encoding(name: str) -> str:
    """Return the encoding of this name; EncodingFault for an unknown one."""
    try:
        encoding = lookup(name).name
        "".encode(encoding)
    except (LookupError, UnicodeError, ValueError) as error:
        raise EncodingFault(
            f"there is no encoding {name!r}; try utf-8, cp1252 or latin-1"
        ) from error
    return UTF8 if encoding == "utf-8" else encoding


def marked_encoding(begin: bytes) -> str:
    """Return the encoding of a byte order mark in the first bytes of a file, else UTF-8.

    Raise EncodingFault if every second byte is 0, as in UTF-16 without a mark.
    """
    for mark, encoding in _MARKS.items():
        if begin.startswith(mark):
            return encoding
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = begin[first::2]
        if (
            len(zeros) > 1
            and zeros.count(0) * 2 > len(zeros)
            and not begin[1 - first :: 2].count(0)
        ):
            raise EncodingFault(f"it is not UTF-8: add --encoding {name}")
    return UTF8


def encoding_of(begin: bytes, given: str | None) -> str:
    """Return the given encoding, or that of the first bytes; EncodingFault if neither can be."""
    if given is not None:
        return given_encoding(given)
    encoding = marked_encoding(begin)
    if encoding == UTF8:
        _check_utf8(begin)
    return encoding


def guessed_encoding(begin: bytes) -> tuple[str, str]:
    """Return the likely encoding of the first bytes of a file, and a sample of its letters if
    nothing but these letters tells it. EncodingFault, which names the line, if none is likely.
    """
    encoding = likely_encoding(begin)
    if encoding is None:
        _check_utf8(begin)
        raise EncodingFault(f"its encoding cannot be guessed; {_OTHERS}")
    return encoding, _sample(begin.decode(encoding, "ignore")) if encoding == WESTERN else ""


def likely_encoding(begin: bytes) -> str | None:
    """Return the likely encoding of the first bytes of a file, None if there is none.

    It is that of a byte order mark; UTF-16 if bytes are 0 at every second place only; UTF-8 unless
    more bytes are invalid than letters have several bytes; else WESTERN if its words look so. The
    console guesses in the same way (static/encoding.js).
    """
    for mark, encoding in _MARKS.items():
        if begin.startswith(mark):
            return encoding
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = begin[first::2].count(0)
        if zeros > 1 and zeros * 20 > len(begin) and not begin[1 - first :: 2].count(0):
            return name
    text = getincrementaldecoder("utf-8")("surrogateescape").decode(begin)  # the last may be cut
    wrong = len(ESCAPED.findall(text))
    if sum(not sign.isascii() for sign in text) - wrong >= wrong:
        return UTF8
    return WESTERN if _is_western(begin) else None


def _is_western(begin: bytes) -> bool:
    """Return whether bytes read as WESTERN have words of Western Europe.

    Letters beyond ASCII are single in them. Those of other encodings make whole words, or become
    signs within words, or letters that only few languages of Western Europe have.
    """
    try:
        text = begin.decode(WESTERN)
    except UnicodeDecodeError:
        return False
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    others = sum(len(word) >= _LEAST and max(map(str.isascii, word)) is False for word in words)
    letters = "".join(sign for word in words for sign in word if not sign.isascii())
    foreign = len(_FOREIGN.findall(letters)) + len(_AMID.findall(text))
    return others * 2 <= len(words) and foreign * 10 <= len(letters)


def _sample(text: str) -> str:
    """Return some words around the first letter beyond ASCII."""
    found = _BEYOND.search(text)
    if found is None:
        return ""
    words = text[max(0, found.start() - _SAMPLE) : found.start() + _SAMPLE]
    return next(line for line in re.split(r"[\r\n]+", words) if not line.isascii()).strip()


def _check_utf8(begin: bytes) -> None:
    """Raise EncodingFault, which names the line, if the first bytes of a file are not UTF-8."""
    try:
        getincrementaldecoder("utf-8")().decode(begin)  # the last letter may be cut
    except UnicodeDecodeError as error:
        line = begin.count(b"\n", 0, error.start) + 1
        raise EncodingFault(not_utf8(error, f"line {line}")) from error


def decoded(begin: bytes, encoding: str) -> str:
    """Return the first bytes of a file as text, perhaps without the last letters; EncodingFault."""
    try:
        return begin.decode(encoding, "ignore")
    except UnicodeError as error:
        raise EncodingFault(not_decoded(None, encoding)) from error


def not_utf8(error: UnicodeDecodeError, where: str = "it") -> str:
    """Return the message about bytes that are not UTF-8, with the first invalid byte."""
    return f"{where} is not UTF-8 (byte 0x{error.object[error.start]:02X}); {_OTHERS}"


def not_decoded(line: int | None, encoding: str, text: str = "") -> str:
    """Return the message about a line that is invalid in its encoding.

    `text` is the line, with the invalid byte as a surrogate."""
    where = "it" if line is None else f"line {line}"
    escape = ESCAPED.search(text)
    byte = f" (byte 0x{ord(escape[0]) & 0xFF:02X})" if escape else ""
    if encoding == UTF8:
        return f"{where} is not UTF-8{byte}; {_OTHERS}"
    return f"{where} is not of the encoding {encoding}{byte}"

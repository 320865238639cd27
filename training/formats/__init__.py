"""The forms in which labelled instances are written: one module for each.

Each has `read(lines)`, which gives a `Given` for a line that holds an instance, a `Rejected` for
one that does not, in the order of the lines; and a docstring that says what a line looks like.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from types import MappingProxyType
from typing import Final

from manyclass.training.formats import fasttext, jsonl, libsvm, vw, xmc
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.lines import STANDARD_INPUT, Line

Read = Callable[[Iterable[Line]], Iterator[Given | Rejected]]

FORMATS: Final = MappingProxyType(
    {
        "jsonl": jsonl.read,
        "libsvm": libsvm.read,
        "xmc": xmc.read,
        "vw": vw.read,
        "fasttext": fasttext.read,
    }
)
SUFFIXES: Final = MappingProxyType(
    {
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
        ".libsvm": "libsvm",
        ".svm": "libsvm",
        ".svmlight": "libsvm",
        ".xmc": "xmc",
        ".vw": "vw",
        ".fasttext": "fasttext",
        ".ft": "fasttext",
    }
)
COMPRESSED: Final = (".gz", ".zst")


class FormatUnknown(Exception):
    """A file whose name does not say how it is written, or a format that nobody reads."""


def format_of(file: str) -> str:
    """The format a file's name tells, JSON lines for standard input; FormatUnknown."""
    if file == STANDARD_INPUT:
        return "jsonl"
    path = PurePath(file)
    ending = PurePath(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    try:
        return SUFFIXES[ending]
    except KeyError:
        raise FormatUnknown(
            f"{file}: its name does not tell the format; name it with --format"
            f" ({', '.join(FORMATS)})"
        ) from None


def reader_of(format: str) -> Read:
    """What reads this format; FormatUnknown."""
    try:
        return FORMATS[format]
    except KeyError:
        raise FormatUnknown(f"{format!r} is no format; there are {', '.join(FORMATS)}") from None

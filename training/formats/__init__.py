"""File formats of labelled instances, a module for each; its docstring shows a line.

To add a format, write a module with `read(lines)`, which yields a `Given` for each line that holds
an instance and a `Rejected` for each other line, in order; then list it in FORMATS and SUFFIXES.
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
    """A file name without a known suffix, or the name of an unknown format."""


def format_of(file: str) -> str:
    """Return the format by the file's name, JSON lines for standard input; FormatUnknown."""
    if file == STANDARD_INPUT:
        return "jsonl"
    path = PurePath(file)
    ending = PurePath(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    try:
        return SUFFIXES[ending]
    except KeyError:
        raise FormatUnknown(
            f"{file}: its name does not determine the format; give it with --format"
            f" ({', '.join(FORMATS)})"
        ) from None


def reader_of(format: str) -> Read:
    """Return the reader of this format; FormatUnknown."""
    try:
        return FORMATS[format]
    except KeyError:
        raise FormatUnknown(f"{format!r} is no format; there are {', '.join(FORMATS)}") from None

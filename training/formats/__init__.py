"""File formats of labelled instances, a module for each; its docstring shows a line.

To add a format, write a module with `read(lines)`, which yields a `Given` for each line that holds
an instance and a `Rejected` for each other line, in order; then list it in FORMATS and SUFFIXES.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from types import MappingProxyType
from typing import Final

from manyclass.training.compression import inner_name
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
TABLES: Final = ("csv", "xlsx", "parquet", "arrow")  # read by a TableSource, as JSON lines
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
        ".csv": "csv",
        ".tsv": "csv",
        ".xlsx": "xlsx",
        ".xlsm": "xlsx",
        ".xls": "xlsx",
        ".ods": "xlsx",
        ".parquet": "parquet",
        ".arrow": "arrow",
        ".feather": "arrow",
    }
)


class FormatUnknown(Exception):
    """A file name without a known suffix, or the name of an unknown format."""


def format_of(file: str) -> str:
    """Return the format by the file's name, JSON lines for standard input; FormatUnknown."""
    if file == STANDARD_INPUT:
        return "jsonl"
    format = format_of_name(file)
    if format is None:
        raise FormatUnknown(
            f"{file}: its name does not determine the format; give it with --format"
            f" ({', '.join([*FORMATS, *TABLES])})"
        )
    return format


def format_of_name(file: str) -> str | None:
    """Return the format by the suffix of a name; None if it has none of the known ones.

    The name of a zip archive may be that of the file in it.
    """
    return SUFFIXES.get(PurePath(inner_name(file)).suffix.lower())


def reader_of(format: str) -> Read:
    """Return the reader of this format; FormatUnknown."""
    try:
        return FORMATS[format]
    except KeyError:
        known = ", ".join([*FORMATS, *TABLES])
        raise FormatUnknown(f"{format!r} is not a format of lines; there are {known}") from None

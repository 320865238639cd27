"""The format of the extreme classification repository: a header, then classes and features.

    2 5 3
    0,2 0:0.5 4:1.25
    1 3:1

The header says how many instances, features and classes there are; both are numbered from 0 and
named by their numbers. Some sets leave instances without classes: these lines begin with a blank
and are rejected.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from manyclass.training.formats.given import Given, Parsed, Rejected, numbered, parse, quoted, words
from manyclass.training.lines import FileFault, Line, LineFault

MOST_DIGITS = 10  # of a number in the header, or of an instance


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line. FileFault unless a header comes first and counts them."""
    remaining = iter(lines)
    header = next(remaining, None)
    if header is None:
        return
    instances, features, classes = _sizes(header)
    parse_line = partial(_parse_line, features=features, classes=classes)
    last = header
    for last in remaining:
        if last.number - header.number > instances:
            raise FileFault(
                header.file,
                f"the header says {instances} instances, but line {last.number} holds another",
            )
        yield from parse([last], parse_line)
    if last.number - header.number < instances:
        raise FileFault(
            header.file,
            f"the header says {instances} instances, but line {last.number} is the last",
        )


def _sizes(header: Line) -> list[int]:
    sizes = (header.kept or b"").split()
    if len(sizes) != 3 or not all(size.isdigit() and len(size) <= MOST_DIGITS for size in sizes):
        raise FileFault(
            header.file,
            "its first line is not a header of three numbers: instances, features and classes"
            " (without a header, read it as libsvm)",
        )
    return [int(size) for size in sizes]


def _parse_line(text: str, features: int, classes: int) -> Parsed:
    if text[:1].isspace():
        raise LineFault("no true class: the line begins with a blank")
    joined, *pairs = words(text)
    true = joined.split(",")
    for name in true:
        _check("class", name, classes)
    instance = numbered(pairs)
    for name in instance:
        _check("feature", name, features)
    return instance, [*true]


def _check(kind: str, name: str, count: int) -> None:
    """Raise LineFault unless the name is one of the numbers that the header allows."""
    digits = name.isascii() and name.isdigit() and len(name) <= MOST_DIGITS
    if not (digits and int(name) < count):
        raise LineFault(
            f"{kind} {quoted(name)} is not a number below {count}, which the header says"
        )

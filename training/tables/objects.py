"""JSON lines with other keys than those of an event: the keys are the columns."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from manyclass.training.encodings import not_utf8
from manyclass.training.json_lines import members
from manyclass.training.lines import Line, LineFault
from manyclass.training.tables.record import Record, TableError, cell_of

SAMPLED_LINES = 10  # their keys are the columns

_OBJECT = msgspec.json.Decoder(dict[str, Any])


def records(lines: Iterable[Line]) -> Iterator[Record]:
    """Yield the keys of the first objects, then the values of each; TableError without an object.

    A line that does not hold an object is a record with a fault.
    """
    remaining = members(lines)
    sample = [_decoded(line) for line in islice(remaining, SAMPLED_LINES)]
    if not sample:
        return
    names = [*dict.fromkeys(key for _, each in sample if isinstance(each, dict) for key in each)]
    if not names:
        raise TableError(f"none of the first {len(sample)} lines is an object of JSON")
    yield Record(0, names)
    for number, each in chain(sample, map(_decoded, remaining)):
        yield _record(number, each, names)


def _record(number: int, found: dict[str, Any] | str, names: Sequence[str]) -> Record:
    if isinstance(found, str):
        return Record(number, ["…"], found)
    return Record(number, [cell_of(found.get(name)) for name in names])


def _decoded(line: Line) -> tuple[int, dict[str, Any] | str]:
    """Return the number and the object of a line, or the reason why it holds none."""
    try:
        found = _OBJECT.decode(line.data)
        twice = _key_that_stands_twice(line.data) if found else None
    except UnicodeDecodeError as error:
        return line.number, not_utf8(error)
    except (LineFault, msgspec.DecodeError, RecursionError) as error:
        return line.number, str(error)
    return line.number, found if twice is None else f"the key `{twice}` stands twice"


def _key_that_stands_twice(data: bytes) -> str | None:
    """Return the first key that the object of a line has twice; None if there is none."""
    pairs: list[tuple[str, Any]] = json.loads(data, object_pairs_hook=list, parse_int=str)
    keys = Counter(key for key, _ in pairs)
    return next((key for key, times in keys.items() if times > 1), None)

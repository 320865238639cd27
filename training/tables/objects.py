"""JSON lines with other keys than those of an event: the keys are the columns."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import isfinite
from typing import Any, Final

import msgspec

from manyclass.training.encodings import not_utf8
from manyclass.training.json_lines import members
from manyclass.training.lines import Line, LineFault
from manyclass.training.tables.record import (
    Fields,
    Record,
    TableError,
    cell_of,
    readers_of,
)

SAMPLED_LINES = 10  # their keys are the columns
_END_OF_KEY: Final = re.compile(rb'"\s*:')  # in a text too, behind an escaped quote


def _number(written: str) -> float | str:
    """Return a number with a point or an exponent; as it is written if no float is so large."""
    number = float(written)
    return number if isfinite(number) else written


_OBJECT = msgspec.json.Decoder(dict[str, Any], float_hook=_number)


def records(lines: Iterable[Line], vector: str | None = None) -> Iterator[Record]:
    """Yield the keys of the first objects, then the values of each; TableError without an object.

    A line that does not hold an object is a record with a fault. Below the key `vector` are
    vectors.
    """
    remaining = members(lines)
    sample = [_decoded(line) for line in islice(remaining, SAMPLED_LINES)]
    if not sample:
        return
    names = [*dict.fromkeys(key for _, each in sample if isinstance(each, dict) for key in each)]
    if not names:
        first = f"none of the first {len(sample)} lines" if len(sample) > 1 else "no line"
        raise TableError(f"{first} is an object of JSON")
    yield Record(0, names)
    columns = [*zip(names, readers_of(names, vector), strict=True)]
    for number, each in chain(sample, map(_decoded, remaining)):
        if isinstance(each, str):
            yield Record(number, ["…"], each)
        else:
            yield Record(number, [read(each.get(name)) for name, read in columns])


def _decoded(line: Line) -> tuple[int, dict[str, Any] | str]:
    """Return the number and the object of a line, or the reason why it holds none."""
    try:
        found = _OBJECT.decode(line.data)
        twice = None if _has_each_key_once(found, line.data) else _key_twice(found, line.data)
    except UnicodeDecodeError as error:
        return line.number, not_utf8(error)
    except (LineFault, msgspec.DecodeError, RecursionError) as error:
        return line.number, str(error)
    return line.number, found if twice is None else f"the key `{twice}` stands twice"


def _has_each_key_once(found: dict[str, Any], data: bytes) -> bool:
    """Return whether the bytes of an object have no more keys than it has; False if in doubt."""
    keys = len(found) + sum(len(value) for value in found.values() if isinstance(value, dict))
    return data.count(b":") == keys or len(_END_OF_KEY.findall(data)) == keys


def _key_twice(found: dict[str, Any], data: bytes) -> str | None:
    """Return the first key that the object, or the fields of a text in it, has twice; else None."""
    pairs: list[tuple[str, Any]] = json.loads(data, object_pairs_hook=list, parse_int=str)
    objects = {key for key, value in found.items() if isinstance(value, dict)}
    texts = [value for key, value in pairs if key in objects and _is_fields(found[key])]
    for each in (pairs, *texts):
        if len({key for key, _ in each}) < len(each):
            [(key, _)] = Counter(key for key, _ in each).most_common(1)
            return str(key)
    return None


def _is_fields(value: object) -> bool:
    return isinstance(cell_of(value), Fields)

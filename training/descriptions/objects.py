"""JSON objects that describe one class each, on a line each or in an array."""

from collections.abc import Iterator

import msgspec

from manyclass.core.descriptions import PARTS
from manyclass.core.errors import did_you_mean
from manyclass.training.descriptions.layout import DescriptionLayout
from manyclass.training.descriptions.row import Collector, Described, DescriptionError

_KEYS = ("class", *PARTS, "parent")


def described_in_json(text: str, layout: DescriptionLayout) -> Described:
    """Return the classes of lines or of an array; DescriptionError for other JSON."""
    collector = Collector(layout.replaces)
    for where, given in _objects(text, collector):
        if fault := _fault(given):
            collector.faults.append(f"{where}: {fault}")
            continue
        name = given.pop("class")
        placed = None
        if "parent" in given:
            parent = given.pop("parent")
            placed = {"parent": None if parent is None else str(parent)}
        collector.add(where, str(name), given, placed)
    return collector.described("an object for each class")


def _objects(text: str, collector: Collector) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each object with its location; note what is not JSON as a fault."""
    if text.lstrip().startswith("["):
        try:
            elements = msgspec.json.decode(text, type=list[dict[str, object]])
        except msgspec.DecodeError as error:
            raise DescriptionError(f"it is not an array of objects: {error}") from error
        for number, each in enumerate(elements, 1):
            yield f"element {number:,}", each
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number:,}", msgspec.json.decode(line, type=dict[str, object])
        except msgspec.DecodeError as error:
            collector.faults.append(f"line {number:,}: it is not an object of JSON: {error}")


def _fault(given: dict[str, object]) -> str:
    """Return why an object does not describe a class; empty if it may."""
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        hint = did_you_mean(unknown[0], _KEYS) or f"known are {', '.join(_KEYS)}"
        return f"there is no key `{unknown[0][:100]}`; {hint}"
    for key in ("class", "parent"):
        value = given.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            return f"`{key}` must be a name"
    if given.get("class") in (None, ""):
        return 'the class is missing: {"class": "hockey", "title": "Ice hockey"}'
    return ""

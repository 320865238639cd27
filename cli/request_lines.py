"""Parses lines of JSON into the requests of `manyclass rank` and `learn`."""

import msgspec

from manyclass.core.errors import did_you_mean
from manyclass.training.encodings import not_utf8
from manyclass.training.lines import NO_CLASS, Line, LineFault

RANK_KEYS = frozenset({"features", "text", "vector", "id", "source"})
LABEL_KEYS = frozenset(
    {"classes", "not", "weight", "parents", "event_id", "source", "reviewer", "batch"}
)
LEARN_KEYS = LABEL_KEYS | {"features", "text", "vector"}
LATE_LABEL_KEYS = LABEL_KEYS | {"id", "replace"}

Body = dict[str, msgspec.Raw]  # values stay as written: the service checks them

_BODY = msgspec.json.Decoder(Body)
_CLASSES = msgspec.json.Decoder(list[str | int])


def instance_of(line: Line, ignore_unknown: bool = False) -> Body:
    """Parse an instance to rank; LineFault if the line does not hold one."""
    return _only(_decoded(line), RANK_KEYS, ignore_unknown)


def event_of(line: Line, ignore_unknown: bool = False) -> Body:
    """Parse an event to learn; LineFault if the line does not hold one."""
    body = _decoded(line)
    # An `id` beside an instance is that of a data set's row, not of an earlier ranking.
    has_instance = not body.keys().isdisjoint(("features", "text", "vector"))
    keys = LEARN_KEYS if has_instance else LATE_LABEL_KEYS
    event = _only(body, keys, ignore_unknown, keys if "id" in body else LEARN_KEYS | keys)
    try:
        classes = classes_of(event)
    except msgspec.DecodeError as error:
        is_object = bytes(event["classes"]).lstrip().startswith(b"{")
        remedy = '; write those with 1 as a list, ["a", "b"]' if is_object else ""
        raise LineFault(f"classes: {error}{remedy}") from error
    if not classes and "not" not in event:
        raise LineFault(f"{NO_CLASS}: `classes` needs at least one name")
    return event


def classes_of(event: Body) -> list[str]:
    """Return the true classes of an event; msgspec.DecodeError if they are not names."""
    return [str(each) for each in _CLASSES.decode(event.get("classes", b"[]"))]


def _decoded(line: Line) -> Body:
    try:
        line.data.decode()  # msgspec does not check the UTF-8 of raw values
        return _BODY.decode(line.data)
    except UnicodeDecodeError as error:
        raise LineFault(not_utf8(error)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise LineFault(str(error)) from error


def _only(
    body: Body, keys: frozenset[str], ignore_unknown: bool, told: frozenset[str] | None = None
) -> Body:
    """Return the members with these keys; LineFault for others, which names those of `told`."""
    unknown = sorted(body.keys() - keys)
    if unknown and not ignore_unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        known = sorted(told or keys)
        hint = did_you_mean(unknown[0], known) or f"known are {', '.join(known)}"
        raise LineFault(f"{names} cannot be used here; {hint} (--ignore-unknown would drop it)")
    return {name: value for name, value in body.items() if name in keys}

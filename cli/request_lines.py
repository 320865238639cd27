"""The requests that lines hold."""

import msgspec

from manyclass.core.errors import did_you_mean
from manyclass.training.lines import Line, LineFault

RANK_KEYS = frozenset({"features", "text", "id"})
LEARN_KEYS = frozenset({"features", "text", "classes", "event_id"})
LATE_LABEL_KEYS = frozenset({"id", "classes", "event_id"})

Body = dict[str, msgspec.Raw]  # values stay as they were written, for the service to judge

_BODY = msgspec.json.Decoder(Body)
_CLASSES = msgspec.json.Decoder(list[str | int])


def instance_of(line: Line, ignore_unknown: bool = False) -> Body:
    """The instance to rank that a line holds; LineFault when it holds none."""
    return _only(_decoded(line), RANK_KEYS, ignore_unknown)


def event_of(line: Line, ignore_unknown: bool = False) -> Body:
    """The event to learn that a line holds; LineFault when it holds none."""
    body = _decoded(line)
    # In a data set an `id` beside the instance is the row's own; it refers to nothing ranked here.
    has_instance = "features" in body or "text" in body
    event = _only(body, LEARN_KEYS if has_instance else LATE_LABEL_KEYS, ignore_unknown)
    try:
        classes = _CLASSES.decode(event.get("classes", b"[]"))
    except msgspec.DecodeError as error:
        raise LineFault(f"classes: {error}") from error
    if not classes:
        raise LineFault("no true class: `classes` needs at least one name")
    return event


def _decoded(line: Line) -> Body:
    try:
        line.data.decode()  # values are passed on unread, so that nothing else would notice
        return _BODY.decode(line.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineFault(str(error)) from error


def _only(body: Body, keys: frozenset[str], ignore_unknown: bool) -> Body:
    unknown = sorted(body.keys() - keys)
    if unknown and not ignore_unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        known = sorted(keys)
        hint = did_you_mean(unknown[0], known) or f"known are {', '.join(known)}"
        raise LineFault(f"{names} cannot be used here; {hint} (--ignore-unknown would drop it)")
    return {name: value for name, value in body.items() if name in keys}

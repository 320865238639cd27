"""Lines of JSON that show the contents of a store: events of the log, sections of a snapshot."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from manyclass.core import snapshot
from manyclass.core.errors import EventError
from manyclass.core.event import Event
from manyclass.core.instance import Instance

_UNITS = 2**12  # of a vector, for 1
_WITH_INSTANCE = ("learn", "amend")


def line_of_event(seq: int, payload: bytes) -> str:
    """Return the line of an event: the members that its kind has; `error` if it cannot be read."""
    line: dict[str, object] = {"seq": seq, "bytes": len(payload)}
    try:
        event = Event.from_bytes(payload)
    except EventError as error:
        return _as_json({**line, "error": str(error), "hex": payload.hex()})
    return _as_json({**line, "kind": event.kind, **_members(event)})


def _members(event: Event) -> dict[str, object]:
    """Return the members of an event that are not empty, named as in the API."""
    members: dict[str, object] = {
        "joined": event.joined,
        "event_id": event.event_id,
        "id": event.instance_id,
        "time": event.time and _moment(event.time / 1000),
        "source": event.source,
        "reviewer": event.reviewer,
        "batch": event.batch,
        "target": event.target,
        "classes": event.classes,
        "not": event.rejected,
        "replaced": event.replaced,
        "weight": event.weight if event.weight != 1 else None,
        "parents": event.parents,
        "moves": event.moves,
        "name": event.name,
        "to": event.renamed_to,
        "merges": event.merges,
        "learners": event.options,
        "restored": event.restored,
        "rules": event.rules,
        "text": event.text,
    }
    if event.kind in _WITH_INSTANCE:
        if event.text is None:
            members["features"] = dict(event.instance.items())
        members["vector"] = _vector(event.instance)
    # A restore of snapshot 0, and an event that loses its only class, differ from an absent member.
    kept = {"restore": "restored", "amend": "classes"}.get(event.kind)
    line = {name: each for name, each in members.items() if each or name == kept}
    described = event.described if event.kind == "describe" else {}
    return line | {
        part: _vector(each) if isinstance(each, Instance) else each
        for part, each in described.items()
    }


def _vector(instance: Instance) -> list[float] | None:
    """Return the numbers of the vector of an instance, of length 1; None without one."""
    return None if instance.vector is None else (instance.vector / _UNITS).tolist()


def lines_of_snapshot(chunks: Iterable[bytes], taken_at: float | None) -> Iterator[str]:
    """Yield the line of a snapshot with its facts, then a line for each section. SnapshotError."""
    facts, sections = snapshot.outline(chunks)
    taken = {} if taken_at is None else {"taken_at": _moment(taken_at)}
    yield _as_json({**taken, "facts": facts})
    for entry, is_whole in sections:
        yield _as_json(
            {
                "section": entry.name,
                "dtype": entry.dtype.newbyteorder("<").str,
                "shape": entry.shape,
                "bytes": entry.size,
                "digest": entry.checksum,
                "whole": is_whole,
            }
        )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _as_json(line: dict[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False)

"""The parts of a committee: their options, and their arrays in a state.

A part is a learner of its own: each member, and the table of the classes of all events. The names
of its arrays begin with its prefix. Another learner has no parts; its arrays have no prefix.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from manyclass.core.abilities import within_ability
from manyclass.core.errors import EventError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.index_sections import SECTIONS
from manyclass.core.learners.ensemble import byte_shares
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections, need, runs, within

Arrays = dict[str, NDArray[np.generic]]
T = TypeVar("T")

# Of a member: the events in its shuffle buffer, each with a mark for the first epoch.
WAITING = {"waiting_events": "u1", "waiting_sizes": "<u8", "waiting_first_pass": "u1"}

_TABLE = "table_"


def options_of(options: Options) -> dict[str, Options]:
    """Return the options of each part by its prefix, those of the table last.

    Each part has the same share of the committee's bytes, and so has each shuffle buffer.
    """
    members = options.member_options
    if not members:
        return {}
    share = options.max_bytes // byte_shares(options)
    parts = {
        f"member_{place}_": each.replace(max_bytes=min(each.max_bytes, share))
        for place, each in enumerate(members)
    }
    return parts | {_TABLE: Options(max_classes=options.max_classes, max_bytes=share)}


def joined(options: Options, arrays: Arrays, outcomes: Sequence[Arrays]) -> Arrays:
    """Return the arrays of a state in the order of its parts.

    `arrays` are the learner's own, `outcomes` the progressive accuracy of each member. Arrays of
    SECTIONS that a part does not use are empty.
    """
    state: Arrays = {}
    for place, prefix in enumerate(options_of(options) or [""]):
        own = {name: np.empty(0, dtype) for name, dtype in SECTIONS.items()}
        own |= _without(prefix, arrays)
        if place < len(outcomes):
            own |= outcomes[place]
        state |= {prefix + name: array for name, array in own.items()}
    return state


def checked(
    options: Options, sections: Sections, declared: Mapping[str, str], other_learner: str
) -> Arrays:
    """Return the arrays that the learner has, which are `declared` with their types.

    Raise SnapshotError for a missing array, for one of another type, with `other_learner` for an
    array of SECTIONS that the learner does not have, and for buffered events that it cannot learn.
    """
    found: Arrays = {}
    for prefix, part in (options_of(options) or {"": options}).items():
        own = _without(prefix, declared)
        with within(sections, prefix) as given:
            arrays = runs(given, {**SECTIONS, **own})
            for name in SECTIONS:
                need(name in own or not len(arrays[name]), name, other_learner)
            if WAITING.keys() & own.keys():
                _check_waiting(arrays, part)
        found |= {prefix + name: arrays[name] for name in own}
    return found


def _without(prefix: str, named: Mapping[str, T]) -> dict[str, T]:
    """Return what has a name with this prefix, by the rest of the name."""
    return {
        name.removeprefix(prefix): each for name, each in named.items() if name.startswith(prefix)
    }


def _check_waiting(arrays: Arrays, options: Options) -> None:
    joined = arrays["waiting_events"].tobytes()
    sizes: list[int] = arrays["waiting_sizes"].tolist()
    first_epochs: list[int] = arrays["waiting_first_pass"].tolist()
    need(sum(sizes) == len(joined), "waiting_sizes", "they do not add up to the events' bytes")
    one_each = len(first_epochs) == len(sizes) and {*first_epochs} <= {0, 1}
    need(one_each, "waiting_first_pass", "an event is of no pass")
    at = 0
    for size in sizes:
        data = joined[at : at + size]
        _check_waiting_event(data, options)
        at += size


def _check_waiting_event(data: bytes, options: Options) -> None:
    try:
        event = Event.from_bytes(data)
    except EventError as error:
        raise SnapshotError(str(error), "waiting_events") from error
    need(event.kind == "learn", "waiting_events", f"a {event.kind} event cannot wait")
    bare = Event.learn(event.instance, event.classes, rejected=event.rejected, weight=event.weight)
    need(bytes(bare) == data, "waiting_events", "an event that waits has neither id nor origin")
    is_able = within_ability(event, options) is event
    need(is_able, "waiting_events", "an event waits that the member cannot learn")

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
from manyclass.core.learner_sections import SECTIONS
from manyclass.core.learners.ensemble import byte_shares
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections, need, runs, within

Arrays = dict[str, NDArray[np.generic]]
T = TypeVar("T")

# Arrays of a member: the events in its shuffle buffer, and for each 1 if it is of the first epoch.
WAITING = {"waiting_events": "u1", "waiting_sizes": "<u8", "waiting_first_pass": "u1"}

_TABLE = "table_"


def options_of(options: Options) -> dict[str, Options]:
    """Return the options of each part by its prefix, the table last; empty without parts.

    Each part, and each shuffle buffer, has an equal share of the committee's bytes.
    """
    members = options.member_options
    if not members:
        return {}
    share = options.max_bytes // byte_shares(options)
    parts = {
        f"member_{position}_": each.replace(max_bytes=min(each.max_bytes, share))
        for position, each in enumerate(members)
    }
    return parts | {_TABLE: Options(max_classes=options.max_classes, max_bytes=share)}


def joined(options: Options, arrays: Arrays, outcomes: Sequence[Arrays]) -> Arrays:
    """Return the arrays of a state in the order of its parts.

    `arrays` are those of the native learner, `outcomes` the progressive accuracy of each member.
    Arrays of SECTIONS that a part does not use are empty.
    """
    state: Arrays = {}
    for position, prefix in enumerate(options_of(options) or [""]):
        own = {name: np.empty(0, dtype) for name, dtype in SECTIONS.items()}
        own |= _of_part(prefix, arrays)
        if position < len(outcomes):
            own |= outcomes[position]
        state |= {prefix + name: array for name, array in own.items()}
    return state


def checked(
    options: Options, sections: Sections, declared: Mapping[str, str], other_learner: str
) -> Arrays:
    """Return the arrays of the learner, whose names and types are `declared`.

    Raise SnapshotError for a missing array, for an array of another type, and for buffered events
    that a member cannot learn; with the message `other_learner` for an array of SECTIONS that the
    learner does not use and that is not empty.
    """
    found: Arrays = {}
    for prefix, part in (options_of(options) or {"": options}).items():
        own = _of_part(prefix, declared)
        with within(sections, prefix) as given:
            arrays = runs(given, {**SECTIONS, **own})
            for name in SECTIONS:
                need(name in own or not len(arrays[name]), name, other_learner)
            if WAITING.keys() & own.keys():
                _check_waiting(arrays, part)
        found |= {prefix + name: arrays[name] for name in own}
    return found


def _of_part(prefix: str, named: Mapping[str, T]) -> dict[str, T]:
    """Return the items whose name has this prefix, by the rest of the name."""
    return {
        name.removeprefix(prefix): each for name, each in named.items() if name.startswith(prefix)
    }


def _check_waiting(arrays: Arrays, options: Options) -> None:
    joined = arrays["waiting_events"].tobytes()
    sizes: list[int] = arrays["waiting_sizes"].tolist()
    first_epochs: list[int] = arrays["waiting_first_pass"].tolist()
    need(sum(sizes) == len(joined), "waiting_sizes", "they do not add up to the events' bytes")
    one_each = len(first_epochs) == len(sizes) and {*first_epochs} <= {0, 1}
    need(one_each, "waiting_first_pass", "an event has no mark of its epoch")
    begin = 0
    for size in sizes:
        _check_waiting_event(joined[begin : begin + size], options)
        begin += size


def _check_waiting_event(data: bytes, options: Options) -> None:
    try:
        event = Event.from_bytes(data)
    except EventError as error:
        raise SnapshotError(str(error), "waiting_events") from error
    fault = f"a shuffle buffer cannot hold a {event.kind} event"
    need(event.kind == "learn", "waiting_events", fault)
    bare = Event.learn(event.instance, event.classes, rejected=event.rejected, weight=event.weight)
    need(bytes(bare) == data, "waiting_events", "a buffered event must have neither id nor origin")
    is_able = within_ability(event, options) is event
    need(is_able, "waiting_events", "the member cannot learn a buffered event")

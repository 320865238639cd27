"""The keys by which people and programs name a past event.

    seq:7       the event with this number, also with leading zeros: seq:07
    id:TEXT     the event with this event_id, or else the event that labels the instance of this id
    TEXT        the same as id:TEXT

The event_id of a client may itself look like one of the first two forms. A key that names several
events is refused; the number of each event, with zeros if needed, is a key that equals no other
event_id. The id of an instance that looks like one of these forms needs the second form.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from manyclass.core.model import Model

BY_NUMBER = "seq:"
BY_ID = "id:"
_NUMBER = re.compile(rf"{BY_NUMBER}([0-9]{{1,30}})")  # \d is any digit of Unicode


class Named(NamedTuple):
    """The number that a key may stand for, if any, and the ids of events and of an instance."""

    seq: int | None
    event_ids: list[str]
    instance_id: str | None


def named_by(key: str) -> Named:
    """Return everything that a key may stand for."""
    if number := _NUMBER.fullmatch(key):
        return Named(int(number[1]), [key], None)
    event_ids = [key]
    if key.startswith(BY_ID) and key != BY_ID:
        event_ids.append(key.removeprefix(BY_ID))
    return Named(None, event_ids, event_ids[-1])


def key_of(seq: int, event_id: str | None, model: Model) -> str:
    """Return a key that names this event and no other that the model remembers."""
    if event_id is not None and not event_id.startswith((BY_NUMBER, BY_ID)):
        seen = model.seen(event_id)
        if seen is not None and seen[0] == seq:
            return event_id
    return number_key(seq, model)


def number_key(seq: int, model: Model, taken: Collection[str] = ()) -> str:
    """Return the number as a key that is not the id of another event, nor one of `taken`."""
    key = f"{BY_NUMBER}{seq}"
    while key in taken or ((seen := model.seen(key)) is not None and seen[0] != seq):
        key = key.replace(BY_NUMBER, f"{BY_NUMBER}0", 1)
    return key

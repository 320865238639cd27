"""An instance in the queue of review, in the form of the store, and the choice among such ones."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from manyclass.core.event import Text
from manyclass.service.ingest.peer_messages import packed_reading, unpacked_reading
from manyclass.service.ingest.second_labels import LabelPair
from manyclass.service.ingest.stored_instance import (
    ServedClasses,
    StoredInstance,
    WaitingInstance,
)
from manyclass.service.store.waiting import Item

SHOWN_BYTES: Final = 4096  # of a text, in a list


class Head(msgspec.Struct, array_like=True, frozen=True):
    """The part of a waiting instance that is needed to choose among all."""

    ranked_at: float  # unix seconds
    confidence: float | None
    first: str  # of the ranking; empty if no class was retrieved
    source: str | None
    batch: str | None
    given: bool  # for review: no ranked instance takes its place
    abstained: bool  # the ranking was served without classes
    bytes: int
    # Unix seconds, of a label whose event has an id of its own: the state does not recognise it.
    labelled_at: float | None = None
    pair: LabelPair | None = None  # once it is labelled, if two reviewers shall label it


class Body(msgspec.Struct, array_like=True):
    """The instance and its ranking."""

    data: bytes
    classes: tuple[str, ...]
    text: Text | None
    reading: tuple[int, int] | None


class Choice(NamedTuple):
    """A choice among the waiting instances, and their order."""

    source: str | None = None
    batch: str | None = None
    first: str | None = None  # only those of which this class was ranked first
    abstained: bool = False  # only those given, or whose ranking was served without classes
    is_random: bool = False

    def has(self, head: Head) -> bool:
        """Return whether an instance belongs to the choice."""
        return (
            (self.source is None or head.source == self.source)
            and (self.batch is None or head.batch == self.batch)
            and (self.first is None or head.first == self.first)
            and (head.abstained or head.given or not self.abstained)
        )


head_of = msgspec.msgpack.Decoder(Head).decode
_body = msgspec.msgpack.Decoder(Body)


def item_of(
    waiting: WaitingInstance, text: Text | None, now: float, *, is_given: bool = False
) -> Item:
    """Return a waiting instance, with its whole text, in the form of the store."""
    served = waiting.served
    reading = packed_reading(waiting.reading)
    body = msgspec.msgpack.encode(Body(waiting.data, served.classes, text, reading))
    first = served.classes[0] if served.classes else ""
    ranked_at = now - max(0.0, waiting.age)
    origin = waiting.source, waiting.batch
    abstained = served.abstained
    head = Head(ranked_at, served.confidence, first, *origin, is_given, abstained, len(body))
    return Item(msgspec.msgpack.encode(head), body)


def heads_of(items: Mapping[str, Item]) -> dict[str, Head]:
    """Return the heads of instances."""
    return {name: head_of(each.head) for name, each in items.items()}


def amended(item: Item, change: Callable[[Head], Head]) -> Item:
    """Return an instance with another head."""
    return Item(msgspec.msgpack.encode(change(head_of(item.head))), item.body)


def bytes_of(heads: Iterable[Head]) -> int:
    """Return the bytes of instances together."""
    return sum(each.bytes for each in heads)


def uncertainty(head: Head) -> tuple[float, float]:
    """Return a key that orders the least certain instance first, and the oldest of equals."""
    return -1.0 if head.confidence is None else head.confidence, head.ranked_at


def waiting_in(name: str, item: Item, now: float) -> WaitingInstance:
    """Return the instance of an item as a list shows it."""
    head, body = head_of(item.head), _body.decode(item.body)
    text, is_cut = shown_text(body.text)
    return WaitingInstance(
        name,
        body.data,
        max(0.0, now - head.ranked_at),
        ServedClasses(body.classes, head.confidence, head.abstained),
        head.source,
        text,
        is_cut,
        unpacked_reading(body.reading),
        head.batch,
    )


def stored_in(item: Item, now: float) -> StoredInstance:
    """Return the instance of an item for a label."""
    head, body = head_of(item.head), _body.decode(item.body)
    return StoredInstance(
        body.data,
        max(0.0, now - head.ranked_at),
        0,  # not of this process: its ranking is not scored
        source=head.source,
        text=body.text,
        reading=unpacked_reading(body.reading),
        batch=head.batch,
    )


def text_in(item: Item) -> Text | None:
    """Return the beginning of the text of an item."""
    return shown_text(_body.decode(item.body).text)[0]


def shown_text(text: Text | None) -> tuple[Text | None, bool]:
    """Return the beginning of a text, or of the text of each field, and whether it is cut."""
    if text is None or isinstance(text, str):
        begin = None if text is None else _cut(text, SHOWN_BYTES)
        return begin, begin != text
    sizes = sorted(len(each.encode()) for each in text.values())
    room = SHOWN_BYTES
    for at, size in enumerate(sizes):
        left = len(sizes) - at
        if size > room // left:  # a long text does not hide another one
            short = {name: _cut(each, room // left) for name, each in text.items()}
            return short, True
        room -= size
    return text, False


def _cut(text: str, most: int) -> str:
    """Return the first bytes of a text, without a cut character at its end."""
    return text.encode()[:most].decode(errors="ignore")

"""Messages between processes on the same store: about delayed labels, erasure and rebuilds."""

from collections.abc import Collection
from typing import Annotated

import msgspec
from msgspec import Meta

from manyclass.core.event import Text
from manyclass.core.text import PARTS, Reading, TextAnalysis
from manyclass.service.history.rebuild_messages import RebuildMessage
from manyclass.service.ingest.stored_instance import Id
from manyclass.service.sealing import unsealed

MESSAGE_IDS = 1000  # in one question

_Number = Annotated[int, Meta(ge=0, lt=2**62)]
_Code = Annotated[int, Meta(ge=0, lt=2 ** len(PARTS))]
_Most = Annotated[int, Meta(ge=0, lt=2**32)]
_Age = Annotated[float, Meta(ge=0, le=1e12)]
Label = tuple[_Number, list[str], int | None]


class Question(msgspec.Struct, tag="question", array_like=True):
    """Asks for the instances of these ids. The answers carry its number."""

    number: int
    ids: Annotated[list[Id], Meta(max_length=MESSAGE_IDS)]


class Kept(msgspec.Struct, array_like=True):
    """An instance that a process has ranked, as `StoredInstance` has it, and its id.

    A reading is the code of an analysis and the largest number of features.
    """

    id: Id
    age: _Age
    data: bytes
    number: _Number
    source: str | None = None
    text: Text | None = None
    reading: tuple[_Code, _Most] | None = None


class Answer(msgspec.Struct, tag="answer", array_like=True):
    """The knowledge of one process about some ids of a question, or all of them."""

    number: int
    kept: list[Kept] = []
    too_late: list[Id] = []
    never_seen: list[Id] = []


class Labelled(msgspec.Struct, tag="labelled", array_like=True):
    """Says that labels were learned of instances that the receiver has ranked.

    Each has the number of the instance, the true classes, and the rank of the best of them just
    before the event was learned.
    """

    labels: Annotated[list[Label], Meta(max_length=MESSAGE_IDS)]


class Erased(msgspec.Struct, tag="erased", array_like=True):
    """Says that the instances of a source, of a batch or of both were erased, or those of some ids.

    The receiver erases them too: they may be in its memory.
    """

    source: str | None = None
    batch: str | None = None
    ids: Annotated[list[Id], Meta(max_length=MESSAGE_IDS)] = []

    @classmethod
    def of_ids(cls, ids: Collection[str]) -> "list[Erased]":
        """Return messages about all of these ids."""
        every = list(ids)
        starts = range(0, len(every), MESSAGE_IDS)
        return [cls(ids=every[start : start + MESSAGE_IDS]) for start in starts]


Message = Question | Answer | Labelled | Erased | RebuildMessage


def packed_reading(reading: Reading | None) -> tuple[int, int] | None:
    """Return a reading as a message has it."""
    return None if reading is None else (reading.analysis.code, reading.most_features)


def unpacked_reading(packed: tuple[int, int] | None) -> Reading | None:
    """Return the reading of a message."""
    return None if packed is None else Reading(TextAnalysis.of_code(packed[0]), packed[1])


_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def opened(body: bytes) -> Message:
    """Return the message in a body; DecodeError if it is damaged, or of another version."""
    packed = unsealed(body)
    try:
        return _decoder.decode(packed)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error

"""What processes on the same store write to each other about late labels, as bytes."""

from typing import Annotated
from zlib import crc32

import msgspec
from msgspec import Meta

from manyclass.service.http.schemas.parts import Id

LETTER_IDS = 1000  # asked for in one letter
SEAL_BYTES = 4

_Age = Annotated[float, Meta(ge=0, le=1e12)]


class Question(msgspec.Struct, tag="question", array_like=True):
    """Asks for the instances of these ids. The answers carry its number."""

    number: int
    ids: Annotated[list[Id], Meta(max_length=LETTER_IDS)]


class Answer(msgspec.Struct, tag="answer", array_like=True):
    """What one process knows of some ids of a question, or of all.

    Of those kept: the id, how many seconds ago it was ranked, and the instance as bytes.
    """

    number: int
    kept: list[tuple[Id, _Age, bytes]] = []
    too_late: list[Id] = []
    never_seen: list[Id] = []


_encode = msgspec.msgpack.Encoder().encode
_decoder: msgspec.msgpack.Decoder[Question | Answer] = msgspec.msgpack.Decoder(Question | Answer)


def sealed(message: Question | Answer) -> bytes:
    """The letter, which shows when it was damaged."""
    packed = _encode(message)
    return crc32(packed).to_bytes(SEAL_BYTES, "little") + packed


def opened(letter: bytes) -> Question | Answer:
    """What the letter says; DecodeError when it is damaged, or nothing this version knows."""
    packed = letter[SEAL_BYTES:]
    if letter[:SEAL_BYTES] != crc32(packed).to_bytes(SEAL_BYTES, "little"):
        raise msgspec.DecodeError("it is damaged")
    try:
        return _decoder.decode(packed)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error

from zlib import crc32

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.service.ingest.peer_messages import (
    MESSAGE_IDS,
    Answer,
    Erased,
    Kept,
    Labelled,
    Question,
    opened,
)
from manyclass.service.sealing import SEAL_BYTES, sealed

LETTERS = [
    Question(7, ["one", "zwölf"]),
    Answer(
        7, [Kept("one", 0.5, b"bytes", 9, "inbox", "zwölf", (3, 9))], ["two"], ["three", "four"]
    ),
    Answer(7, [Kept("one", 0.5, b"bytes", 9)]),
    Answer(7),
    Erased("anna", "letters.xlsx"),
    *Erased.of_ids(["one", "zwölf"]),
    Labelled([(9, ["x", "zwölf"], 1), (2**60, ["y"], None)]),
]


@pytest.mark.parametrize("message", LETTERS)
def test_says_what_was_written(message):
    assert opened(sealed(message)) == message


@pytest.mark.parametrize("message", LETTERS)
def test_shows_every_damage(message):
    message = sealed(message)
    for place in range(len(message)):
        for bit in range(8):
            damaged = bytearray(message)
            damaged[place] ^= 1 << bit
            with pytest.raises(msgspec.DecodeError):
                opened(bytes(damaged))
        with pytest.raises(msgspec.DecodeError):
            opened(message[:place])


def whole(data):
    """Return a message of this content with a valid seal."""
    return crc32(data).to_bytes(SEAL_BYTES, "little") + data


@given(st.binary())
def test_other_bytes_are_no_message(data):
    for message in (data, whole(data)):
        with pytest.raises(msgspec.DecodeError):
            opened(message)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93\xa8question\x01\x91\xa1\x80",  # not UTF-8
        b"\x94\xa8question\x01\x90" + b"\x91" * 100_000,  # truncated
        b"\x93\xa8question\x01\xdd\xff\xff\xff\xff",  # claims billions of ids
    ],
)
def test_a_message_with_a_valid_seal_is_checked_too(data):
    with pytest.raises(msgspec.DecodeError):
        opened(whole(data))


def test_many_erased_ids_are_some_messages():
    ids = [f"id-{number}" for number in range(2 * MESSAGE_IDS + 1)]
    messages = Erased.of_ids(ids)
    assert [len(each.ids) for each in messages] == [MESSAGE_IDS, MESSAGE_IDS, 1]
    assert [name for each in messages for name in each.ids] == ids
    assert [opened(sealed(each)) for each in messages] == messages

"""One append as an entry of the stream.

id      last_seq-nonce: the nonce tells it from any other entry that ever had this place
after   the identity of the store and the id of the entry before, so what follows another entry, or
        is in another store, is seen to be another log; the server writes it
head    process ticket count checksum
body    the events, see batch.py
"""

from collections.abc import Sequence
from dataclasses import dataclass

from manyclass.service.store.batch import batch_checksum, split_batch

NONCE_BITS = 63  # the checksum takes it as a signed number of 64
START = b"0-0"  # what the first entry of a log comes after


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry says, its checksum checked."""

    place: bytes  # its id
    store: bytes
    after: bytes  # the id of the one before
    process: bytes
    ticket: int
    first_seq: int
    last_seq: int
    events: list[bytes]


def entry_head(process: str, ticket: int, nonce: int, count: int, body: bytes) -> bytes:
    """The head of the entry that holds this body."""
    checksum = batch_checksum(nonce, count, body)
    return f"{process} {ticket} {count} {checksum.hex()}".encode()


def parse_entry(place: bytes, fields: Sequence[bytes]) -> Entry:
    """The entry with this id; ValueError, saying how, when it is not as it was written."""
    last_seq, nonce = map(int, place.split(b"-"))
    names, values = fields[::2], fields[1::2]
    if list(names) != [b"after", b"head", b"body"] or len(values) != 3:
        raise ValueError("it has other fields")
    link, head, body = values
    store, after = link.split(b" ")
    process, ticket, count, checksum = head.split(b" ")
    events = int(count)
    if nonce >> NONCE_BITS or not 0 < events <= len(body):
        raise ValueError("its numbers are no numbers of an entry")
    if batch_checksum(nonce, events, body).hex().encode() != checksum:
        raise ValueError("its checksum does not fit")
    return Entry(
        place=place,
        store=store,
        after=after,
        process=process,
        ticket=int(ticket),
        first_seq=last_seq - events + 1,
        last_seq=last_seq,
        events=split_batch(body, events),
    )


def seq_of(place: bytes) -> int:
    """The number of the last event of the entry with this id."""
    return int(place.partition(b"-")[0])

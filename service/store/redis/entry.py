"""One append as an entry of the stream.

id      place-nonce: the place is epoch * EPOCH + last_seq; the nonce tells the entry from any other
        that ever had this place
after   the identity of the store and the id of the entry before, which shows an entry of another
        log or another store; the server writes it
head    process, id of the append, count, checksum
body    the events, see batch.py

Any program that can write to the server can add entries to the stream. An entry without these
fields, with another store's identity or with a wrong checksum is foreign: every reader skips it at
any place. The loss of an entry of ours is still found, because the next one names it, and because
the server names the newest one.

The server refuses an id below the newest in the stream, also below a foreign one, and its own ids
are times in milliseconds. So our ids begin with epoch 1, above any time: an id that the server
makes is then the next after ours. A foreign entry with a higher id than ours lifts the log to the
next epoch. See APPEND in scripts.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from manyclass.service.store.batch import batch_checksum, split_batch

NONCE_BITS = 63  # the checksum takes it as a signed number of 64
START = b"0-0"  # before the first entry of a log
EPOCH = 2**48  # places in an epoch, so events in a log; as milliseconds it is the year 10889
LAST_EPOCH = 31  # Lua has whole numbers up to 2**53


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of this store, its checksum checked."""

    place: bytes  # its id
    after: bytes  # the id of the one before
    process: bytes
    append_id: int
    first_seq: int
    last_seq: int
    events: list[bytes]


def entry_head(process: str, append_id: int, nonce: int, count: int, body: bytes) -> bytes:
    """Return the head of the entry with this body."""
    checksum = batch_checksum(nonce, count, body)
    return f"{process} {append_id} {count} {checksum.hex()}".encode()


def parse_entry(place: bytes, fields: Sequence[bytes], identity: str) -> Entry:
    """Return the entry with this id. Raises ValueError with the reason for a foreign one."""
    nonce = int(place.partition(b"-")[2])
    names, values = fields[::2], fields[1::2]
    if list(names) != [b"after", b"head", b"body"] or len(values) != 3:
        raise ValueError("its fields are not those of an entry")
    link, head, body = values
    store, after = link.split(b" ")
    if store != identity.encode():
        raise ValueError("it belongs to another store")
    process, append_id, count, checksum = head.split(b" ")
    events = int(count)
    if nonce >> NONCE_BITS or not 0 < events <= len(body):
        raise ValueError("its numbers are not those of an entry")
    if batch_checksum(nonce, events, body).hex().encode() != checksum:
        raise ValueError("its checksum does not match")
    last_seq = seq_of(place)
    return Entry(
        place=place,
        after=after,
        process=process,
        append_id=int(append_id),
        first_seq=last_seq - events + 1,
        last_seq=last_seq,
        events=split_batch(body, events),
    )


def seq_of(place: bytes) -> int:
    """Return the number of the last event of the entry with this id."""
    return int(place.partition(b"-")[0]) % EPOCH


@dataclass(frozen=True, slots=True)
class Epoch:
    """The newest epoch of a log: it holds every event after `after`."""

    number: int
    after: int

    @classmethod
    def of(cls, text: bytes) -> "Epoch":
        """Return the epoch that the server names."""
        return cls(*map(int, text.split()))

    def place_of(self, seq: int) -> int:
        """Return a place to read from for event `seq`. Before the epoch it may be too early."""
        return self.number * EPOCH + seq if seq > self.after else seq

"""New entries of the log of a Redis store, and messages to this process."""

import logging
import time

from manyclass.service.store.errors import LogDamaged, LogRewound, StoreError, StoreUnavailable
from manyclass.service.store.protocol import Batch, PeerMessage
from manyclass.service.store.redis.entry import parse_entry, seq_of
from manyclass.service.store.redis.errors import REPLICA_HINT
from manyclass.service.store.redis.link import Argument, Link
from manyclass.service.store.redis.server import parse_info
from manyclass.service.store.redis.session import Session

log = logging.getLogger(__name__)

BLOCK_SECONDS = 0.4  # for which the server waits for a new entry
# Entries and messages may have megabytes each: more at once only while they are small.
ENTRIES_AT_ONCE = 16
SMALL_BYTES = 2**18  # of one answer
LAST_NONCE = 2**64 - 1  # that an id can have


class Feed:
    """A reader of the log with a connection of its own.

    Each entry names the one before it. So the loss of the end of a log is found, also after other
    processes have written a new end. Foreign entries between ours are skipped, see entry.py.
    """

    def __init__(self, session: Session, after: int, place: bytes | None) -> None:
        self.seq = after  # number of the last event returned
        self.place = place  # the id of the entry that ended there, if known
        self._session = session
        self._link: Link | None = None
        self._read_messages: list[bytes] = []  # ids the server still has
        self._at_once = 1
        self._owed = 0  # events of the log, by the last answer of the server
        self._end: StoreError | None = None  # raised after the entries that were read
        self._compared_at = 0.0  # when the place was last compared with the end of the log
        self._read_to = b""  # the id of the newest entry that was read, ours or foreign
        self._why = ""  # the newest entry that was skipped is not ours

    def wait(self) -> list[Batch | PeerMessage]:
        """Return new batches and messages, none after BLOCK_SECONDS.

        Raises StoreError, LogRewound and LogDamaged, and closes the connection then; the next call
        opens another.
        """
        try:
            if self._link is None:
                self._link, tail = self._session.connect(BLOCK_SECONDS)
                self._read_to = b""  # another server may lack a foreign entry
                self._compare(tail)
            with self._session.server.errors_of_store():
                if time.monotonic() - self._compared_at > BLOCK_SECONDS:
                    self._compare(self._tail(self._link))
                news = self._ask(self._link) if self._end is None else []
                if self._end is not None and not news:
                    end, self._end = self._end, None
                    self._tail(self._link)  # raises StoreError if the server has another store
                    raise end
            return news
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def _ask(self, link: Link) -> list[Batch | PeerMessage]:
        keys = self._session.keys
        mailbox = keys.mailbox_of(self._session.name)
        place = self._read_to or self.place or self._before_next()
        commands: list[tuple[Argument, ...]] = []
        if self._read_messages:
            commands.append(("XDEL", mailbox, *self._read_messages))
        commands.append(
            (
                *("XREAD", "COUNT", self._at_once, "BLOCK", int(1000 * BLOCK_SECONDS)),
                *(
                    "STREAMS",
                    keys.events,
                    mailbox,
                    place,
                    "0",
                ),  # messages are deleted after reading
            )
        )
        link.send(*commands)
        *_, answer = [link.receive() for _ in commands]
        self._read_messages = []
        news: list[Batch | PeerMessage] = []
        size = 0
        found = 0  # entries of the log, foreign ones too
        for stream, entries in answer or []:
            is_log = stream == keys.events.encode()
            take = self._batch if is_log else self._message
            found += len(entries) if is_log else 0
            try:
                for entry, fields in entries:
                    size += sum(map(len, fields))
                    each = take(entry, fields)
                    if each is not None:
                        news.append(each)
            except StoreError as error:
                self._end = error
        self._at_once = 1 if size > SMALL_BYTES else min(2 * self._at_once, ENTRIES_AT_ONCE)
        if self._owed > self.seq and not found:
            reason = missing(self._owed, self._why)
            self._end = self._end or LogDamaged(self.seq + 1, reason)
        return news

    def _before_next(self) -> str:
        """Return an id before our next entry, if the id of the last one is unknown."""
        return f"{self._session.epoch.place_of(self.seq + 1) - 1}-{LAST_NONCE}"

    def _message(self, place: bytes, fields: list[bytes]) -> PeerMessage:
        self._read_messages.append(place)
        sender, body = fields[1::2] if len(fields) == 4 else (b"", b"")
        return PeerMessage(sender.decode(errors="replace"), body)

    def _batch(self, place: bytes, fields: list[bytes]) -> Batch | None:
        """Return the events of an entry; None for an entry to skip."""
        expected = self.seq + 1
        self._read_to = place
        try:
            entry = parse_entry(place, fields, self._session.identity)
        except ValueError as error:
            self._skip(place, error)
            return None
        if self.place is None and entry.last_seq < expected:  # reading began in an earlier epoch
            return None
        if entry.first_seq > expected:
            raise LogDamaged(expected, out_of_order(entry.first_seq, self._why))
        if self.place not in (None, entry.after):
            raise LogRewound(self.seq)
        self.seq, self.place = entry.last_seq, entry.place
        self._why = ""
        is_own = entry.process == self._session.name.encode()
        return Batch(
            expected, entry.events[expected - entry.first_seq :], entry.ticket if is_own else 0
        )

    def _skip(self, place: bytes, why: ValueError) -> None:
        """Note a foreign entry, and count it unless it was counted before."""
        self._why = f"{place.decode()}: {why}"
        if self._session.count_foreign(place):
            log.warning("a foreign entry in the log was skipped, %s", self._why)

    def _tail(self, link: Link) -> bytes:
        """Return the id of the newest entry.

        Raises StoreUnavailable if the server has another store, or has become a replica.
        """
        link.send(("HMGET", self._session.keys.facts, "identity", "tail"), ("INFO", "replication"))
        (identity, tail), replication = link.receive(), link.receive()
        if identity != self._session.identity.encode():
            raise self._session.replaced()
        if parse_info(replication).get("role") != "master":
            raise StoreUnavailable("the Redis server has become a replica", REPLICA_HINT)
        return bytes(tail)

    def _compare(self, tail: bytes) -> None:
        """Raise LogRewound unless a log with this tail can go on from the last event returned."""
        end = seq_of(tail)
        if end < self.seq or (end == self.seq and self.place not in (None, tail)):
            raise LogRewound(self.seq)
        if end == self.seq:
            self.place = tail
        self._owed = end
        self._compared_at = time.monotonic()


def missing(known: int, why: str) -> str:
    """Return the reason that the next event is missing, with that of the newest skipped entry."""
    return f"it is not in the log, which has had {known}{_skipped(why)}"


def out_of_order(first_seq: int, why: str) -> str:
    """Return the reason that another event is next, with that of the entry skipped before it."""
    return f"what comes next in the log is {first_seq}{_skipped(why)}"


def _skipped(why: str) -> str:
    return f"; skipped there: {why}" if why else ""

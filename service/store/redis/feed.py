"""New entries of the log of a Redis store, and messages to this process."""

import logging
import time

from manyclass.service.store.errors import LogRewound, StoreError, StoreUnavailable
from manyclass.service.store.protocol import Batch, PeerMessage
from manyclass.service.store.redis.entry import parse_entry, seq_of
from manyclass.service.store.redis.errors import REPLICA_HINT
from manyclass.service.store.redis.link import Argument, Link
from manyclass.service.store.redis.log_check import LogCheck
from manyclass.service.store.redis.server import parse_info
from manyclass.service.store.redis.session import Session

log = logging.getLogger(__name__)

BLOCK_SECONDS = 0.4  # for which the server waits for a new entry
# Entries and messages may have megabytes each: more at once only while they are small.
ENTRIES_AT_ONCE = 16
SMALL_BYTES = 2**18  # of one answer
LAST_NONCE = 2**64 - 1  # that an id can have


class Feed:
    """A reader of the log with a connection of its own; it skips foreign entries, see entry.py."""

    def __init__(self, session: Session, after: int, place: bytes | None) -> None:
        self.check = LogCheck(after, place)
        self._session = session
        self._link: Link | None = None
        self._read_messages: list[bytes] = []  # ids the server still has
        self._at_once = 1
        self._owed = 0  # events of the log, by the last answer of the server
        self._end: StoreError | None = None  # raised after the entries that were read
        self._compared_at = 0.0  # when the place was last compared with the end of the log
        self._read_to = b""  # the id of the newest entry that was read, ours or foreign

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
        place = self._read_to or self.check.place or self._before_next()
        commands: list[tuple[Argument, ...]] = []
        if self._read_messages:
            commands.append(("XDEL", mailbox, *self._read_messages))
        commands.append(
            (
                *("XREAD", "COUNT", self._at_once, "BLOCK", int(1000 * BLOCK_SECONDS)),
                *("STREAMS", keys.events, mailbox, place, "0"),  # messages are deleted once read
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
        if self._owed > self.check.seq and not found:
            self._end = self._end or self.check.missing(self._owed)
        return news

    def _before_next(self) -> str:
        """Return an id before our next entry, if the id of the last one is unknown."""
        return f"{self._session.epoch.place_of(self.check.seq + 1) - 1}-{LAST_NONCE}"

    def _message(self, place: bytes, fields: list[bytes]) -> PeerMessage:
        self._read_messages.append(place)
        sender, body = fields[1::2] if len(fields) == 4 else (b"", b"")
        return PeerMessage(sender.decode(errors="replace"), body)

    def _batch(self, place: bytes, fields: list[bytes]) -> Batch | None:
        """Return the events of an entry; None for an entry to skip."""
        self._read_to = place
        try:
            entry = parse_entry(place, fields, self._session.identity)
        except ValueError as error:
            skipped = self.check.skip(place, error)
            if self._session.count_foreign(place):
                log.warning("a foreign entry in the log was skipped, %s", skipped)
            return None
        expected = self.check.seq + 1
        events = self.check.accept(entry)
        is_own = entry.process == self._session.name.encode()
        return Batch(expected, events, entry.append_id if is_own else 0) if events else None

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
        end, check = seq_of(tail), self.check
        if end < check.seq or (end == check.seq and check.place not in (None, tail)):
            raise LogRewound(check.seq)
        if end == check.seq:
            check.place = tail
        self._owed = end
        self._compared_at = time.monotonic()

"""The store on a Redis server, whose log any number of processes share."""

import logging
import os
import random
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from secrets import token_hex
from threading import Lock

from redis.exceptions import RedisError

from manyclass.service.store.archive.archive import Archive
from manyclass.service.store.batch import join_batch_within
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    LogDamaged,
    LogRewound,
    LogTrimmed,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Batch, Heartbeat, PeerMessage, Process, SnapshotInfo
from manyclass.service.store.redis import scripts
from manyclass.service.store.redis.entry import NONCE_BITS, START, entry_head, parse_entry, seq_of
from manyclass.service.store.redis.errors import GOES_ON, lost, moved
from manyclass.service.store.redis.feed import Feed
from manyclass.service.store.redis.link import Link, pairs
from manyclass.service.store.redis.log_check import LogCheck
from manyclass.service.store.redis.manifest import list_snapshots
from manyclass.service.store.redis.rebuilt import RedisRebuilt
from manyclass.service.store.redis.segments import RedisSegments
from manyclass.service.store.redis.session import Session
from manyclass.service.store.redis.snapshots import RedisSnapshots
from manyclass.service.store.redis.url import parse
from manyclass.service.store.redis.waiting import RedisWaiting

log = logging.getLogger(__name__)

LARGEST_BATCH = 2**28  # half of what the server takes as one value
LEASE_SECONDS = 10.0  # after its last heartbeat a process leads and counts as alive for so long
RECORD_SECONDS = 86_400  # for which the server keeps the last append of a process: far longer than
# an earlier one can be on its way
READ_BYTES = 2**20  # of the log, at a time
READ_ENTRIES = 1000
TRIMMED_EVENTS_AT_ONCE = 2000  # takes the server some milliseconds
MESSAGES_KEPT = 1000  # in a mailbox without a reader
MAILBOX_SECONDS = 60
SWEEP_STEPS = 4  # in a heartbeat
DESCRIBED_SECONDS = 60.0  # between two checks of the server's settings
# Between tries to reach an unreachable server.
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5


class RedisStore:
    """A log in a stream, whose order is the order of all processes; see scripts.py.

    Each change of several keys is a script, which the server runs atomically, and which names the
    store: a server that was emptied, or has another store, changes nothing.

    Threads: any thread may call any method at any time. Appending and each `follow` have a
    connection of their own; the other calls do not wait for each other.
    """

    def __init__(
        self,
        url: str,
        clock: Callable[[], float],
        patience: float = 5.0,
        lease_seconds: float = LEASE_SECONDS,
        make_new: bool = True,
        archive: Archive | None = None,
    ) -> None:
        """Raise StoreError for an invalid URL; do not connect yet.

        Without `make_new`, the first connection raises StoreMissing if the server has no store. The
        `archive` keeps the history of events.
        """
        parsed = parse(url)
        host = re.sub(r"[^A-Za-z0-9._-]", "_", socket.gethostname())
        self.name = f"{host}-{os.getpid()}-{token_hex(4)}"
        self._session = Session(parsed, self.name, patience, make_new)
        self._keys = self._session.keys
        self._snapshots = RedisSnapshots(self._session, clock)
        self.archived_segments = RedisSegments(self._session, self._snapshots, archive)
        self._patience = patience
        self._replicas = parsed.replicas
        self._lease_ms = int(1000 * lease_seconds)
        self._appending = Lock()
        self._append_link: Link | None = None
        self._appends = 0  # number of tries
        self._nonces = random.Random()  # seeded by the system
        self._place = START  # of the newest entry that was read or given
        self._rewound = False  # events that were returned are not in the log any more
        self._described_at = time.monotonic()  # by the first connection
        self._is_registered = False

    @property
    def rebuilt_states(self) -> RedisRebuilt:
        """The state that a rebuild made, until it is settled."""
        return RedisRebuilt(self._session, self._snapshots, self._append_adoption, self._place_from)

    def open_waiting(self, clock: Callable[[], float]) -> RedisWaiting:
        """Return the instances that wait for review; the server has the clock of their leases."""
        return RedisWaiting(self._session)

    @property
    def durability(self) -> str:
        """The durability of an append, by the server's settings at the last connection."""
        return self._session.durability

    @property
    def last_seq(self) -> int:
        return seq_of(self._session.tail())

    @property
    def foreign_entries(self) -> int:
        return self._session.foreign

    # --- the log ----------------------------------------------------------------------------------
    def append(self, events: Sequence[bytes], append_id: int = 0, after: int | None = None) -> int:
        if not events:
            return self.last_seq
        body = join_batch_within(LARGEST_BATCH, events)
        with self._appending:
            self._appends += 1
            return self._until_known(lambda: self._send_append(append_id, len(events), body, after))

    def _append_adoption(self, events: Sequence[bytes], manifest: bytes) -> int:
        body = join_batch_within(LARGEST_BATCH, events)
        with self._appending:
            self._appends += 1
            return self._until_known(
                lambda: self._send_append(0, len(events), body, None, manifest)
            )

    def confirm(self) -> None:
        if self._replicas:  # without replicas every readable event is as durable as it gets
            with self._appending:
                self._until_known(self._send_confirm)

    def check_append(self, size: int) -> None:
        # A write, refused as an append is: the bytes of a command count in the server's memory.
        ballast = bytes(size)
        with self._appending:
            self._until_known(lambda: self._send_confirm(ballast))

    def _until_known(self, send: Callable[[], int]) -> int:
        """Send a command that may be repeated, as an append, until the server has confirmed it."""
        server = self._session.server
        last_try = time.monotonic() + self._patience - server.answer_seconds / 2
        in_doubt = False
        pause = FIRST_PAUSE
        while True:
            elsewhere = False
            try:
                return send()
            except RedisError as error:
                self._drop_append_link()
                failure = server.store_error(error)
                in_doubt = in_doubt or lost(error)
                elsewhere = moved(error)
            except CommitOutcomeUnknown as error:
                failure = error
                in_doubt = True
            except StoreError as error:  # nothing was sent
                failure = error
            is_last = time.monotonic() > last_try or self._session.closed.is_set()
            if in_doubt and is_last:
                raise CommitOutcomeUnknown(
                    f"it is not known what became of an append: {failure}", GOES_ON
                ) from failure
            if not in_doubt and (is_last or not elsewhere):
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _send_append(
        self, append_id: int, count: int, body: bytes, after: int | None, adopted: bytes = b""
    ) -> int:
        link = self._linked()
        nonce = self._nonces.getrandbits(NONCE_BITS)  # a new one for each try: see Feed
        head = entry_head(self.name, append_id, nonce, count, body)
        last_seq = self._session.run_on(
            link,
            scripts.APPEND,
            *(self._appends, nonce, count, RECORD_SECONDS, head, body),
            *("" if after is None else after, adopted),
            more_keys=[self._keys.appends_of(self.name)],
        )
        self._wait_for_replicas(link)
        return int(last_seq)

    def _send_confirm(self, ballast: bytes = b"") -> int:
        link = self._linked()
        self._session.run_on(link, scripts.CONFIRM, ballast)
        self._wait_for_replicas(link)
        return 0

    def _linked(self) -> Link:
        link = self._append_link
        if link is None or link.ended():
            self._drop_append_link()
            link, _ = self._session.connect()
            self._append_link = link
        return link

    def _wait_for_replicas(self, link: Link) -> None:
        """Return when the replicas have the writes of this link, and so all earlier ones."""
        if self._replicas:
            # The server checks the time ten times a second: it may take 0.1 s longer.
            wait_ms = int(1000 * self._session.server.answer_seconds / 3)
            received = link.call("WAIT", self._replicas, wait_ms)
            if received < self._replicas:
                raise CommitOutcomeUnknown(
                    f"it is in the log, but {received} of {self._replicas} replicas have it",
                    "see whether the replicas of the Redis server are well",
                )

    def _drop_append_link(self) -> None:
        if self._append_link is not None:
            self._append_link.close()
            self._append_link = None

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        try:
            yield from self._read(after)
        except LogDamaged as error:
            self._check_trimmed(error)
            raise

    def _check_trimmed(self, error: LogDamaged) -> None:
        """Raise LogTrimmed if the event was trimmed, and so is not lost."""
        _, floor = self.archived_segments.listed()
        if error.seq <= floor:
            raise LogTrimmed(error.seq, floor) from error

    def _read(self, after: int) -> Iterator[tuple[int, bytes]]:
        known = self.last_seq
        check = LogCheck(after, START if after == 0 else None)
        start = f"{self._session.epoch.place_of(after + 1)}-0"
        while check.seq < known:
            entries = self._session.run(scripts.READ, start, READ_BYTES, READ_ENTRIES)
            if not entries:
                raise check.missing(known)
            for place, fields in entries:
                try:
                    entry = parse_entry(place, fields, self._session.identity)
                except ValueError as error:
                    check.skip(place, error)
                    continue
                events = check.accept(entry)
                yield from enumerate(events, check.seq - len(events) + 1)
                if check.place is not None and seq_of(check.place) > seq_of(self._place):
                    self._place = check.place  # the history is read from far behind it
                if check.seq >= known:
                    return
            start = f"({entries[-1][0].decode()}"

    def follow(self, after: int) -> Iterator[Batch | PeerMessage | None]:
        feed = Feed(self._session, after, self._place_of(after))
        self._rewound = False  # a follower has a state of this log
        pause = FIRST_PAUSE
        told = False
        try:
            while not self._session.closed.is_set():
                try:
                    news = feed.wait()
                except (LogDamaged, LogRewound) as error:
                    self._place = START  # the place is not in the log any more
                    self._rewound = isinstance(error, LogRewound)
                    if isinstance(error, LogDamaged):
                        self._check_trimmed(error)
                    raise
                except StoreError as error:
                    if not self._session.identity and not self._session.closed.is_set():
                        raise
                    if not told:  # once: the server may be unreachable for long
                        log.error("the log cannot be followed now: %s; %s", error, error.hint)
                        told = True
                    yield None
                    self._session.closed.wait(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                if told:
                    log.warning("the log is followed again")
                    told = False
                pause = FIRST_PAUSE
                self._place = feed.check.place or self._place
                if not news:
                    yield None
                yield from news
        finally:
            feed.close()

    def _place_of(self, after: int) -> bytes | None:
        """Return the id of the entry that ended with event `after`, if known."""
        if after == 0:
            return START
        return self._place if seq_of(self._place) == after else None

    def trim(self, seq: int) -> None:
        """Trim as the protocol says, and never beyond the newest snapshot."""
        while self._session.run(scripts.TRIM, self._session.lease, seq, TRIMMED_EVENTS_AT_ONCE):
            pass

    # --- the other processes ----------------------------------------------------------------------
    def heartbeat(self, seq: int | None, rules: int = 1, may_lead: bool = True) -> Heartbeat:
        if time.monotonic() - self._described_at > DESCRIBED_SECONDS:
            self._check_server()
        self._is_registered = True
        position = "" if seq is None else seq
        tail, lease, manifests, processes, sweep, is_full = self._session.run(
            scripts.HEARTBEAT,
            *(self.name, position, self._lease_ms, rules, int(may_lead)),
            self._keys.mailbox_of(""),
        )
        leader = lease.decode().partition(" ")[2]
        self._session.lease = lease if leader == self.name else b""
        self._session.is_full = bool(is_full)
        if sweep and leader == self.name:
            self._snapshots.sweep(SWEEP_STEPS)
        return Heartbeat(
            last_seq=seq_of(tail),
            is_leader=leader == self.name,
            snapshots=list_snapshots(pairs(manifests)),
            processes=sorted(
                (_process(name.decode(), seen, leader) for name, seen in pairs(processes).items()),
                key=lambda process: process.name,
            ),
            is_full=bool(is_full),
        )

    def _check_server(self) -> None:
        """Check the server's settings again. Raises StoreUnavailable if they are unfit."""
        try:
            link, _ = self._session.connect()  # it checks them
        except StoreError:
            with self._appending:
                self._drop_append_link()  # the next append connects, and so checks, first
            raise
        link.close()
        self._described_at = time.monotonic()

    def post(self, messages: Sequence[tuple[str, bytes]]) -> None:
        if messages:
            self._session.run(
                scripts.POST,
                *(self.name, MESSAGES_KEPT, MAILBOX_SECONDS),
                *(part for message in messages for part in message),
                more_keys=[self._keys.mailbox_of(name) for name, _ in messages],
            )

    # --- snapshots --------------------------------------------------------------------------------
    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        if self._rewound and seq:
            raise StoreUnavailable("the log has lost events, and this state with them", GOES_ON)
        return self._snapshots.save(seq, chunks, keep_existing, self._place_from(seq))

    def _place_from(self, seq: int) -> bytes:
        """Return the place of an entry that a state at `seq` was taken at or before, if known."""
        return self._place if seq_of(self._place) >= seq else b""

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        return self._snapshots.open(seq)

    def snapshots(self) -> list[SnapshotInfo]:
        return self._snapshots.list()

    def delete_snapshot(self, seq: int) -> None:
        self._snapshots.delete(seq)

    def close(self) -> None:
        if self._is_registered and not self._session.closed.is_set():
            with suppress(StoreError):  # it expires after a while anyway
                self._session.run(scripts.LEAVE, self.name, self._keys.mailbox_of(""))
        self._session.close()
        with self._appending:
            self._drop_append_link()


def _process(name: str, seen: bytes, leader: str) -> Process:
    seen_at, rules, seq = seen.decode().split(" ")
    position = int(seq) if seq else None
    return Process(name, position, name == leader, int(seen_at) / 1000, int(rules))

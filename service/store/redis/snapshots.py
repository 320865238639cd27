"""Snapshots in Redis: chunks of their own keys, then a manifest that makes them one snapshot."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from manyclass.service.store.batch import CHECKSUM_BYTES
from manyclass.service.store.chunks import check_chunks, write_chunks
from manyclass.service.store.errors import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.redis import scripts
from manyclass.service.store.redis.link import pairs
from manyclass.service.store.redis.manifest import (
    Manifest,
    check_store,
    list_snapshots,
    new_identity,
    parse_manifest,
)
from manyclass.service.store.redis.session import Session

# An append may have to wait for one chunk, and Python copies it with the GIL held.
CHUNK_BYTES = 2**18
CHUNKS_READ_AT_ONCE = 4
CHUNKS_SWEPT_AT_ONCE = 16
# Unlisted chunks are kept for these times after the last one was written, and after one was read.
WRITING_MS = 600_000
READING_MS = 60_000


class RedisSnapshots:
    """The snapshots of one store. Any thread may call any method at any time."""

    def __init__(self, session: Session, clock: Callable[[], float]) -> None:
        self._session = session
        self._keys = session.keys
        self._clock = clock

    def list(self) -> "list[SnapshotInfo]":
        return list_snapshots(self._manifests())

    def _manifests(self) -> dict[bytes, bytes]:
        return pairs(self._session.run(scripts.LISTED))

    def save(
        self,
        seq: int,
        chunks: Iterable[bytes | memoryview],
        keep_existing: bool,
        place: bytes,
        is_base: bool = False,
    ) -> SnapshotInfo:
        """Save a snapshot, see `Store.save_snapshot`. It is listed only if the log still has the
        entry at `place`, so that the state of a lost log cannot become a snapshot of the new one.

        The leader may save one that is older than the log, as the base of the history.
        """

        def lists(manifest: Manifest) -> Manifest:
            return self._make_visible(manifest, keep_existing, place, is_base)

        return self.write(seq, chunks, lists).info

    def write(
        self,
        seq: int,
        chunks: Iterable[bytes | memoryview],
        lists: Callable[[Manifest], Manifest],
    ) -> Manifest:
        """Write the chunks of a state and return what `lists` returns: the manifest that is listed.

        Chunks that are not listed are freed.
        """
        taken_at = float(self._clock())
        self._session.tail()  # connects, if this is the first call: the identity is known then
        identity = new_identity(self._session.identity)
        listed: Manifest | None = None
        try:
            listed = lists(self._write(seq, identity, taken_at, chunks))
        finally:
            with suppress(StoreError):  # then the leader does it, after some minutes
                if listed is None or listed.identity != identity:
                    self._session.run(scripts.HOLD_CHUNKS, identity, 0)
                self.sweep()
        return listed

    def _write(
        self, seq: int, identity: str, taken_at: float, chunks: Iterable[bytes | memoryview]
    ) -> Manifest:
        def put(number: int, checksum: bytes, body: bytes) -> None:
            self._session.run(
                scripts.PUT_CHUNK,
                *(identity, number, WRITING_MS, checksum + body),
                int(self._session.may_exceed_memory),
                more_keys=[self._keys.chunk_of(identity, number)],
            )

        return Manifest(seq, identity, taken_at, *write_chunks(chunks, CHUNK_BYTES, put))

    def _make_visible(
        self, manifest: Manifest, keep_existing: bool, place: bytes, is_base: bool = False
    ) -> Manifest:
        """List the manifest; return it, or the existing one that was kept."""
        listed = self._session.run(
            scripts.LIST_SNAPSHOT,
            *(manifest.seq, manifest.text(), manifest.identity, manifest.chunks),
            *(int(keep_existing), place, int(self._session.may_exceed_memory)),
            *(int(is_base), self._session.lease),
        )
        try:
            kept = parse_manifest(manifest.seq, listed)
            check_store(kept, self._session.identity)
            return kept
        except SnapshotDamaged:  # the existing one is damaged: replace it
            return self._make_visible(manifest, False, place, is_base)

    def open(self, seq: int) -> Iterator[bytes]:
        text = self._session.run(scripts.OPEN_SNAPSHOT, seq, READING_MS)
        if text is None:
            raise SnapshotMissing(seq)
        return self.read(seq, text)

    def read(self, seq: int, text: bytes) -> Iterator[bytes]:
        """Yield the bytes of a state by the text of its manifest. SnapshotDamaged."""
        manifest = parse_manifest(seq, text)
        check_store(manifest, self._session.identity)
        return check_chunks(seq, manifest.digest, self._read(manifest))

    def _read(self, manifest: Manifest) -> Iterator[tuple[bytes, bytes] | None]:
        """Yield checksum and bytes of each chunk, None for a missing one."""
        held_at = time.monotonic()
        for first in range(0, manifest.chunks, CHUNKS_READ_AT_ONCE):
            numbers = range(first, min(first + CHUNKS_READ_AT_ONCE, manifest.chunks))
            if time.monotonic() - held_at > READING_MS / 1000 / 3:
                held_at = time.monotonic()
                self._session.run(scripts.HOLD_CHUNKS, manifest.identity, READING_MS)
            values = self._session.call(
                "MGET", *(self._keys.chunk_of(manifest.identity, number) for number in numbers)
            )
            for value in values:
                if value is None:
                    yield None
                else:
                    yield value[:CHECKSUM_BYTES], value[CHECKSUM_BYTES:]

    def delete(self, seq: int) -> None:
        manifest = self._manifests().get(str(seq).encode())
        if manifest is None:
            raise SnapshotMissing(seq)
        self._session.run(scripts.DELETE_SNAPSHOT, self._session.lease, seq, manifest)
        with suppress(StoreUnavailable):
            self.sweep()

    def sweep(self, steps: int | None = None, also_in_use: bool = False) -> None:
        """Free the chunks that no snapshot has, and that no process writes or reads.

        Stop after this many steps; None: when all are freed. `also_in_use`: a process that writes
        or reads them has to begin anew.
        """
        more = 1
        while more and steps != 0:
            more = self._session.run(
                scripts.SWEEP, self._keys.chunk, CHUNKS_SWEPT_AT_ONCE, int(also_in_use)
            )
            steps = None if steps is None else steps - 1

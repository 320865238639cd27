"""The state that a rebuild made, in Redis: chunks as of a snapshot, and a key that names them."""

from collections.abc import Callable, Iterable, Iterator

from manyclass.service.store.errors import SnapshotMissing
from manyclass.service.store.rebuilt import RebuiltState
from manyclass.service.store.redis import scripts
from manyclass.service.store.redis.manifest import Manifest
from manyclass.service.store.redis.session import Session
from manyclass.service.store.redis.snapshots import READING_MS, RedisSnapshots


class RedisRebuilt:
    """The rebuilt state of one store; its token is its manifest. Any thread may call any method.

        save ──► adopt (the event, in one step with the note of it) ──► drop
          └───────────── drop: only while no event can adopt it ──────────┘

    So a leader that was replaced adopts nothing, and no event adopts what is not there.
    """

    def __init__(
        self,
        session: Session,
        snapshots: RedisSnapshots,
        append: Callable[[list[bytes], bytes], int],
        place_of: Callable[[int], bytes],
    ) -> None:
        """`append` gets events and the manifest that they adopt; `place_of` the seq of a state."""
        self._session = session
        self._snapshots = snapshots
        self._append = append
        self._place_of = place_of

    def save(self, seq: int, chunks: Iterable[bytes | memoryview], plan: bytes) -> RebuiltState:
        place = self._place_of(seq)

        def lists(manifest: Manifest) -> Manifest:
            self._session.run(
                scripts.LIST_REBUILT,
                *(self._session.lease, seq, manifest.text(), manifest.identity, manifest.chunks),
                *(plan, place),
            )
            return manifest

        manifest = self._snapshots.write(seq, chunks, lists)
        return RebuiltState(manifest.text().decode(), seq, plan, None)

    def find(self) -> RebuiltState | None:
        found = self._session.run(scripts.REBUILT, READING_MS)
        if found is None:
            return None
        seq, manifest, plan, adopted = found
        return RebuiltState(
            manifest.decode(), int(seq), plan, None if adopted is None else int(adopted)
        )

    def adopt(self, token: str, event: bytes) -> int:
        return self._append([event], token.encode())

    def open(self, token: str) -> Iterator[bytes]:
        state = self.find()
        if state is None or state.token != token:
            raise SnapshotMissing(0 if state is None else state.seq)
        return self._snapshots.read(state.seq, token.encode())

    def drop(self, token: str, applied: int) -> None:
        self._session.run(scripts.DROP_REBUILT, self._session.lease, token, applied)
        self._snapshots.sweep()

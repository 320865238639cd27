"""Loading of the states that marks of the log name, with a record of damaged snapshots."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from manyclass.core.errors import SnapshotError
from manyclass.core.model import Model
from manyclass.service.errors import with_hint
from manyclass.service.log.adoption import adopted_state
from manyclass.service.log.interpreter import Loaded, StateNeeded
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing, StoreError
from manyclass.service.store.protocol import Store

log = logging.getLogger(__name__)


def load_snapshot(store: Store, seq: int, hash_seed: int) -> Model:
    """Return the model as it was at `seq`. Raises SnapshotMissing, SnapshotDamaged, RulesDiffer."""
    try:
        model = Model.load(store.open_snapshot(seq), hash_seed)
    except SnapshotError as error:
        raise SnapshotDamaged(seq, "model", str(error)) from error
    if model.seq != seq:
        raise SnapshotDamaged(seq, "model", f"it has the state at event {model.seq}")
    return model


def load_state(store: Store, needed: StateNeeded, hash_seed: int) -> Loaded:
    """Return the state that a mark of the log names. Blocks. Raises the errors of load_snapshot
    and adopted_state.
    """
    mark, seq = needed.mark, needed.seq
    if mark.kind == "restore":
        return load_snapshot(store, mark.restored, hash_seed)
    return adopted_state(store, mark.name, seq, needed.before.restores, hash_seed)


class SnapshotLoader:
    """A loader of snapshots, in a thread, while the event loop does other work."""

    def __init__(self, store: Store, hash_seed: int = 0) -> None:
        self.damaged: set[int] = set()  # numbers of the snapshots that recovery must not rely on
        self._store = store
        self._hash_seed = hash_seed
        self._ready: tuple[int, Model] | None = None

    async def load(self, seq: int) -> Model:
        """Return the model of a snapshot. Raises StoreError."""
        ready, self._ready = self._ready, None
        if ready is not None and ready[0] == seq:
            return ready[1]
        try:
            return await asyncio.to_thread(load_snapshot, self._store, seq, self._hash_seed)
        except SnapshotDamaged:
            self.damaged.add(seq)
            raise
        except SnapshotMissing:
            raise
        except StoreError as error:
            log.error("snapshot %d cannot be loaded: %s", seq, with_hint(error))
            raise

    async def load_state(self, needed: StateNeeded) -> Loaded:
        """Return the state that a mark of the log names. Raises StoreError."""
        if needed.mark.kind == "restore":
            return await self.load(needed.mark.restored)
        return await asyncio.to_thread(load_state, self._store, needed, self._hash_seed)

    @contextmanager
    def keep_ready(self, seq: int, model: Model) -> Iterator[None]:
        """Make the next load of this snapshot, inside, return the model at once."""
        self._ready = (seq, model)
        try:
            yield
        finally:
            self._ready = None

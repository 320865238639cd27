"""The parts around a GroupCommit, over a store in memory."""

from contextlib import asynccontextmanager

from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.group_commit import GroupCommit, QueueLimits
from manyclass.service.log.hooks import Hooks
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.snapshot_loader import SnapshotLoader
from tests.service.faulty import FaultyStore


class Parts:
    """A GroupCommit over a store in memory, and its collaborators."""

    def __init__(self, store, max_events, max_bytes, on_applied, on_learned):
        self.store = store
        self.live = LiveModel()
        self.live.use(Model(Options()))
        self.apply_loop = ApplyLoop(self.live, SnapshotLoader(store), Hooks(on_applied, on_learned))
        self.group_commit = GroupCommit(
            store, self.live, self.apply_loop, QueueLimits(max_events, max_bytes)
        )

    @property
    def model(self):
        return self.live.model


@asynccontextmanager
async def committing(
    store=None, max_events=1000, max_bytes=2**20, on_applied=None, on_learned=None
):
    """Yield the parts and their GroupCommit; close it at the end."""
    parts = Parts(store or FaultyStore(), max_events, max_bytes, on_applied, on_learned)
    try:
        yield parts, parts.group_commit
    finally:
        await parts.group_commit.close()


def assert_holds_just(parts, *events):
    """Assert that the log holds exactly these events and the model has applied each once."""
    expected = Model(Options())
    for seq, event in enumerate(events, start=1):
        if event.event_id is not None and expected.seen(event.event_id):
            expected.seq = seq
        else:
            expected.apply(seq, event)
    assert parts.model.digest() == expected.digest()
    logged = [Event.from_bytes(data) for _, data in parts.store.read(0)]
    assert [event.join() for event in events] == [event.join() for event in logged]
    group_commit = parts.group_commit
    assert group_commit.appended == len(events)
    assert (group_commit.events, group_commit.bytes) == (0, 0)

"""A disk without room at any write of a rebuild: nothing is lost, and the next one succeeds."""

from itertools import count

import pytest

from manyclass.core.event import Event
from manyclass.service.history.reader import Filter
from manyclass.service.store.errors import StoreFull
from tests.service.engines import running, teach
from tests.service.faulty import FaultyStore, learn
from tests.service.history.amending import content, taught

TEXTS = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
RIGHT = [*TEXTS[:3], "f3 g3 -> c0", *TEXTS[4:10], *TEXTS[11:]]  # as they are amended


class SmallDisk(FaultyStore):
    """A store with room for so many writes, and for any number with None."""

    room = None

    def _write(self):
        if self.room is not None:
            if self.room == 0:
                raise StoreFull("the disk is full")
            self.room -= 1

    def append(self, events):
        self._write()
        return super().append(events)

    def save_snapshot(self, seq, chunks, keep_existing=False):
        self._write()
        return super().save_snapshot(seq, chunks, keep_existing)

    def delete_snapshot(self, seq):
        self._write()
        super().delete_snapshot(seq)

    def trim(self, seq):
        self._write()
        super().trim(seq)

    def save_segment(self, info, body):
        self._write()
        super().save_segment(info, body)

    def scrub(self):
        self._write()
        super().scrub()


def listed(engine):
    return [(each.seq, each.classes) for each in engine.history.page(Filter(), 100).records]


async def amended(engine):
    """Teach events, with a snapshot amid them, and amend two of them."""
    await teach(engine, *TEXTS[:20])
    await engine.take_snapshot()
    await teach(engine, *TEXTS[20:])
    await engine.submit([Event.amend(4, learn("f3 g3").instance, ["c0"], ["c3"])])
    await engine.submit([Event.amend(11, learn("f10 g3").instance, [], ["c0"])])


async def fails(engine, store, room):
    """Rebuild with room for so many writes; return whether that is too little."""
    before, shown = engine.model.digest(), listed(engine)
    store.room = room
    try:
        await engine.rebuild_state()
    except StoreFull:
        fails = True
    else:
        fails = False
    store.room = None
    assert engine.status == "ready"
    assert listed(engine) == shown
    assert len(engine.history.amendments) == (2 if fails else 0)
    if engine.model.digest() == before:
        assert fails
    else:  # it has gone over already
        assert content(engine.model) == content(expected(engine, RIGHT))
    return fails


def expected(engine, texts):
    return taught(engine.model.options, [learn(*each.split(" -> ")) for each in texts])


async def ends_well(engine):
    """Rebuild with room enough, after another event."""
    await teach(engine, "late g1 -> c1")
    done = await engine.rebuild_state()
    assert (done.corrected, done.deleted) == (1, 1)
    assert content(engine.model) == content(expected(engine, [*RIGHT, "late g1 -> c1"]))
    assert 11 not in [seq for seq, _ in listed(engine)]
    assert len(engine.history.amendments) == 0


COMMITTEE = "committee(members=pa(shuffle=3)+svm(subsample=0.7))"


@pytest.mark.parametrize(
    ("learner", "restarts"),
    [
        ("svm", False),
        (COMMITTEE, True),
        pytest.param("svm", True, marks=pytest.mark.slow),
        pytest.param(COMMITTEE, False, marks=pytest.mark.slow),
    ],
)
async def test_a_rebuild_without_room_loses_nothing(learner, restarts):
    for room in count():
        store = SmallDisk()
        async with running(store, learner=learner, snapshot_keep=2) as (engine, _):
            await amended(engine)
            if not await fails(engine, store, room):
                break
            if not restarts:
                await ends_well(engine)
        if restarts:
            async with running(store, learner=learner, snapshot_keep=2) as (engine, _):
                await ends_well(engine)
    assert room >= 6  # segments, a snapshot, rewritten segments, ...

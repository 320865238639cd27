"""A rebuild: the state is as if the amended events had been taught from the start."""

import asyncio
import sqlite3
from contextlib import closing, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.aliases import renamed
from manyclass.core.errors import EventConflict, OptionError, RenameConflict, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT, Reading
from manyclass.service.config.learners import limits_of
from manyclass.service.errors import MemoryShort, RebuildRefused
from manyclass.service.history import memory
from manyclass.service.history.reader import Filter
from manyclass.service.store.sqlite.store import SqliteStore
from tests.hypothesis_examples import examples
from tests.service.engines import running, teach, ticked
from tests.service.faulty import learn

READING = Reading(DEFAULT_TEXT, 1000)
LEARNERS = [
    "svm",
    "ff(max_classes=4,max_features=6)",
    "svm(neighbors=2)",
    "committee(members=pa(shuffle=3)+svm(subsample=0.7))",
]


def content(model):
    """Return the state without its place in the log: number, marks, ids of events."""
    frozen = model.freeze()
    facts = {name: frozen.facts[name] for name in frozen.facts if name not in ("seq", "restores")}
    arrays = {name: each.tobytes() for name, each in frozen.arrays.items()}
    return facts, {name: arrays[name] for name in arrays if name != "recent_events"}


def taught(options, events):
    """Return a model that has learned these events and no others."""
    model = Model(options, text=DEFAULT_TEXT)
    for seq, event in enumerate(events, start=1):
        model.apply(seq, event)
    return model


class History:
    """Teaches and amends; keeps the events that would lead to the same without the mistakes."""

    def __init__(self, engine):
        self.engine = engine
        self.effective = {}  # seq -> event
        self.snapshots = {}  # seq -> the numbers of the events in it

    async def learn(self, features, classes, event_id):
        event = Event.learn(Instance(features), classes, event_id, hash((*features, *classes)) % 97)
        try:
            [result] = await self.engine.submit([event])
        except EventConflict:
            return
        if not result.duplicate:
            self.effective[result.seq] = event

    def past(self, place):
        seqs = [seq for seq, event in self.effective.items() if event.kind == "learn"]
        return seqs[place % len(seqs)] if seqs else None

    async def correct(self, place, classes):
        seq = self.past(place)
        if seq is None:
            return
        event = self.effective[seq]
        amend = Event.amend(seq, event.instance, classes, event.classes, event.weight)
        await self.engine.submit([amend])
        self.effective[seq] = Event.learn(event.instance, classes, event.event_id)

    async def delete(self, place):
        seq = self.past(place)
        if seq is not None:
            event = self.effective.pop(seq)
            await self.engine.submit([Event.amend(seq, event.instance, [], event.classes)])

    async def forget(self, name):
        if self.engine.model.has_class(name):
            [result] = await self.engine.submit([Event.forget_class(name)])
            self.effective[result.seq] = Event.forget_class(name)

    async def rename(self, name, to):
        with suppress(UnknownName):
            await self.engine.submit([Event.rename(name, to, merges=True)])

    async def release(self, name):
        with suppress(UnknownName):
            await self.engine.submit([Event.release(name)])

    async def snapshot(self):
        info = await self.engine.take_snapshot()
        self.snapshots[info.seq] = set(self.effective)

    async def rebuild(self):
        await _rebuilt(self.engine)
        self.snapshots = {self.engine.model.seq: set(self.effective)}

    def assert_rebuilt(self, options):
        aliases = self.engine.model.aliases
        now = [renamed(self.effective[seq], aliases) for seq in sorted(self.effective)]
        facts, arrays = content(self.engine.model)
        assert facts.pop("aliases", {}) == aliases
        assert (facts, arrays) == content(taught(options, now))


features = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)
classes = st.lists(st.sampled_from(["x", "y", "z", "u", "v"]), min_size=1, max_size=2, unique=True)
places = st.integers(0, 50)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("learn"), features, classes, st.none()),
        st.tuples(st.just("learn"), features, classes, st.sampled_from(["e1", "e2"])),
        st.tuples(st.just("learn"), features, classes, st.none()),
        st.tuples(st.just("correct"), places, classes),
        st.tuples(st.just("delete"), places),
        st.tuples(st.just("forget"), st.sampled_from(["x", "y"])),
        st.tuples(st.just("rename"), st.sampled_from("xy"), st.sampled_from("zxy")).filter(
            lambda step: step[1] != step[2]
        ),
        st.tuples(st.just("release"), st.sampled_from("xyz")),
        st.tuples(st.just("snapshot")),
        st.tuples(st.just("rebuild")),
    ),
    max_size=25,
)


@pytest.mark.parametrize("learner", LEARNERS)
@given(steps=steps)
@examples(20)
def test_the_state_is_that_of_the_amended_stream(learner, steps):
    async def run():
        async with running(learner=learner, snapshot_keep=1) as (engine, _):
            options = engine.model.options
            history = History(engine)
            for name, *arguments in steps:
                await getattr(history, name)(*arguments)
            await history.rebuild()
            history.assert_rebuilt(options)

    asyncio.run(run())


async def test_events_undone_by_a_restore_are_not_learned_again():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a b -> x")
        snapshot = await engine.take_snapshot()
        await teach(engine, "a c -> y")
        await engine.restore(snapshot.seq)
        assert engine.history.find(2).is_undone
        assert [each.seq for each in engine.history.page(Filter(), 10).records] == [1]
        await teach(engine, "b c -> z")
        await engine.rebuild_state()
        expected = taught(engine.model.options, [learn("a b", "x"), learn("b c", "z")])
        assert content(engine.model) == content(expected)


async def test_what_is_taught_while_it_runs_is_in_the_state_too():
    async with running(learner="svm") as (engine, _):
        await teach(engine, *(f"f{n} g{n % 7} -> c{n % 5}" for n in range(300)))
        await engine.submit([Event.amend(1, learn("f0 g0", "c0").instance, ["c1"], ["c0"])])
        rebuild = asyncio.ensure_future(engine.rebuild_state())
        late = 0
        while not rebuild.done():
            await teach(engine, f"late{late} g1 -> c2")
            late += 1
            await asyncio.sleep(0.001)
        assert (await rebuild).corrected == 1
        assert late > 0
        events = [learn(f"f{n} g{n % 7}", "c1" if n == 0 else f"c{n % 5}") for n in range(300)]
        events += [learn(f"late{n} g1", "c2") for n in range(late)]
        assert content(engine.model) == content(taught(engine.model.options, events))


async def test_after_a_restart_the_state_is_the_rebuilt_one(tmp_path):
    store = SqliteStore(tmp_path / "a.db", lambda: 1.0)
    async with running(store, learner="svm") as (engine, _):
        await teach(engine, "a b -> x", "c d -> x", "e f -> y")
        await engine.submit([Event.amend(2, learn("c d", "x").instance, ["y"], ["x"])])
        await engine.rebuild_state()
        digest = engine.model.digest()
        await teach(engine, "g h -> x")
        later = engine.model.digest()
        assert len(engine.history.amendments) == 0
    assert digest != later
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), learner="svm") as (engine, _):
        assert engine.model.digest() == later
        assert len(engine.history.amendments) == 0
        assert [each.seq for each in engine.history.page(Filter(of_class="y"), 10).records] == [
            3,
            2,
        ]
        assert engine.history.find(2).classes == ["y"]


async def test_amendments_wait_over_a_restart(tmp_path):
    def opened():
        return SqliteStore(tmp_path / "a.db", lambda: 1.0)

    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, "a b -> x", "c d -> x")
        await engine.submit([Event.amend(2, learn("c d", "x").instance, ["y"], ["x"])])
    async with running(opened(), learner="svm") as (engine, _):
        assert len(engine.history.amendments) == 1
        assert engine.history.find(2).classes == ["y"]
        await engine.rebuild_state()
        expected = taught(engine.model.options, [learn("a b", "x"), learn("c d", "y")])
        assert content(engine.model) == content(expected)
    async with running(opened(), learner="svm") as (engine, _):
        assert content(engine.model) == content(expected)


async def test_nothing_of_a_deleted_event_is_left_in_the_files(tmp_path):
    path = tmp_path / "a.db"
    async with running(SqliteStore(path, lambda: 1.0), learner="svm", snapshot_keep=3) as (
        engine,
        _,
    ):
        await teach(engine, "a b -> x")
        text = "zzsecret went there"
        instance = Instance({"zzsecret": 1, "there": 1})
        event = Event.learn(instance, ["zzclass"], source="zzperson", text=text, reading=READING)
        [result] = await engine.submit([event])
        await teach(engine, "c d -> x")
        await engine.take_snapshot()
        await teach(engine, "e f -> y")
        await engine.take_snapshot()
        assert any(b"zzsecret" in each.read_bytes() for each in tmp_path.iterdir())
        await engine.submit([Event.amend(result.seq, instance, [], ["zzclass"])])
        assert (await engine.rebuild_state()).deleted == 1
        for each in tmp_path.iterdir():
            found = each.read_bytes()
            assert not any(word in found for word in (b"zzsecret", b"zzclass", b"zzperson")), each
        assert not engine.model.has_class("zzclass")
        assert engine.history.find(result.seq) is None


async def test_two_at_once_are_refused():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x")
        first = asyncio.ensure_future(engine.rebuild_state())
        await asyncio.sleep(0)
        with pytest.raises(RebuildRefused, match="under way"):
            await engine.rebuild_state()
        await first


async def test_a_stop_ends_a_rebuild_and_leaves_the_state():
    async with running(learner="svm") as (engine, _):
        await teach(engine, *(f"f{n} -> c{n % 3}" for n in range(50)))
        rebuild = asyncio.ensure_future(engine.rebuild_state())
        await asyncio.sleep(0.05)
        digest = engine.model.digest()
    with pytest.raises(RebuildRefused):
        await rebuild
    assert engine.model.digest() == digest


async def test_without_an_older_snapshot_a_part_is_learned_again():
    async with running(learner="svm") as (engine, store):
        await teach(engine, "a -> x", "b -> y")
        await engine.take_snapshot()
        store.delete_snapshot(0)
        await teach(engine, "c -> y")
        digest = engine.model.digest()
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (2, 1)
        assert engine.model.digest() == digest


async def test_events_of_the_base_are_not_learned_again_but_amendments_of_them_are(tmp_path):
    """A history that began later, for example after an upgrade."""
    path = tmp_path / "a.db"
    async with running(SqliteStore(path, lambda: 1.0), learner="svm", history=False) as (engine, _):
        await teach(engine, "a b -> x", "c d -> y")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events")
    connection.close()
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        assert engine.history.find(1) is None
        await teach(engine, "e f -> x")
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (2, 1)
        expected = [learn("a b", "x"), learn("c d", "y"), learn("e f", "x")]
        assert content(engine.model) == content(taught(Options.parse("svm"), expected))


async def test_above_its_limit_the_oldest_events_leave_and_the_rest_can_be_learned_again():
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner="svm", history_bytes=1, snapshot_keep=1) as (engine, _):
        for at in range(0, 40, 10):
            await teach(engine, *texts[at : at + 10])
            await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.recorder.deleted_events == 30
        assert [each.seq for each in engine.history.page(Filter(), 100).records] == [
            *range(40, 30, -1)
        ]
        assert engine.history.find(5) is None
        digest = engine.model.digest()
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (30, 10)
        assert content(engine.model) == content(
            taught(engine.model.options, [learn(*text.split(" -> ")) for text in texts])
        )
        assert engine.model.digest() == digest


async def test_events_do_not_leave_while_an_amendment_of_them_waits():
    async with running(learner="svm", history_bytes=1) as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.amend(1, learn("a").instance, ["y"], ["x"])])
        await engine.take_snapshot()
        await teach(engine, "c -> y")
        await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.find(1).classes == ["y"]
        await engine.rebuild_state()
        await teach(engine, "d -> y")
        await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.find(1) is None
        expected = [learn("a", "y"), learn("b", "y"), learn("c", "y"), learn("d", "y")]
        assert content(engine.model) == content(taught(engine.model.options, expected))


async def _rebuilt(engine):
    """Rebuild, after a rebuild that a merge has begun."""
    while engine.rebuild.is_running:
        await asyncio.sleep(0.01)
    await engine.rebuild_state()


@pytest.mark.parametrize("learner", [*LEARNERS, "oplt", "frequency"])
async def test_a_renamed_class_was_always_called_so(learner):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner=learner) as (engine, _):
        options = engine.model.options
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "k1")])
        await teach(engine, *texts[20:30])  # c1 stands for k1
        await engine.submit([Event.rename("k1", "one")])
        await teach(engine, *texts[30:])
        now = [learn(*text.replace("c1", "one").split(" -> ")) for text in texts]
        expected = content(taught(options, now))
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"c1": "one", "k1": "one"}
        assert (facts, arrays) == expected  # without a rebuild
        digest = Model.load(engine.model.dump()).digest()
        assert digest == engine.model.digest()
        await engine.rebuild_state()
        assert engine.model.digest() == digest
        assert engine.history.find(2).classes == ["one"]


@pytest.mark.parametrize("learner", [*LEARNERS, "oplt", "frequency"])
async def test_a_merged_class_was_always_the_other(learner):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner=learner) as (engine, _):
        options = engine.model.options
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "c2", merges=True)])
        assert not engine.model.has_class("c1")
        await teach(engine, *texts[20:])
        await _rebuilt(engine)
        now = [learn(*text.replace("c1", "c2").split(" -> ")) for text in texts]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"c1": "c2"}
        assert (facts, arrays) == content(taught(options, now))


async def test_a_class_may_get_its_former_name_again():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.rename("x", "z")])
        await engine.submit([Event.rename("z", "x")])
        await teach(engine, "a -> z")
        await engine.rebuild_state()
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"z": "x"}
        expected = [learn("a", "x"), learn("b", "y"), learn("a", "x")]
        assert (facts, arrays) == content(taught(engine.model.options, expected))


@pytest.mark.parametrize("merges", [True, False])
async def test_a_released_name_was_never_that_of_another_class(tmp_path, merges):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]

    def opened():
        return SqliteStore(tmp_path / "a.db", lambda: 1.0)

    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "c2" if merges else "k", merges)])
        await teach(engine, *texts[20:30])
        with pytest.raises(UnknownName, match="former name"):
            await engine.submit([Event.release("c2")])
        await engine.submit([Event.release("c1")])
        assert engine.model.aliases == {}
        assert engine.history.has_merged
    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, *texts[30:])
        await engine.rebuild_state()
        now = [learn(*text.split(" -> ")) for text in texts]
        assert content(engine.model) == content(taught(engine.model.options, now))
        assert engine.history.find(2).classes == ["c1"]


async def test_names_that_cannot_be_are_refused():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y", "c -> t")
        with pytest.raises(UnknownName):
            await engine.submit([Event.rename("nobody", "z")])
        with pytest.raises(RenameConflict, match="merge"):
            await engine.submit([Event.rename("x", "y")])
        await engine.submit([Event.place({"t": "top"})])
        with pytest.raises(RenameConflict, match="taxonomy"):
            await engine.submit([Event.rename("t", "z")])
        await engine.submit([Event.rename("x", "z")])
        with pytest.raises(UnknownName):
            await engine.submit([Event.rename("x", "w")])


async def test_a_trained_class_is_renamed_too(tmp_path):
    path = tmp_path / "a.db"
    with closing(SqliteStore(path, lambda: 1.0)) as store:
        trained = taught(Options.parse("svm"), [learn("a b", "x"), learn("c d", "y")])
        store.save_snapshot(2, trained.dump())
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        await teach(engine, "e f -> x")
        await engine.submit([Event.rename("x", "z")])
        await engine.rebuild_state()
        expected = [learn("a b", "z"), learn("c d", "y"), learn("e f", "z")]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"x": "z"}
        assert (facts, arrays) == content(taught(Options.parse("svm"), expected))


async def test_an_amended_event_that_the_base_has_learned_is_reported_as_such():
    async with running(learner="svm") as (engine, store):
        await teach(engine, "a -> x", "b -> y")
        await engine.take_snapshot()
        store.delete_snapshot(0)
        await teach(engine, "c -> y")
        await engine.submit([Event.amend(1, learn("a").instance, [], ["x"])])
        await engine.submit([Event.amend(3, learn("c").instance, ["x"], ["y"])])
        done = await engine.rebuild_state()
        assert (done.base, done.deleted, done.corrected, done.unreached) == (2, 0, 1, 1)
        assert engine.model.has_class("x")


# --- a learner that has all of the history --------------------------------------------------------


async def test_a_learner_of_a_rebuild_is_a_shadow_from_the_first_event_on():
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner="svm") as (engine, _):
        primary = engine.model.options
        await teach(engine, *texts[:20])
        await engine.submit([Event.amend(2, learn("f1 g1", "c1").instance, ["c9"], ["c1"])])
        await engine.submit([Event.rename("c2", "k2")])
        done = await engine.rebuild_state("pa(replay=4)")
        await teach(engine, *texts[20:])
        assert (done.base, done.corrected) == (0, 1)
        assert list(engine.model.shadows) == ["pa(replay=4)"]
        shadow = Options.parse("pa(replay=4)", **limits_of(primary))
        texts[1] = "f1 g1 -> c9"
        now = [learn(*text.replace("c2", "k2").split(" -> ")) for text in texts]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"c2": "k2"}
        assert facts.pop("whole") == ["pa(replay=4)"]
        assert (facts, arrays) == content(taught(ModelSet(primary, (shadow,)), now))


@pytest.mark.parametrize("promotes", [True, False])
async def test_later_rebuilds_keep_what_a_learner_has_learned_of_the_history(tmp_path, promotes):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), history_bytes=1) as (engine, _):
        await teach(engine, *texts[:20])
        await engine.rebuild_state("pa")
        if promotes:
            await engine.submit([Event.promote("pa")])
        await teach(engine, *texts[20:])
        await engine.rebuild_state("ff")
        labels = ["pa", "svm", "ff"] if promotes else ["svm", "pa", "ff"]
        assert [each.label for each in engine.model.enrolled] == labels
        for _ in range(2):
            await engine.submit([Event.amend(2, learn("f1 g1", "c1").instance, ["c9"], ["c1"])])
            await engine.rebuild_state()
            assert [each.label for each in engine.model.enrolled] == labels
            assert [each.learner.learned for each in engine.model.enrolled] == [40, 40, 40]
            assert [each.progress.examples for each in engine.model.enrolled] == [40, 40, 40]
        await engine.take_snapshot()
        await ticked(engine)  # the oldest events leave the history: the base moves on
        await engine.rebuild_state()
        assert [each.learner.learned for each in engine.model.enrolled] == [40, 40, 40]
        digest = engine.model.digest()
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0)) as (engine, _):
        assert engine.model.digest() == digest
        assert engine.model.whole == {"pa", "ff"}


async def test_of_two_rebuilds_at_once_the_refused_one_changes_nothing():
    async with running() as (engine, _):
        await teach(engine, *(f"f{n} -> c{n % 5}" for n in range(20)))
        asked = [engine.rebuild_state(name) for name in ("pa", "ema", "arow")]
        first, *others = await asyncio.gather(*asked, return_exceptions=True)
        assert first.events >= 20
        assert all(isinstance(each, RebuildRefused) for each in others)
        assert list(engine.model.shadows) == ["pa"]
        assert engine.model.shadows["pa"].learner.learned == 20


async def test_a_shadow_that_began_later_has_all_events_after_a_rebuild(tmp_path):
    """It joined, left and joined again; the primary had other options in between."""

    def opened():
        return SqliteStore(tmp_path / "a.db", lambda: 1.0)

    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    begins = [
        {"learner": "svm"},
        {"learner": "svm(replay=1)", "shadows": ("ff", "pa")},
        {"learner": "svm(replay=1)", "shadows": ("pa",)},
        {"learner": "svm(replay=1)", "shadows": ("pa", "ff")},
    ]
    for at, chosen in enumerate(begins):
        async with running(opened(), reconfigure=True, **chosen) as (engine, _):
            await teach(engine, *texts[10 * at : 10 * at + 10])
    async with running(opened()) as (engine, _):
        assert engine.model.shadows["ff"].learner.learned == 10
        before = engine.model.learner.learned, engine.model.shadows["pa"].learner.learned
        await engine.rebuild_state("ff")
        shadows = engine.model.shadows
        assert (engine.model.learner.learned, shadows["pa"].learner.learned) == before
        events = [learn(*each.split(" -> ")) for each in texts]
        alone = taught(shadows["ff"].learner.options, events)
        dumps = [
            {name: bytes(array) for name, array in learner.dump().items()}
            for learner in (shadows["ff"].learner, alone.learner)
        ]
        assert dumps[0] == dumps[1]
        assert shadows["ff"].progress.examples == 40
        digest = engine.model.digest()
    async with running(opened()) as (engine, _):
        assert engine.model.digest() == digest


async def test_the_primary_and_a_learner_beside_named_shadows_are_refused():
    async with running(learner="svm", shadows=("pa",)) as (engine, _):
        await teach(engine, "a -> x")
        with pytest.raises(RebuildRefused, match="primary"):
            await engine.rebuild_state("svm")
        with pytest.raises(RebuildRefused, match="MANYCLASS_SHADOWS"):
            await engine.rebuild_state("ff")
        with pytest.raises(OptionError):
            await engine.rebuild_state("ff(no_such=1)")
        assert list(engine.model.shadows) == ["pa"]
        assert engine.rebuild.failures == 0
        assert (await engine.rebuild_state("pa")).events == 2  # with the one that names it


async def test_without_memory_no_learner_joins(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x")
        with pytest.raises(MemoryShort):
            await engine.rebuild_state("ff")
        assert engine.model.shadows == {}

"""A learner that begins with a rebuild has all of the history."""

import asyncio

import pytest

from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.service.config.learners import limits_of
from manyclass.service.errors import MemoryShort, RebuildRefused
from manyclass.service.history import memory
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.engines import running, teach, ticked
from tests.service.faulty import learn
from tests.service.history.amending import (
    content,
    taught,
)


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
        assert facts.pop("chosen") == ModelSet(primary).to_dict()
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


async def test_the_primary_is_refused_and_a_learner_beside_named_shadows_is_added():
    async with running(learner="svm", shadows=("pa",)) as (engine, _):
        await teach(engine, "a -> x")
        with pytest.raises(OptionError, match="primary"):
            await engine.rebuild_state("svm")
        with pytest.raises(OptionError):
            await engine.rebuild_state("ff(no_such=1)")
        assert list(engine.model.shadows) == ["pa"]
        assert engine.rebuild.failures == 0
        assert (await engine.rebuild_state("pa")).events == 2  # with the one that names it
        await engine.rebuild_state("ff")
        assert list(engine.model.shadows) == ["pa", "ff"]


async def test_a_learner_of_the_history_stays_in_spite_of_its_former_removal():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x")
        await engine.add_shadow("pa")
        await teach(engine, "b -> y")
        await engine.remove_shadow("pa")
        await engine.add_shadow("ff")
        await teach(engine, "a -> x")
        await engine.rebuild_state("pa")
        assert [each.learner.learned for each in engine.model.enrolled] == [3, 3, 1]
        assert engine.model.model_set.labels == ["svm", "pa", "ff"]
        await engine.remove_shadow("pa")
        await engine.rebuild_state()
        assert engine.model.model_set.labels == ["svm", "ff"]
        assert engine.model.chosen.labels == ["svm"]


async def test_a_history_of_too_many_learners_at_once_is_refused(monkeypatch):
    """The shadow that learns the history had no place beside all that were there once."""
    async with running(learner="svm") as (engine, _):
        names = [f"pa(replay={n})" for n in range(1, 16)]
        for name in names:
            await engine.add_shadow(name)
        await teach(engine, "a -> x")
        for name in names[:2]:
            await engine.remove_shadow(name)
        with pytest.raises(RebuildRefused, match="more learners at once"):
            await engine.rebuild_state("ff")
        assert engine.model.model_set.labels == ["svm", *names[2:], "ff"]


async def test_without_memory_no_learner_joins(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x")
        with pytest.raises(MemoryShort):
            await engine.rebuild_state("ff")
        assert engine.model.shadows == {}

"""The learners and options of an engine: of the settings, of the store, or refused."""

import asyncio

import pytest

from manyclass.core.errors import OptionError, UnknownName
from manyclass.core.event import Event
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.errors import MemoryShort
from manyclass.service.history import memory
from manyclass.service.store.errors import StoreUnavailable
from tests.service.engines import engine_threads
from tests.service.faulty import learn


async def test_other_options_than_the_stored_ones_are_refused(store, start):
    engine = await start(store, learner="svm(rating=3)")
    await engine.submit([learn("a", "x")])
    await engine.close()
    before = engine_threads()
    other = await start(store, learner="svm(rating=4,tfidf=no)")
    assert other.status == "failed"
    for part in (
        "rating is 3 in the store and 4 in the settings",
        "tfidf is True",
        "start with MANYCLASS_LEARNER='svm(rating=3)' MANYCLASS_SHADOWS='none'",
        "or with --reconfigure",
    ):
        assert part in other.failure
    assert engine_threads() == before
    await other.close()
    assert store.last_seq == 1
    same = await start(store, learner="svm(rating=3)")
    assert same.status == "ready"


async def test_other_options_are_taken_on_when_that_is_asked_for(store, start):
    engine = await start(store, learner="svm(rating=3)")
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await start(store, learner="svm(rating=4)", reconfigure=True)
    assert engine.model.options.rating == 4
    assert engine.model.seq == 2
    # killed: the change is an event, so it is durable
    again = await start(store, learner="svm(rating=4)")
    assert (again.status, again.model.seq) == ("ready", 2)
    assert again.model.digest() == engine.model.digest()


async def test_equal_options_append_no_event(store, start):
    await start(store, reconfigure=True)
    assert store.last_seq == 0


async def test_options_that_cannot_be_stored_fail_the_start(store, start):
    await (await start(store, learner="svm(rating=3)")).close()
    store.append_error = StoreUnavailable("away")
    before = engine_threads()
    engine = await start(store, learner="svm(rating=4)", reconfigure=True)
    assert (engine.status, engine.failure) == ("failed", "the store is not available: away")
    assert engine_threads() == before


# --- learners -------------------------------------------------------------------------------------


def labels(engine):
    assert engine.status == "ready", engine.failure
    return engine.model.model_set.labels


async def test_a_shadow_learns_what_comes_and_is_there_again(store, start):
    engine = await start(store, shadows=("pa",))
    await engine.submit([learn("a", "x"), learn("a b", "y")])
    assert [each.learner.learned for each in engine.model.enrolled] == [2, 2]
    again = await start(store, shadows=("pa",))  # killed: replayed from the log
    assert again.model.digest() == engine.model.digest()


async def test_a_promoted_learner_answers_after_a_restart_with_old_settings(store, start, caplog):
    engine = await start(store, shadows=("pa", "ff(rating=0)"))
    await engine.submit([learn("a", "x")])
    await engine.submit([Event.promote("pa")])
    for reconfigure in (False, True):
        caplog.clear()
        again = await start(store, shadows=("pa", "ff(rating=0)"), reconfigure=reconfigure)
        assert labels(again) == ["pa", "svm", "ff(rating=0)"]
        assert again.model.digest() == engine.model.digest()
        assert (
            "the primary learner is pa, because it was promoted; the settings name svm"
            in caplog.text
        )
    caplog.clear()
    tidied = await start(store, learner="pa", shadows=("ff(rating=0)", "svm"))
    assert labels(tidied) == ["pa", "svm", "ff(rating=0)"]
    assert "promoted" not in caplog.text


async def test_a_start_that_names_no_learner_goes_on_with_those_that_are_stored(store, start):
    engine = await start(store, learner="pa(replay=2)", shadows=("ema",))
    await engine.submit([learn("a", "x")])
    again = await start(store)
    assert labels(again) == ["pa(replay=2)", "ema"]
    assert again.model.digest() == engine.model.digest()
    other = await start(store, learner="pa(negatives=2,replay=2)", reconfigure=True)
    assert labels(other) == ["pa(negatives=2,replay=2)", "ema"]
    again_other = await start(store)
    assert labels(again_other) == ["pa(negatives=2,replay=2)", "ema"]
    named = await start(store, learner="pa")  # a name alone accepts any learner of this name
    assert labels(named) == ["pa(negatives=2,replay=2)", "ema"]
    refused = await start(store, learner="pa(replay=3)")  # the other options have their defaults
    assert refused.status == "failed"
    stored = "MANYCLASS_LEARNER='pa(negatives=2,replay=2)' MANYCLASS_SHADOWS='ema'"
    assert f"start with {stored} and no other limits, or with --reconfigure" in refused.failure
    replaced = await start(store, learner="svm")
    assert "'svm' cannot take the place of 'pa(negatives=2,replay=2)'" in replaced.failure


async def test_other_shadows_than_the_stored_ones_are_refused(store, start):
    await (await start(store, shadows=("pa", "ema"))).close()
    other = await start(store, shadows=("ema", "pa(negatives=2)"))
    assert other.status == "failed"
    differ = "shadows is 'pa,ema' in the store and 'ema,pa(negatives=2)' in the settings"
    assert differ in other.failure
    await other.close()
    same = await start(store, shadows=("ema", "pa"))  # in any order
    assert labels(same) == ["svm", "pa", "ema"]


async def test_shadows_come_and_go_when_that_is_asked_for(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await start(store, shadows=("pa", "ema"), reconfigure=True)
    assert labels(engine) == ["svm", "pa", "ema"]
    assert [each.learner.learned for each in engine.model.enrolled] == [1, 0, 0]
    await engine.submit([learn("a", "x"), Event.promote("pa")])
    await engine.close()
    # one shadow is added and one removed; the primary stays, in spite of LEARNER
    engine = await start(store, shadows=("arow", "pa"), reconfigure=True)
    assert labels(engine) == ["pa", "arow", "svm"]
    assert [each.learner.learned for each in engine.model.enrolled] == [1, 0, 2]
    killed = await start(store, shadows=("arow", "pa"))
    assert killed.model.digest() == engine.model.digest()


@pytest.mark.parametrize("reconfigure", [False, True])
async def test_another_learner_does_not_answer_before_it_has_learned(store, start, reconfigure):
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await start(store, learner="pa", reconfigure=reconfigure)
    assert engine.status == "failed"
    assert "add 'pa' to the shadows, and promote it" in engine.failure
    assert "another store" in engine.failure
    await engine.close()
    assert store.last_seq == 1


async def test_any_learner_may_begin_where_nothing_was_learned(store, start):
    await (await start(store)).close()
    engine = await start(store, learner="svm", shadows=("pa",))
    assert "--reconfigure" in engine.failure
    await engine.close()
    engine = await start(store, learner="svm", shadows=("pa",), reconfigure=True)
    assert engine.model.model_set.labels == ["svm", "pa"]
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    await engine.close()
    engine = await start(store, learner="svm", shadows=("pa",))
    assert engine.model.digest() == digest


async def test_a_log_without_a_snapshot_is_not_replayed_until_its_learner_and_text_are_named(
    store, start
):
    engine = await start(store, learner="svm", text=DEFAULT_TEXT)
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    await engine.close()
    for info in store.snapshots():
        store.delete_snapshot(info.seq)
    for named in ({}, {"learner": "svm"}, {"text": DEFAULT_TEXT}):
        engine = await start(store, **named)
        assert "set MANYCLASS_LEARNER, MANYCLASS_SHADOWS" in engine.failure
        assert "MANYCLASS_SHADOWS and MANYCLASS_TEXT" in engine.failure
        await engine.close()
    engine = await start(store, learner="svm", text=DEFAULT_TEXT)
    assert engine.model.digest() == digest


# --- added and removed by calls -------------------------------------------------------------------


@pytest.mark.parametrize("chosen", [{}, {"learner": "svm", "shadows": ("pa",)}, {"shadows": ()}])
async def test_learners_stay_as_calls_have_changed_them(store, start, chosen):
    engine = await start(store, **chosen)
    await engine.submit([learn("a", "x")])
    assert await engine.add_shadow("ff(rating=0)") == (2, "ff(rating=0)")
    for shadow in chosen.get("shadows", ()):
        await engine.remove_shadow(shadow)
    await engine.submit([learn("a b", "y")])
    assert engine.model.shadows["ff(rating=0)"].learner.learned == 1
    last = store.last_seq
    for reconfigure in (False, True):
        again = await start(store, reconfigure=reconfigure, **chosen)  # killed
        assert labels(again) == ["svm", "ff(rating=0)"]
        assert again.model.digest() == engine.model.digest()
        await again.close()  # with a snapshot
    promoted = await start(store, **chosen)
    await promoted.submit([Event.promote("ff(rating=0)")])
    await promoted.remove_shadow("svm")
    again = await start(store, **chosen)
    assert labels(again) == ["ff(rating=0)"]
    assert store.last_seq == last + 2


async def test_changed_settings_are_refused_after_calls_changed_the_learners(store, start):
    engine = await start(store, shadows=("pa",))
    await engine.submit([learn("a", "x")])
    await engine.add_shadow("ff")
    for changed in ({"shadows": ("ema",)}, {"shadows": ("pa",), "max_classes": 9}):
        refused = await start(store, **changed)
        assert "start with MANYCLASS_LEARNER='svm' MANYCLASS_SHADOWS='pa,ff'" in refused.failure
    changed = await start(store, shadows=("ema", "ff"), reconfigure=True)
    assert labels(changed) == ["svm", "ema", "ff"]
    again = await start(store, shadows=("pa",))
    assert "shadows is 'ema,ff' in the store and 'pa' in the settings" in again.failure


async def test_settings_that_take_over_the_changes_are_compared_from_then_on(store, start):
    engine = await start(store, shadows=("pa",))
    await engine.add_shadow("ff")
    taken = await start(store, shadows=("pa", "ff"))
    assert (labels(taken), taken.model.chosen, store.last_seq) == (["svm", "pa", "ff"], None, 2)
    await taken.remove_shadow("ff")
    again = await start(store, shadows=("pa", "ff"))
    assert labels(again) == ["svm", "pa"]


async def test_a_restore_keeps_the_changes(store, start):
    engine = await start(store, shadows=("pa",))
    await engine.submit([learn("a", "x")])
    taken = await engine.take_snapshot()
    await engine.add_shadow("ff")
    await engine.remove_shadow("pa")
    await engine.restore(taken.seq)
    assert labels(engine) == ["svm", "ff"]
    again = await start(store, shadows=("pa",))
    assert labels(again) == ["svm", "ff"]
    await again.add_shadow("pa")  # the learners of the snapshot, with others of the settings
    await again.remove_shadow("ff")
    await again.restore(taken.seq)
    assert again.model.chosen.labels == ["svm", "pa"]
    assert labels(await start(store, shadows=("pa",))) == ["svm", "pa"]


async def test_learners_that_cannot_be_added_or_removed(store, start, monkeypatch):
    engine = await start(store)
    for name in ("svm", "svm()"):
        with pytest.raises(OptionError, match="'svm' is the primary learner already"):
            await engine.add_shadow(name)
    with pytest.raises(OptionError, match="promote another one first"):
        await engine.remove_shadow("svm")
    with pytest.raises(UnknownName, match="no learner is named 'pa'"):
        await engine.remove_shadow("pa")
    for n in range(1, 16):
        await engine.add_shadow(f"pa(replay={n})")
    assert await engine.add_shadow("pa( replay=3 )") == (15, "pa(replay=3)")  # it is there
    with pytest.raises(OptionError, match="15 at most, not 16: remove one first"):
        await engine.add_shadow("ema")
    await engine.remove_shadow("pa(replay=1)")
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with pytest.raises(MemoryShort, match="another learner needs about"):
        await engine.add_shadow("ema")
    assert store.last_seq == 16
    events = [
        Event.configure({"removed": "pa(replay=2)"}),
        Event.configure({"removed": "pa(replay=2)"}),
    ]
    await engine.submit(events)  # the second had no effect
    assert len(engine.model.shadows) == 13


async def test_of_two_shadows_for_the_last_place_one_is_refused(store, start):
    engine = await start(store)
    for n in range(1, 15):
        await engine.add_shadow(f"pa(replay={n})")
    adding = [engine.add_shadow(name) for name in ("ema", "arow")]
    first, second = await asyncio.gather(*adding, return_exceptions=True)
    assert first == (15, "ema")
    assert isinstance(second, OptionError)
    assert list(engine.model.shadows)[-1] == "ema"

"""A rebuild under another analysis of texts: the state is that of a service begun with it."""

import asyncio
from random import Random

import pytest

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT, Reading, TextAnalysis
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import SettingError, Settings
from manyclass.service.engine import Engine
from manyclass.service.errors import MemoryShort, RebuildRefused
from manyclass.service.history import memory
from manyclass.service.history.reader import Filter
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.engines import recovered, running
from tests.service.faulty import Clock
from tests.service.history.amending import content, taught

WIDE = TextAnalysis.parse("words+pairs+characters+unmarked+symbols")
WORDS = TextAnalysis()
MOST = 100
WORD_LIST = [
    *(
        "the",
        "goalie",
        "saved",
        "café",
        "c++",
        "naïve",
        "İstanbul",
        "हिन्दी",
        "東京都",
        "👍🏽",
        "x1",
    ),
    *("мяч", "שָׁלוֹם", "ﬁle", "co\u00adoperate", "match", "lost", "card", "refund", "again"),
]
LEARNERS = [
    "svm",
    "pa(max_classes=4,max_features=40)",
    "svm(replay=4)",
    "committee(members=pa+svm)",
]


def text_event(text, classes, by=DEFAULT_TEXT, most=MOST, **more):
    """Return the event of a text that this analysis has read."""
    read = by.instance_of(text, most)
    return Event.learn(read.instance, classes.split(), text=text, reading=read.reading, **more)


def drawn_events(count, by, seed=1):
    """Return events of texts, of fields, of features, with ids, weights and wrong classes."""
    random = Random(seed)
    events = []
    for number in range(count):
        text = " ".join(random.choices(WORD_LIST, k=random.randrange(1, 9)))
        classes = f"c{random.randrange(7)}"
        match number % 6:
            case 0:
                event = Event.learn(Instance({text[:3]: 1.5}), [classes])
            case 1:
                event = text_event({"title": text[:9], "body": text}, classes, by)
            case 2:
                event = text_event(text, classes, by, event_id=f"e{number}", fingerprint=number)
            case 3:
                event = text_event(text, classes, by, weight=2.5, rejected=["c9"])
            case 4:
                event = text_event(text, classes, by, most=3, instance_id="q", source="ann")
            case _:
                event = text_event(text, classes, by)
        events.append(event)
    return events


def batch_of(*texts, by=DEFAULT_TEXT):
    batch = EventBatch()
    for text, name in texts:
        read = by.instance_of(text, MOST)
        batch.add(read.instance, [name], text=text, reading=read.reading)
    return batch


def state_of(engine):
    return b"".join(bytes(each) for each in engine.model.dump())


def taught_by(text, options, events):
    model = Model(options, text=text)
    for seq, event in enumerate(events, start=1):
        model.apply(seq, event)
    return model


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("text", [WIDE, WORDS])
async def test_the_state_is_byte_for_byte_that_of_a_service_begun_with_it(learner, text):
    async with running(learner=learner) as (engine, _):
        await engine.submit(drawn_events(240, DEFAULT_TEXT))
        done = await engine.rebuild_state(text=text)
        assert (done.events, done.text) == (240, str(text))
        async with running(learner=learner, text=text) as (begun, _):
            await begun.submit(drawn_events(240, text))
            assert state_of(engine) == state_of(begun)


async def test_the_same_analysis_is_an_ordinary_rebuild_and_another_one_can_come_back():
    async with running(learner="svm") as (engine, _):
        await engine.submit(drawn_events(60, DEFAULT_TEXT))
        before = state_of(engine)
        for text in (DEFAULT_TEXT, WIDE, WIDE, None, DEFAULT_TEXT):
            await engine.rebuild_state(text=text)
        assert state_of(engine) == before


async def test_what_is_learned_meanwhile_and_read_before_is_read_again():
    """Some of it is in the log before the new state takes over, and some comes after."""
    async with running(learner="svm") as (engine, _):
        await engine.submit(drawn_events(30, DEFAULT_TEXT))
        relearning, loop = engine.rebuild._relearning, asyncio.get_running_loop()
        late = [("a late café", "c1"), ("c++ again", "c2")]

        def meanwhile(call):
            def made(*arguments):
                found = call(*arguments)
                alone = engine.submit([text_event("goalie lost", "c1")])
                asyncio.run_coroutine_threadsafe(alone, loop).result(30)
                asyncio.run_coroutine_threadsafe(together(), loop).result(30)
                return found

            return made

        async def together():
            await engine.admit_batch(batch_of(*late))

        relearning.learn = meanwhile(relearning.learn)
        relearning.catch_up = meanwhile(relearning.catch_up)
        await engine.rebuild_state(text=WIDE)
        assert engine.model.text == WIDE
        await engine.submit([text_event("saved by the goalie", "c3")])
        await engine.admit_batch(batch_of(*late))
        expected = drawn_events(30, WIDE)
        for _ in range(2):
            expected.append(text_event("goalie lost", "c1", WIDE))
            expected += [text_event(text, name, WIDE) for text, name in late]
        expected.append(text_event("saved by the goalie", "c3", WIDE))
        expected += [text_event(text, name, WIDE) for text, name in late]
        async with running(learner="svm", text=WIDE) as (begun, _):
            await begun.submit(expected)
            assert state_of(engine) == state_of(begun)


async def test_a_restart_reads_the_log_by_the_analysis_of_the_newest_state(tmp_path):
    store = SqliteStore(tmp_path / "a.db", lambda: 1.0)
    async with running(store, learner="svm") as (engine, _):
        await engine.submit(drawn_events(30, DEFAULT_TEXT))
        await engine.rebuild_state(text=WIDE)
        await engine.submit([text_event("read before", "c1"), text_event("and after", "c2", WIDE)])
        await engine.admit_batch(batch_of(("in a batch", "c1")))
        state = state_of(engine)
        copied = recovered(store)  # from the snapshot of the rebuild, and the log behind it
        assert b"".join(bytes(each) for each in copied.dump()) == state
    again = SqliteStore(tmp_path / "a.db", lambda: 1.0)
    async with running(again) as (engine, _):
        assert state_of(engine) == state
        assert (await engine.rebuild_state()).text == str(WIDE)
        assert state_of(engine) == state


async def test_a_start_with_the_former_setting_says_how_to_change(tmp_path, caplog):
    store = SqliteStore(tmp_path / "a.db", lambda: 1.0)
    async with running(store, text=WORDS, learner="svm") as (engine, _):
        await engine.submit(drawn_events(6, WORDS))
        await engine.rebuild_state(text=WIDE)
    assert (
        f"the next start will be refused: MANYCLASS_TEXT='words': the store has learned with {WIDE}"
        in (caplog.text)
    )
    refused = Engine(
        Settings(text=WORDS), Cluster(SqliteStore(tmp_path / "a.db", lambda: 1.0)), Clock()
    )
    caplog.clear()
    await refused.start()
    assert "the next start" not in caplog.text  # this one is
    assert isinstance(refused.cause, SettingError)
    assert f"start with MANYCLASS_TEXT={WIDE} or without it" in refused.failure
    assert "`manyclass rebuild --text words` then changes the store to words" in refused.failure
    await refused.close()
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), text=WIDE) as (engine, _):
        assert engine.model.text == WIDE


async def test_a_restore_of_a_snapshot_of_another_analysis_warns_of_the_next_start(
    tmp_path, caplog
):
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), learner="svm") as (engine, _):
        await engine.submit(drawn_events(6, DEFAULT_TEXT))
        await engine.rebuild_state(text=WIDE)
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), text=WIDE) as (engine, _):
        assert "the next start will be refused" not in caplog.text
        await engine.restore(0)
        assert engine.model.text == DEFAULT_TEXT
    assert f"the next start will be refused: MANYCLASS_TEXT='{WIDE}'" in caplog.text


async def test_a_restore_of_a_snapshot_from_before_gives_the_former_analysis_again():
    async with running(learner="svm", snapshot_keep=9) as (engine, _):
        await engine.submit(drawn_events(30, DEFAULT_TEXT))
        await engine.rebuild_state(text=WIDE)
        assert [each.seq for each in await engine.snapshots()] == [30, 0]
        await engine.restore(0)
        assert engine.model.text == DEFAULT_TEXT
        events = [text_event("read before", "c1", WIDE), text_event("and after", "c2")]
        await engine.submit(events)
        now = [text_event("read before", "c1"), events[1]]
        assert content(engine.model) == content(taught(engine.model.options, now))
        await engine.restore(30)
        assert engine.model.text == WIDE
        await engine.submit(events)
        wide = [*drawn_events(30, WIDE), events[0], text_event("and after", "c2", WIDE)]
        options = engine.model.options
        assert content(engine.model) == content(taught_by(WIDE, options, wide))
        await engine.rebuild_state(text=DEFAULT_TEXT)
        again = [*drawn_events(30, DEFAULT_TEXT), *now]
        assert content(engine.model) == content(taught(options, again))


@pytest.mark.parametrize("when", ["before", "after"])
async def test_corrections_and_deletions_are_of_what_the_state_has_learned(when):
    """An event of the former analysis is taken out of the replayed ones by its present features."""
    async with running(learner="svm(replay=4)") as (engine, _):
        await engine.submit(drawn_events(30, DEFAULT_TEXT))
        expected = drawn_events(30, WIDE)

        async def amend():
            records = [engine.history.find(seq) for seq in (6, 12)]
            for record, classes in zip(records, (["c5"], []), strict=True):
                event = record.event.read_by(engine.model.text)
                given = event.text, event.reading
                amendment = Event.amend(
                    record.seq, event.instance, classes, record.classes, 1, None, 0, *given
                )
                await engine.submit([amendment])

        if when == "before":
            await amend()
            await engine.rebuild_state(text=WIDE)
        else:
            await engine.rebuild_state(text=WIDE)
            await amend()
            async with running(learner="svm(replay=4)", text=WIDE) as (begun, _):
                await begun.submit(expected)
                amendments = [
                    Event.amend(6, expected[5].instance, ["c5"], expected[5].classes),
                    Event.amend(12, expected[11].instance, [], expected[11].classes),
                ]
                await begun.submit(amendments)
                assert content(engine.model) == content(begun.model)
            await engine.rebuild_state()
        corrected = text_event(expected[5].text, "c5", WIDE)
        expected[5:12] = [corrected, *expected[6:11]]
        options = engine.model.options
        assert content(engine.model) == content(taught_by(WIDE, options, expected))


async def test_an_amendment_of_the_former_analysis_is_read_again():
    async with running(learner="svm(replay=4)", text=WIDE) as (engine, _):
        event = text_event("a c++ café", "c1", WIDE)
        await engine.submit([event, text_event("another one", "c2", WIDE)])
        narrow = text_event("a c++ café", "c1")
        amendment = Event.amend(
            1, narrow.instance, ["c2"], ["c1"], text=narrow.text, reading=narrow.reading
        )
        assert Event.from_bytes(bytes(amendment)) == amendment
        await engine.submit([amendment])
        async with running(learner="svm(replay=4)", text=WIDE) as (other, _):
            await other.submit([event, text_event("another one", "c2", WIDE)])
            await other.submit([Event.amend(1, event.instance, ["c2"], ["c1"])])
            assert state_of(engine) == state_of(other)


# --- what cannot be read --------------------------------------------------------------------------


def untold(text, classes, by=DEFAULT_TEXT):
    """Return the event of a text that was not kept."""
    read = by.instance_of(text, MOST)
    return Event.learn(read.instance, [classes], reading=read.reading)


async def test_texts_that_were_not_kept_are_named_and_can_be_deleted():
    async with running(learner="svm") as (engine, _):
        await engine.submit(drawn_events(10, DEFAULT_TEXT))
        await engine.submit([untold("gone a", "c1"), untold("gone b", "c2"), untold("!!", "c1")])
        before = state_of(engine)
        with pytest.raises(RebuildRefused) as caught:
            await engine.rebuild_state(text=WIDE)
        assert str(caught.value).startswith(
            "2 events were made from a text that was not kept, as with MANYCLASS_HISTORY=no, and"
            f" `{WIDE}` would have to analyse it: seq:11, seq:12. Delete each (`manyclass"
            " events delete seq:11`"
        )
        assert f"starts with MANYCLASS_TEXT={WIDE}" in str(caught.value)
        with pytest.raises(RebuildRefused, match="2 events were made from a text"):
            await engine.rebuild_state(learner="ff", text=WIDE)
        assert state_of(engine) == before  # it has no shadow
        await engine.rebuild_state()  # the analysis is theirs
        assert state_of(engine) == before
        for seq in (11, 12):
            record = engine.history.find(seq)
            await engine.submit([Event.amend(seq, record.event.instance, [], record.classes)])
        await engine.rebuild_state(text=WIDE)
        expected = [*drawn_events(10, WIDE), untold("!!", "c1", WIDE)]
        options = engine.model.options
        assert content(engine.model) == content(taught_by(WIDE, options, expected))


async def test_an_unkept_text_that_comes_meanwhile_ends_the_rebuild():
    async with running(learner="svm") as (engine, _):
        await engine.submit(drawn_events(10, DEFAULT_TEXT))
        relearning, loop = engine.rebuild._relearning, asyncio.get_running_loop()
        learns = relearning.learn

        def meanwhile(*arguments):
            found = learns(*arguments)
            taught = engine.submit([untold("gone", "c1")])
            asyncio.run_coroutine_threadsafe(taught, loop).result(30)
            return found

        relearning.learn = meanwhile
        with pytest.raises(RebuildRefused, match=r"1 event was made from .* not kept.* seq:11"):
            await engine.rebuild_state(text=WIDE)
        assert engine.model.text == DEFAULT_TEXT


def test_an_unkept_text_has_no_features_under_another_analysis():
    """Nothing is taught by a guess."""
    event = untold("a b", "c1")
    assert event.read_by(DEFAULT_TEXT) is event
    other = event.read_by(WIDE)
    assert (len(other.instance), other.reading) == (0, Reading(WIDE, MOST))
    assert Event.from_bytes(bytes(other)) == other
    assert not Event.is_readable(bytes(event), WIDE)
    assert Event.is_readable(bytes(event), DEFAULT_TEXT)
    assert Event.is_readable(bytes(text_event("a b", "c1")), WIDE)
    assert Event.is_readable(bytes(Event.learn(Instance(["a"]), ["x"], source="s")), WIDE)
    assert Event.is_readable(b"", WIDE)


async def test_a_state_that_was_taught_before_the_history_is_refused():
    trained = Model(Options.parse("svm"))
    trained.apply(1, text_event("a b", "x"))
    async with running(learner="svm", snapshot_keep=1) as (engine, store):
        await engine.submit(drawn_events(10, DEFAULT_TEXT))
        await engine.take_snapshot()
        await engine.submit(drawn_events(12, DEFAULT_TEXT)[10:])
        engine.history.recorder.pack(10)
        engine.history.recorder.drop(10)
        await engine.submit([untold("gone", "c1")])  # deleting this event would not help
        store.delete_snapshot(0)
        before = state_of(engine)
        with pytest.raises(RebuildRefused) as caught:
            await engine.rebuild_state(text=WIDE)
        assert str(caught.value) == (
            "the history begins with the state at event 10, which has learned with another text"
            f" analysis than {WIDE}: teach a new store that starts with MANYCLASS_TEXT={WIDE}"
        )
        assert state_of(engine) == before


async def test_memory_has_to_be_there_for_the_features_of_the_other_analysis(monkeypatch):
    async with running(learner="svm", text=WORDS) as (engine, _):
        await engine.submit(drawn_events(200, WORDS))
        present = engine.model.learner.resident_bytes
        monkeypatch.setattr(memory, "available_bytes", lambda: 2 * memory.STATES * present)
        before = state_of(engine)
        with pytest.raises(MemoryShort):
            await engine.rebuild_state(learner="ff", text=WIDE)
        assert state_of(engine) == before
        await engine.rebuild_state()


async def test_the_history_shows_what_was_sent():
    async with running(learner="svm") as (engine, _):
        events = drawn_events(12, DEFAULT_TEXT)
        await engine.submit(events)
        await engine.rebuild_state(text=WIDE)
        found = engine.history.page(Filter(), 100, 0, False).records
        assert [each.event.text for each in found] == [each.text for each in events]

"""The events that a rebuild reads, while snapshots trim the log, and behind a restore."""

import asyncio
import io

import pytest

from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.history import rebuilder, recorder
from manyclass.service.store.errors import LogTrimmed
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.engines import running, teach
from tests.service.faulty import learn
from tests.service.history.amending import content, taught


def _repeated(name):
    """Return an event that is sent twice."""
    return learn(f"{name} g1", "c2", name)


@pytest.mark.parametrize("on_disk", [True, False])
async def test_a_log_that_snapshots_trim_while_it_runs_is_read_from_the_history(tmp_path, on_disk):
    store = SqliteStore(tmp_path / "a.db", lambda: 1.0) if on_disk else None
    async with running(store, learner="svm", snapshot_keep=1) as (engine, store):
        await teach(engine, *(f"f{n} g{n % 7} -> c{n % 5}" for n in range(300)))
        await engine.submit([Event.amend(1, learn("f0 g0", "c0").instance, ["c1"], ["c0"])])
        relearning, late = engine.rebuild._relearning, []

        async def goes_on(name):
            late.append(_repeated(name))
            for _ in range(2):  # a retry has no effect, also when a segment holds it
                await engine.submit([_repeated(name)])
            await engine.take_snapshot()
            with pytest.raises(LogTrimmed):
                next(store.read(300))

        learns, loop = relearning.learn, asyncio.get_running_loop()
        catches_up = relearning.catch_up

        def meanwhile(call, name):
            def made(*arguments):
                found = call(*arguments)
                asyncio.run_coroutine_threadsafe(goes_on(name), loop).result(30)
                return found

            return made

        relearning.learn = meanwhile(learns, "early")
        relearning.catch_up = meanwhile(catches_up, "late")
        assert (await engine.rebuild_state()).corrected == 1
        events = [learn(f"f{n} g{n % 7}", "c1" if n == 0 else f"c{n % 5}") for n in range(300)]
        assert content(engine.model) == content(taught(engine.model.options, [*events, *late]))


@pytest.mark.parametrize("kept", [3, 20])
def test_frames_that_are_cut_short_are_no_damage(kept):
    """So they end when the service is killed."""
    begin = b"".join(
        rebuilder.frame(kind, body)
        for kind, body in (
            (rebuilder.SNAPSHOT, b"".join(Model(Options.of("ff")).dump())),
            (rebuilder.TEXT, b"words"),
            (rebuilder.ALIASES, b"{}"),
            (rebuilder.WHOLE, b"[]"),
        )
    )
    events = rebuilder.frame(rebuilder.EVENTS, rebuilder.events_body([bytes(learn("a", "x"))]))
    with pytest.raises(EOFError):
        rebuilder.run(io.BytesIO(begin + events[:kept]), io.BytesIO())


async def test_a_history_does_not_end_amid_what_a_restore_has_undone(monkeypatch):
    """A rebuild could not begin there: neither the events before it nor that snapshot are left."""
    monkeypatch.setattr(recorder, "SEGMENT_EVENTS", 5)
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner="svm", snapshot_keep=1) as (engine, _):
        await teach(engine, *texts[:10])
        kept = await engine.take_snapshot()
        await teach(engine, *texts[10:30])
        await engine.restore(kept.seq)  # event 31
        await teach(engine, *texts[30:])
        await engine.take_snapshot()
        monkeypatch.setattr(engine.history.recorder, "excess", lambda: 20)
        await engine.rebuild.shorten()
        assert engine.history.reader.first_seq == 11
        digest = engine.model.digest()
        assert (await engine.rebuild_state()).base == 10
        assert engine.model.digest() == digest


async def test_without_the_snapshot_of_a_restore_it_begins_behind_the_restore():
    async with running(learner="svm", snapshot_keep=9) as (engine, store):
        await teach(engine, "a b -> x")
        kept = await engine.take_snapshot()
        await teach(engine, "c d -> y")
        amid = await engine.take_snapshot()
        await engine.restore(kept.seq)
        await teach(engine, "e f -> z")
        for seq in (0, kept.seq):
            store.delete_snapshot(seq)
        engine.history.recorder.drop(1)
        assert engine.history.bases([amid.seq, 3]) == [amid.seq, 3]
        digest = engine.model.digest()
        assert (await engine.rebuild_state()).base == 3
        assert engine.model.digest() == digest

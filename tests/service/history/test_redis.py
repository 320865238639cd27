"""The history of a store in Redis, with an archive and without, of several processes."""

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.errors import RebuildRefused
from manyclass.service.history import rebuild
from manyclass.service.history.reader import Filter
from manyclass.service.store.errors import LogTrimmed, StoreUnavailable
from tests.hypothesis_examples import examples
from tests.redis_server import RedisServer
from tests.service.engines import until
from tests.service.history.amending import History as Amending
from tests.service.history.amending import content, steps, taught
from tests.service.history.redis_cluster import History, event, leader, same
from tests.service.history.test_other_text import (
    WIDE,
    batch_of,
    drawn_events,
    taught_by,
    text_event,
)

everywhere = pytest.mark.parametrize("history", ["folder", "s3", "log only"], indirect=True)


@everywhere
async def test_any_process_lists_and_corrects_and_all_go_over_to_the_rebuilt_state(history):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(history.engine()) for _ in range(3)]
        first, second, third = await leader(*engines)
        events = [event(f"f{n % 7} g{n % 5}", f"c{n % 4}", event_id=f"e{n}") for n in range(50)]
        for at, each in enumerate(events):
            await engines[at % 3].submit([each])
        await third.reached(50, 10)
        found = await asyncio.to_thread(third.history.page, Filter(), 100)
        assert len(found.records) == 50
        wrong = next(each for each in found.records if each.event.event_id == "e10")
        amend = Event.amend(wrong.seq, wrong.event.instance, ["c9"], wrong.classes)
        await third.submit([amend])
        gone = next(each for each in found.records if each.event.event_id == "e20")
        await second.submit([Event.amend(gone.seq, gone.event.instance, [], gone.classes)])
        await same(*engines)
        assert [len(each.history.amendments) for each in engines] == [2, 2, 2]
        assert (await asyncio.to_thread(second.history.find, wrong.seq)).classes == ["c9"]
        assert await asyncio.to_thread(second.history.find, gone.seq) is None
        done = await first.rebuild_state()
        assert (done.corrected, done.deleted, done.unreached) == (1, 1, 0)
        await same(*engines)
        order = {each.seq: each.event.event_id for each in found.records}
        amended = {each.event_id: each for each in events}
        amended["e10"] = event("f3 g0", "c9", event_id="e10")
        del amended["e20"]
        expected = [amended[order[seq]] for seq in sorted(order) if order[seq] in amended]
        assert content(first.model) == content(taught(first.model.options, expected))
        for each in engines:
            await asyncio.to_thread(each.history.refresh)
            assert len(each.history.amendments) == 0
            left = await asyncio.to_thread(each.history.page, Filter(), 100)
            assert len(left.records) == (49 if history.url else 0)
        await first.submit([event("f1 g1", "c1")])
        await same(*engines)
    async with history.engine() as again:
        assert again.model.has_class("c9")


@everywhere
async def test_descriptions_come_to_all_processes_and_stay_through_a_rebuild(history):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(history.engine()) for _ in range(2)]
        first, second = await leader(*engines)
        for at in range(10):
            await engines[at % 2].submit([event(f"f{at % 7}", f"c{at % 4}")])
        whole = {"title": "One", "alt_labels": ["Eins"], "vector": [1, 2, 3]}
        await second.submit([Event.describe("c1", whole)])
        await first.submit([Event.describe("new", {"description": "Not taught yet."})])
        await same(*engines)
        before = dict(first.model.descriptions)
        await first.rebuild_state()
        await same(*engines)
        assert [dict(each.model.descriptions) for each in engines] == [before, before]
        await second.submit([Event.describe("c1", {"title": None})])
        await same(*engines)
        assert first.model.descriptions["c1"].title is None
    async with history.engine() as again:
        assert again.model.descriptions.keys() == {"c1", "new"}


async def test_a_log_that_snapshots_trim_while_it_runs_is_not_missed(history):
    """It is in the archive, or the log is kept as long as the rebuild runs."""
    async with AsyncExitStack() as stack:
        kept = [await stack.enter_async_context(history.engine(snapshot_keep=1)) for _ in range(2)]
        first, second = await leader(*kept)
        expected = await _amended(second)
        await same(first, second)
        relearning, loop = first.rebuild._relearning, asyncio.get_running_loop()

        async def goes_on(name):
            for engine in kept:  # the second is a retry
                await engine.submit([event(f"{name} g1", "c2", event_id=name)])
            await same(*kept)
            for engine in kept:
                await engine.cluster.poll()
            await first.take_snapshot()
            expected.append(event(f"{name} g1", "c2"))
            if history.url is not None:
                with pytest.raises(LogTrimmed):
                    await asyncio.to_thread(next, first.store.read(30))

        def meanwhile(call, name):
            def made(*arguments):
                found = call(*arguments)
                asyncio.run_coroutine_threadsafe(goes_on(name), loop).result(30)
                return found

            return made

        relearning.learn = meanwhile(relearning.learn, "early")
        relearning.catch_up = meanwhile(relearning.catch_up, "late")
        assert (await first.rebuild_state()).corrected == 1
        await same(*kept)
        assert content(second.model) == content(taught(second.model.options, expected))


async def test_a_rebuild_includes_what_another_process_has_answered(history):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(history.engine()) for _ in range(2)]
        first, second = await leader(*engines)
        wrong = event("a b", "x")
        await first.submit([wrong])
        await same(first, second)
        async with first.rebuild._apply_loop.quiet():  # the leader lags
            await second.submit([Event.amend(1, wrong.instance, ["y"], ["x"])])
            rebuilding = asyncio.ensure_future(first.rebuild_state())
            await asyncio.sleep(0.2)
        assert (await rebuilding).corrected == 1
        await same(first, second)
        assert first.model.has_class("y")
        assert not first.model.has_class("x")


async def test_a_leader_that_cannot_apply_the_log_refuses_to_rebuild(archived, monkeypatch):
    monkeypatch.setattr(rebuild, "APPLY_SECONDS", 0.1)
    async with archived.engine() as first, archived.engine() as second:
        first, second = await leader(first, second)
        await first.submit([event("a b", "x")])
        await same(first, second)
        async with first.rebuild._apply_loop.quiet():
            await second.submit([event("c d", "y")])
            with pytest.raises(RebuildRefused, match="applied 1 of 2 events"):
                await first.rebuild_state()
        assert first.rebuild.failures == 1
        assert (await first.rebuild_state()).events == 2


async def test_a_learner_of_a_rebuild_joins_in_every_process(archived):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(archived.engine()) for _ in range(2)]
        expected = await _amended(engines[1])
        first, _ = await leader(*engines)
        await first.rebuild_state("pa(replay=4)")
        await same(*engines)
        primary, shadow = (each.learner.options for each in engines[1].model.enrolled)
        assert shadow.specification == "pa(replay=4)"
        state = taught(ModelSet(primary, (shadow,)), expected)
        state.begin_whole([shadow])
        state.chosen = ModelSet(primary)
        assert content(engines[1].model) == content(state)
        await first.rebuild_state()
        assert content(first.model) == content(state)
    async with archived.engine() as again:
        assert content(again.model) == content(state)


async def test_learners_that_any_process_adds_and_removes_are_those_of_every_process(archived):
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(archived.engine()) for _ in range(2)]
        await _amended(engines[1])
        adding = (
            engine.add_shadow(name) for engine, name in zip(engines, ("pa", "ff"), strict=True)
        )
        await asyncio.gather(*adding)
        await same(*engines)
        assert {*engines[0].model.shadows} == {"pa", "ff"}
        await engines[1].submit([event("f1", "c1")])
        await engines[0].remove_shadow("pa")
        first, other = await leader(*engines)
        await first.rebuild_state("ema")
        await same(*engines)
        assert [*other.model.shadows] == [*first.model.shadows] == ["ema", "ff"]
        digest = other.model.digest()
    async with archived.engine() as again:
        assert again.model.digest() == digest


@everywhere
async def test_nothing_of_a_deleted_event_is_left_in_redis_and_in_the_archive(
    history, server, tmp_path
):
    async with history.engine() as engine:
        await engine.submit([event("a b", "x")])
        origin = {"source": "zzperson", "instance_id": "zzid"}
        secret = text_event("zzsecret there", "zzclass", **origin)
        [result] = await engine.submit([secret])
        await engine.submit([event("c d", "x")])
        await engine.take_snapshot()
        await engine.submit([event("e f", "y")])
        await until(lambda: engine.cluster.is_leader)
        await engine.take_snapshot()
        assert _holds(tmp_path)
        await engine.submit([Event.amend(result.seq, secret.instance, [], secret.classes)])
        base_is_behind = history.url is None
        done = await engine.rebuild_state()
        assert done.deleted == 1
        assert not base_is_behind or done.unreached == 0
        await until(lambda: not _holds(tmp_path))  # the server removes its old file in a thread


async def test_nothing_of_an_undone_event_is_left_in_redis_and_in_the_archive(history, tmp_path):
    async with history.engine() as engine:
        await engine.submit([event("a b", "x")])
        await until(lambda: engine.cluster.is_leader)
        kept = await engine.take_snapshot()
        origin = {"source": "zzperson", "instance_id": "zzid"}
        secret = text_event("zzsecret there", "zzclass", event_id="z", **origin)
        await engine.submit([secret])
        await engine.submit([Event.amend(2, secret.instance, ["zzclass", "y"], secret.classes)])
        await engine.take_snapshot()
        await engine.restore(kept.seq)
        await engine.submit([event("c d", "x")])
        assert _holds(tmp_path)
        wanted = Filter(source="zzperson", with_undone=True)
        [found] = (await asyncio.to_thread(engine.history.page, wanted, 10)).records
        assert (found.seq, found.is_undone) == (2, True)
        [same_one] = await asyncio.to_thread(engine.history.undone_of, "z")
        assert same_one == found
        await engine.submit([Event.amend(found.seq, Instance({}), [], [])])
        assert (await engine.rebuild_state()).deleted == 1
        await until(lambda: not _holds(tmp_path))  # the server removes its old file in a thread
        expected = [event("a b", "x"), event("c d", "x")]
        assert content(engine.model) == content(taught(engine.model.options, expected))


def _holds(folder):
    words = (b"zzsecret", b"zzclass", b"zzperson", b"zzid")
    found = []
    for each in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # the server has removed it meanwhile
            if any(word in each.read_bytes() for word in words):
                found.append(each)
    return found


async def _amended(engine, number=30):
    """Teach events and correct one; return the model of a service that was taught it right."""
    events = [event(f"f{n % 7} g{n % 5}", f"c{n % 4}") for n in range(number)]
    for each in events:
        await engine.submit([each])
    await engine.submit([Event.amend(3, events[2].instance, ["c9"], events[2].classes)])
    return [*events[:2], event("f2 g2", "c9"), *events[3:]]


async def test_the_next_leader_settles_an_adopted_state(history):
    async with AsyncExitStack() as stack:
        async with history.engine() as first:
            expected = await _amended(first)
            await until(lambda: first.cluster.is_leader)
            second = await stack.enter_async_context(history.engine())

            def fails(*_):
                raise StoreUnavailable("the process ends here", "")

            first.rebuild._settle = fails
            with pytest.raises(StoreUnavailable, match="ends here"):
                await first.rebuild_state()
            await same(first, second)
            assert content(second.model) == content(taught(second.model.options, expected))
            third = await stack.enter_async_context(history.engine())  # recovers over the mark
            await same(first, second, third)
            assert len(second.history.amendments) == 1
            first.tick = lambda: None  # it sends no heartbeat any more
            first.cluster.resign()
        await until(lambda: second.cluster.is_leader or third.cluster.is_leader)
        now, other = await leader(second, third)
        await until(lambda: not now.rebuild.may_be_unsettled)
        assert await asyncio.to_thread(now.store.rebuilt_states.find) is None
        await asyncio.to_thread(other.history.refresh)
        assert [len(each.history.amendments) for each in (now, other)] == [0, 0]
        assert content(now.model) == content(taught(now.model.options, expected))
        await same(now, other)


async def test_a_state_that_was_never_adopted_is_dropped(history):
    async with history.engine() as engine:
        expected = await _amended(engine)
        await until(lambda: engine.cluster.is_leader)
        adopts = engine.rebuild._states.adopt

        def fails(*_):
            raise StoreUnavailable("the process ends here", "")

        engine.rebuild._states.adopt = fails
        with pytest.raises(StoreUnavailable, match="ends here"):
            await engine.rebuild_state()
        assert await asyncio.to_thread(engine.store.rebuilt_states.find) is not None
        engine.rebuild._states.adopt = adopts
        engine.tick()
        await until(lambda: not engine.rebuild.may_be_unsettled)
        assert await asyncio.to_thread(engine.store.rebuilt_states.find) is None
        assert (await engine.rebuild_state()).corrected == 1
        assert content(engine.model) == content(taught(engine.model.options, expected))


async def test_a_state_does_not_undo_a_restore_in_another_process(archived):
    async with archived.engine() as first, archived.engine() as second:
        await first.submit([event("a b", "x")])
        await until(lambda: first.cluster.is_leader or second.cluster.is_leader)
        first, second = await leader(first, second)
        await same(first, second)
        kept = await first.take_snapshot()
        await _amended(first, 5)
        adopts = first.rebuild._states.adopt
        loop = asyncio.get_running_loop()

        def restores_first(token, mark):
            asyncio.run_coroutine_threadsafe(second.restore(kept.seq), loop).result(20)
            return adopts(token, mark)

        first.rebuild._states.adopt = restores_first
        with pytest.raises(RebuildRefused, match="a snapshot was restored"):
            await first.rebuild_state()
        await same(first, second)
        assert content(second.model) == content(taught(second.model.options, [event("a b", "x")]))
        assert await asyncio.to_thread(first.store.rebuilt_states.find) is None


async def test_a_rebuild_over_a_lost_log_changes_nothing(tmp_path):
    with RedisServer(tmp_path / "redis", appendfsync=None) as server:
        history = History(server, (tmp_path / "archive").as_uri())
        async with history.engine() as engine:
            await engine.submit([event("a b", "x")])
            await until(lambda: engine.cluster.is_leader)
            await engine.take_snapshot()
            with server.client() as client:
                client.save()
            await engine.submit([event("c d", "y")])
            await engine.submit([Event.amend(2, event("c d", "y").instance, ["z"], ["y"])])
            assert len(engine.history.amendments) == 1
            server.kill()
            server.start()
            await until(lambda: engine.model.seq == 1 and engine.status == "ready")
            await until(lambda: len(engine.history.amendments) == 0)
            await engine.submit([event("c d", "u")])
            assert (await asyncio.to_thread(engine.history.find, 2)).classes == ["u"]
            assert (await engine.rebuild_state()).events == 2
            assert engine.model.has_class("u")
            assert not engine.model.has_class("z")


class Anywhere(Amending):
    """Teaches and amends at the processes in turn; the leader rebuilds."""

    def __init__(self, engines):
        super().__init__(engines[0])
        self.engines = engines

    async def go_on(self, step):
        self.engine = self.engines[step % len(self.engines)]
        await same(*self.engines)

    async def rebuild(self):
        [self.engine, *_] = await leader(*self.engines)
        await super().rebuild()
        await same(*self.engines)


@given(steps=steps)
@examples(10)
def test_the_state_of_three_processes_is_that_of_the_amended_stream(steps):
    async def run(folder, server):
        kept = History(server, (folder / "archive").as_uri(), snapshot_keep=1)
        async with AsyncExitStack() as stack:
            engines = [await stack.enter_async_context(kept.engine()) for _ in range(3)]
            options = engines[0].model.options
            history = Anywhere(engines)
            for at, (name, *arguments) in enumerate(steps):
                await history.go_on(at)
                await getattr(history, name)(*arguments)
            await history.rebuild()
            history.assert_rebuilt(options)

    with TemporaryDirectory() as folder, RedisServer(Path(folder) / "redis") as server:
        asyncio.run(run(Path(folder), server))


async def test_every_process_goes_over_to_another_analysis_of_texts(history):
    """Events that others have read by the former one, before the mark and behind it, are read
    again, in every process and at a restart.
    """
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(history.engine()) for _ in range(3)]
        first, second, third = await leader(*engines)
        await second.submit(drawn_events(40, DEFAULT_TEXT))
        relearning, loop = first.rebuild._relearning, asyncio.get_running_loop()

        def meanwhile(call, text):
            def made(*arguments):
                found = call(*arguments)
                taught = third.submit([text_event(text, "c1")])
                asyncio.run_coroutine_threadsafe(taught, loop).result(30)
                return found

            return made

        relearning.learn = meanwhile(relearning.learn, "early café")
        relearning.catch_up = meanwhile(relearning.catch_up, "late café")
        assert (await first.rebuild_state(text=WIDE)).text == str(WIDE)
        await third.submit([text_event("read before c++", "c2")])
        await second.admit_batch(batch_of(("in a batch, before", "c3")))
        await same(*engines)
        assert [each.model.text for each in engines] == [WIDE] * 3
        expected = drawn_events(40, WIDE)
        for text, name in (
            ("early café", "c1"),
            ("late café", "c1"),
            ("read before c++", "c2"),
            ("in a batch, before", "c3"),
        ):
            expected.append(text_event(text, name, WIDE))
        assert content(third.model) == content(taught_by(WIDE, first.model.options, expected))
        digest = third.model.digest()
    async with history.engine() as again:
        assert again.model.digest() == digest
        if history.url is not None:
            assert (await again.rebuild_state(text=WIDE)).base == 0

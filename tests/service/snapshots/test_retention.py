"""Retention: snapshots and events stay as long as a start may need them."""

from tests.service.engines import digest_without_newest, running, seqs, teach


async def test_the_newest_are_kept_and_the_log_behind_the_oldest_of_them():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y", "c -> z"):
            await teach(engine, text, text)
            await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [6, 4, 0]
        assert store.first_seq() == 5
        digest_without_newest(engine, store)


async def test_damaged_ones_do_not_count_and_go():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y"):
            await teach(engine, text)
            await engine.take_snapshot()
    store.damage_snapshot(2)
    async with running(store, snapshot_keep=2) as (engine, _):
        await teach(engine, "c -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [3, 1, 0]
        assert store.first_seq() == 2
        await teach(engine, "d -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [4, 3, 0]


async def test_a_snapshot_named_by_a_mark_is_kept_until_the_mark_is_trimmed():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y"):
            await teach(engine, text)
            await engine.take_snapshot()  # 1, 2
        await engine.restore(1)  # mark and snapshot 3
        assert seqs(await engine.snapshots()) == [3, 2, 1, 0]
        digest_without_newest(engine, store)
        await teach(engine, "c -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [4, 3, 0]

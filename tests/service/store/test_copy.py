"""A copied store equals its source: numbers, snapshots, and the recovered state."""

import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from manyclass.cli.main import app
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.rules import RULES
from manyclass.service.store import copy as copy_module
from manyclass.service.store import open_store
from manyclass.service.store.copy import copy
from manyclass.service.store.errors import LogDamaged, SnapshotDamaged, StoreError
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.engines import recovered
from tests.service.serving import calling
from tests.service.shared import SharedLog


def clock():
    return 1.0


def lesson(number):
    return Event.learn(Instance([f"f{number % 7}"]), [f"c{number}"], f"id {number}", number)


@pytest.fixture
def source():
    """Return a store with three snapshots; its log reaches back to the second only."""
    store = MemoryStore(clock)
    model = Model(Options())
    store.save_snapshot(0, model.dump())
    for seq in range(1, 31):
        event = lesson(seq).join() if seq % 5 else lesson(seq)
        store.append([bytes(event)])
        model.apply(seq, event)
        if seq in (10, 20):
            store.save_snapshot(seq, model.dump())
    store.trim(10)
    return store


def silent(_):
    pass


def test_snapshots_and_events_keep_their_numbers(source, backend):
    target = backend.open()
    assert copy(source, target, silent) == (30, 0)
    assert [info.seq for info in target.snapshots()] == [20, 10, 0]
    for seq in (0, 10, 20):
        assert b"".join(target.open_snapshot(seq)) == b"".join(source.open_snapshot(seq))
    assert list(target.read(10)) == list(source.read(10))
    with pytest.raises(LogDamaged):
        list(target.read(0))
    assert recovered(target).digest() == recovered(source).digest()
    assert target.append([bytes(lesson(31))]) == 31


def test_no_append_ends_amid_a_request(source, monkeypatch):
    monkeypatch.setattr(copy_module, "APPENDED_EVENTS", 3)
    appended = []

    class Target(MemoryStore):
        def append(self, events):
            appended.append([Event.from_bytes(event).joined for event in events])
            return super().append(events)

    copy(source, Target(clock), silent)
    assert [len(each) for each in appended] == [4, 5, 5, 5, 1]
    assert not any(each[0] for each in appended[1:])


def test_a_target_with_contents_is_refused(source):
    with pytest.raises(StoreError, match="not empty"):
        copy(source, source, silent)
    target = MemoryStore(clock)
    target.save_snapshot(0, [b"x"])
    with pytest.raises(StoreError, match="not empty"):
        copy(source, target, silent)


def test_an_empty_source_is_refused():
    with pytest.raises(StoreError, match="holds nothing"):
        copy(MemoryStore(clock), MemoryStore(clock), silent)


def test_a_damaged_snapshot_is_not_copied(tmp_path):
    class Damaged(MemoryStore):
        def open_snapshot(self, seq):
            raise SnapshotDamaged(seq, "chunk 0", "its checksum does not match")

    store = Damaged(clock)
    store.save_snapshot(0, [b"x"])
    with pytest.raises(SnapshotDamaged):
        copy(store, MemoryStore(clock), silent)


@pytest.mark.parametrize(("damaged", "left"), [(10, [20, 0]), (20, [10, 0]), (0, [20, 10])])
def test_a_damaged_snapshot_is_left_out_where_another_will_do(source, damaged, left):
    class Damaged(MemoryStore):
        def open_snapshot(self, seq):
            if seq == damaged:
                raise SnapshotDamaged(seq, "chunk 0", "its checksum does not match")
            return super().open_snapshot(seq)

    source.__class__ = Damaged
    target, said = MemoryStore(clock), []
    assert copy(source, target, said.append) == (30, 0)
    assert [info.seq for info in target.snapshots()] == left
    assert [line for line in said if "left out" in line and str(damaged) in line]
    assert recovered(target).digest() == recovered(source).digest()


def test_from_the_command_line(tmp_path):
    old, new = f"sqlite:{tmp_path}/old.db", f"sqlite:{tmp_path}/new.db"
    store = open_store(old, clock)
    digest = recovered(store).digest()
    store.append([bytes(lesson(1))])
    in_use = CliRunner().invoke(app, ["copy", old, new])
    assert in_use.exit_code == 1
    assert "not copied" in in_use.stderr
    store.close()
    done = CliRunner().invoke(app, ["copy", old, new])
    assert done.exit_code == 0, done.output
    assert done.stdout == "copied up to event 1, with 0 instances of the queue of review\n"
    copied = open_store(new, clock)
    assert copied.last_seq == 1
    assert recovered(copied).digest() != digest
    copied.close()


# --- the history ----------------------------------------------------------------------------------


async def served(store, work):
    """Run a service on the store; return what `work` returns, once it has stopped."""
    async with calling(store=store) as call:
        return await work(call)


async def corrected(call):
    """Teach events and pack the first two; amend one of these; return the list of all."""
    for name in ("a", "b", "c"):
        await call("POST", "/learn", {"features": [name], "classes": [name], "event_id": name})
        if name == "b":
            await call("POST", "/snapshots")
    await call("PUT", "/events/a", {"classes": ["z"]})
    return (await call("GET", "/events")).json()


async def listed(call):
    events = (await call("GET", "/events")).json()
    status = (await call("GET", "/rebuild")).json()
    report = (await call("POST", "/rebuild")).json()
    return events, status["waiting"], report["base"], report["corrected"]


async def led(call):
    while not call.app.engine.cluster.is_leader:
        await call.app.engine.cluster.poll()
    return await listed(call)


async def test_the_history_is_copied_with_its_amendments(tmp_path):
    source = SqliteStore(tmp_path / "one.db", clock)
    events = await served(source, corrected)
    source = SqliteStore(tmp_path / "one.db", clock)
    target = SqliteStore(tmp_path / "two.db", clock)
    told = []
    assert copy(source, target, told.append) == (4, 0)
    source.close()
    assert "history up to event 2" in told
    assert await served(target, listed) == (events, 1, 0, 1)


async def test_the_history_is_copied_to_redis_and_its_archive_and_back(tmp_path, redis_url):
    def archived():
        return open_store(redis_url, clock, archive=(tmp_path / "archive").as_uri())

    source = SqliteStore(tmp_path / "one.db", clock)
    events = await served(source, corrected)
    source, target = SqliteStore(tmp_path / "one.db", clock), archived()
    assert copy(source, target, silent) == (4, 0)
    target.close()
    back = SqliteStore(tmp_path / "back.db", clock)
    copied = archived()
    copy(copied, back, silent)
    for each in (source, copied):
        each.close()
    assert await served(archived(), led) == (events, 1, 0, 1)
    assert await served(back, listed) == (events, 1, 0, 1)


async def test_another_leader_of_the_target_keeps_the_history_out(tmp_path, redis_url):
    source = SqliteStore(tmp_path / "one.db", clock)
    await served(source, corrected)
    uri = (tmp_path / "archive").as_uri()
    source = SqliteStore(tmp_path / "one.db", clock)
    with (
        closing(source),
        closing(open_store(redis_url, clock, archive=uri)) as target,
        closing(open_store(redis_url, clock, archive=uri)) as other,
    ):
        assert other.heartbeat(0, RULES).is_leader
        with pytest.raises(StoreError, match="another process leads"):
            copy(source, target, silent)


async def test_a_damaged_part_of_the_history_is_left_out(tmp_path):
    path = tmp_path / "one.db"
    await served(SqliteStore(path, clock), corrected)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE segments SET body = x'00' WHERE last_seq = 2")
        connection.commit()
    source, target, told = SqliteStore(path, clock), MemoryStore(clock), []
    copy(source, target, told.append)
    source.close()
    [left_out] = [each for each in told if each.startswith("left out")]
    assert "the history up to event 2 is damaged" in left_out
    assert [info.first_seq for info in target.segments()] == [3]


async def test_a_store_without_history_says_that_it_stays_behind(tmp_path):
    path = tmp_path / "one.db"
    await served(SqliteStore(path, clock), corrected)
    source, told = SqliteStore(path, clock), []
    copy(source, SharedLog().store("one"), told.append)
    source.close()
    assert "left out: the history of events, which the target cannot keep" in told


# --- the queue of review --------------------------------------------------------------------------


async def given(call):
    """Teach an event and give three instances for review, one of which is labelled then."""
    await call("POST", "/learn", {"text": "a puck", "classes": ["hockey"]})
    instances = [{"text": f"a late puck {name}", "id": name} for name in ("m-1", "m-2", "m-3")]
    body = {"instances": instances, "batch": "letters.csv"}
    assert (await call("POST", "/review", body)).status_code == 200
    await call("POST", "/learn", {"id": "m-2", "classes": ["hockey"], "reviewer": "ben"})
    await call("GET", "/review?reviewer=anna")  # leases end with a copy


async def reviewed(call):
    """Return the instances of the queue, and undo the label."""
    first = (await call("GET", "/review?reviewer=ben")).json()["instances"]
    undone = await call("POST", "/review/undo", {"id": "m-2", "reviewer": "ben"})
    assert undone.status_code == 200
    again = (await call("GET", "/review?batch=letters.csv")).json()["instances"]
    return [(each["id"], each["text"], each["batch"]) for each in first], len(again)


WAITING = [(name, f"a late puck {name}", "letters.csv") for name in ("m-1", "m-3")]


async def test_the_queue_of_review_is_copied_to_another_file(tmp_path):
    await served(SqliteStore(tmp_path / "one.db", clock), given)
    old, new = f"sqlite:{tmp_path}/one.db", f"sqlite:{tmp_path}/two.db"
    done = CliRunner().invoke(app, ["copy", old, new])
    assert done.exit_code == 0, done.output
    assert done.stdout == "copied up to event 2, with 3 instances of the queue of review\n"
    assert await served(SqliteStore(tmp_path / "two.db", clock), reviewed) == (WAITING, 3)


async def test_the_queue_of_review_is_copied_to_redis_and_back(tmp_path, redis_url, monkeypatch):
    monkeypatch.setattr(copy_module, "PUT_AT_ONCE", 2)
    await served(SqliteStore(tmp_path / "one.db", clock), given)
    with (
        closing(SqliteStore(tmp_path / "one.db", clock)) as source,
        closing(open_store(redis_url, clock)) as target,
        closing(SqliteStore(tmp_path / "back.db", clock)) as back,
    ):
        assert copy(source, target, silent) == (2, 3)
        assert copy(target, back, silent) == (2, 3)
    assert await served(SqliteStore(tmp_path / "back.db", clock), reviewed) == (WAITING, 3)


async def test_a_target_with_a_queue_of_a_former_store_is_refused(tmp_path):
    await served(SqliteStore(tmp_path / "one.db", clock), given)
    (tmp_path / "two.db.waiting").write_bytes((tmp_path / "one.db.waiting").read_bytes())
    with (
        closing(SqliteStore(tmp_path / "one.db", clock)) as source,
        closing(SqliteStore(tmp_path / "two.db", clock)) as target,
    ):
        with pytest.raises(StoreError, match="queue of review of a former store"):
            copy(source, target, silent)
        assert not target.snapshots()


@pytest.mark.parametrize("damage", [b"no database", None])
async def test_a_damaged_queue_of_review_is_left_out(tmp_path, damage):
    await served(SqliteStore(tmp_path / "one.db", clock), given)
    path, told = tmp_path / "one.db.waiting", []
    if damage is None:  # the heads are read, and a body is not
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("ALTER TABLE items RENAME COLUMN body TO lost")
            connection.commit()
    else:
        path.write_bytes(damage)
    with (
        closing(SqliteStore(tmp_path / "one.db", clock)) as source,
        closing(SqliteStore(tmp_path / "two.db", clock)) as target,
    ):
        assert copy(source, target, told.append) == (2, 0)
    [left_out] = [each for each in told if each.startswith("left out")]
    assert "review" in left_out

"""Leader election among the processes on one store, and the operations of the leader only."""

from contextlib import suppress

import pytest

from manyclass.service.store.errors import LogTrimmed, StoreUnavailable
from tests.service.store.waiting import until

SHORT = 0.2  # seconds of a lease, in tests that wait for its end


def seen(heartbeat):
    return {process.name: (process.seq, process.is_leader) for process in heartbeat.processes}


# --- the lease ------------------------------------------------------------------------------------


def test_one_process_leads_and_all_are_listed(open_redis):
    first, second = open_redis(), open_redis()
    assert first.heartbeat(0).is_leader
    heartbeat = second.heartbeat(None)
    assert not heartbeat.is_leader
    assert seen(heartbeat) == {first.name: (0, True), second.name: (None, False)}
    assert [process.name for process in heartbeat.processes] == sorted([first.name, second.name])
    assert all(process.seen_at > 1_600_000_000 for process in heartbeat.processes)
    first.append([b"1", b"2"])
    heartbeat = first.heartbeat(2)
    assert (heartbeat.last_seq, heartbeat.is_leader) == (2, True)
    assert seen(heartbeat) == {first.name: (2, True), second.name: (None, False)}


def test_each_process_is_listed_with_its_version_of_the_rules(open_redis):
    first, second = open_redis(), open_redis()
    first.heartbeat(0, 3)
    for position in (None, 7):
        processes = second.heartbeat(position, 4).processes
        versions = {process.name: process.rules for process in processes}
        assert versions == {first.name: 3, second.name: 4}


def test_a_restoring_process_does_not_take_the_lease_but_keeps_it(open_redis):
    store, other = open_redis(), open_redis()
    assert not store.heartbeat(None).is_leader
    assert store.heartbeat(0).is_leader
    assert store.heartbeat(None).is_leader
    assert not other.heartbeat(0).is_leader


def test_a_heartbeat_reports_snapshots(open_redis):
    store, other = open_redis(), open_redis()
    store.append([b"1", b"2"])
    infos = [store.save_snapshot(seq, [b"x" * seq]) for seq in (1, 2)]
    assert other.heartbeat(2).snapshots == infos[::-1] == other.snapshots()


def test_closing_gives_the_lease_back_at_once(open_redis):
    first, second = open_redis(), open_redis()
    assert first.heartbeat(0).is_leader
    assert not second.heartbeat(0).is_leader
    first.close()
    heartbeat = second.heartbeat(0)
    assert heartbeat.is_leader
    assert seen(heartbeat) == {second.name: (0, True)}


def test_closing_takes_nothing_from_another_leader(open_redis):
    first, second = open_redis(), open_redis()
    assert first.heartbeat(0).is_leader
    second.heartbeat(0)
    second.close()
    assert first.heartbeat(0).is_leader


def test_the_lease_of_a_silent_process_ends(open_redis):
    first, second = open_redis(lease_seconds=SHORT), open_redis()
    assert first.heartbeat(0).is_leader
    until(lambda: second.heartbeat(0).is_leader)
    heartbeat = first.heartbeat(0)
    assert not heartbeat.is_leader
    assert seen(heartbeat)[second.name] == (0, True)


def test_every_lease_has_a_token_of_its_own(data, open_redis):
    tokens = []
    for _ in range(3):
        store = open_redis()
        assert store.heartbeat(0).is_leader
        token, _, name = data.client.get(data.key("lease")).decode().partition(" ")
        assert name == store.name
        tokens.append(int(token))
        store.close()
    assert tokens == [1, 2, 3]


def test_the_lease_ends_by_itself(data, open_redis):
    open_redis().heartbeat(0)
    assert 0 < data.client.pttl(data.key("lease")) <= 10_000


def test_a_dead_process_is_forgotten(open_redis):
    first, second = open_redis(lease_seconds=SHORT), open_redis(lease_seconds=SHORT)
    first.heartbeat(0)
    until(lambda: first.name not in seen(second.heartbeat(0)))


def test_a_leader_that_lost_its_lease_changes_nothing_any_more(open_redis):
    old, new = open_redis(lease_seconds=SHORT), open_redis()
    old.append([b"1", b"2"])
    old.save_snapshot(1, [b"state"])
    old.save_snapshot(2, [b"state"])
    assert old.heartbeat(2).is_leader
    until(lambda: new.heartbeat(2).is_leader)  # the old leader, paused, does not know it yet
    with pytest.raises(StoreUnavailable, match="leads"):
        old.trim(2)
    with pytest.raises(StoreUnavailable, match="leads"):
        old.delete_snapshot(1)
    assert len(list(new.read(0))) == 2
    assert [info.seq for info in new.snapshots()] == [2, 1]
    new.heartbeat(2)
    new.trim(2)
    new.delete_snapshot(1)
    assert [info.seq for info in old.snapshots()] == [2]


def test_without_a_leader_nothing_is_trimmed(store, data):
    store.append([b"1"])
    store.save_snapshot(1, [b"state"])
    with pytest.raises(StoreUnavailable, match="leads"):
        store.trim(1)
    store.heartbeat(1)
    data.client.delete(data.key("lease"))
    with pytest.raises(StoreUnavailable, match="leads"):
        store.trim(1)
    assert store.heartbeat(1).is_leader
    store.trim(1)
    assert store.heartbeat(1).last_seq == 1


# --- trimming -------------------------------------------------------------------------------------


@pytest.fixture
def leader(open_redis):
    """Return a leading store with ten events and a snapshot of all."""
    store = open_redis()
    for number in range(10):
        store.append([b"%d" % number])
    store.save_snapshot(10, [b"state"])
    assert store.heartbeat(10).is_leader
    return store


def first_left(store):
    """Return the number of the first event left in the log."""
    for after in range(20):
        try:
            return next(store.read(after), (None,))[0]
        except LogTrimmed:
            continue
    return None


@pytest.mark.parametrize(("slowest", "left"), [(10, None), (4, 5), (0, 1), (None, 1)])
def test_a_trim_waits_for_the_slowest(open_redis, leader, slowest, left):
    open_redis().heartbeat(slowest)
    leader.trim(10)
    assert first_left(leader) == left


def test_a_trim_does_not_wait_for_the_dead(open_redis):
    leader, slow = open_redis(lease_seconds=SHORT), open_redis(lease_seconds=SHORT)
    for number in range(10):
        leader.append([b"%d" % number])
    leader.save_snapshot(10, [b"state"])
    leader.heartbeat(10)
    slow.heartbeat(3)

    def trimmed():
        leader.heartbeat(10)
        with suppress(StoreUnavailable):  # on a machine so busy that the lease ended meanwhile
            leader.trim(10)
        return first_left(leader) is None

    until(trimmed)


def test_a_trim_waits_for_the_leader_itself(leader):
    leader.heartbeat(7)
    leader.trim(10)
    assert first_left(leader) == 8


def test_events_behind_the_newest_snapshot_are_not_trimmed(store):
    store.append([b"1"])
    store.append([b"2"])
    store.heartbeat(2)
    store.trim(2)
    assert first_left(store) == 1
    store.save_snapshot(1, [b"state"])
    store.trim(2)
    assert first_left(store) == 2


def test_half_of_a_batch_is_not_trimmed(store):
    store.append([b"1", b"2"])
    store.append([b"3", b"4", b"5"])
    store.save_snapshot(4, [b"state"])
    store.heartbeat(5)
    store.trim(4)
    assert [seq for seq, _ in store.read(2)] == [3, 4, 5]
    with pytest.raises(LogTrimmed):
        list(store.read(1))


def test_a_long_log_is_trimmed_in_steps(data, open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.store.TRIMMED_EVENTS_AT_ONCE", 100)
    store = open_redis()
    for _ in range(200):
        store.append([b"event"] * 5)
    store.save_snapshot(1000, [b"state"])
    store.heartbeat(1000)
    lengths = []
    run = store._session.run

    def counted(*arguments):
        answer = run(*arguments)
        lengths.append(data.client.xlen(data.events))
        return answer

    monkeypatch.setattr(store._session, "run", counted)
    store.trim(990)
    assert lengths[-1] == 2
    steps = [before - after for before, after in zip([200, *lengths], lengths, strict=False)]
    assert max(steps) <= 21
    assert store.append([b"next"]) == 1001


def test_numbers_that_a_snapshot_jumped_over_take_no_steps(store, monkeypatch):
    store.append([b"1"])
    store.save_snapshot(10**12, [b"state"])
    store.append([b"next"])
    store.heartbeat(10**12 + 1)
    steps = []
    run = store._session.run
    monkeypatch.setattr(store._session, "run", lambda *all_: steps.append(1) or run(*all_))
    store.trim(10**12)
    assert len(steps) < 5
    assert list(store.read(10**12)) == [(10**12 + 1, b"next")]


# --- deleting snapshots ---------------------------------------------------------------------------


def test_the_snapshot_that_recovery_needs_is_not_deleted(leader):
    leader.trim(10)
    with pytest.raises(StoreUnavailable, match="begins too late") as error:
        leader.delete_snapshot(10)
    assert "newer snapshot" in error.value.hint
    leader.append([b"11"])
    leader.save_snapshot(11, [b"newer"])
    leader.delete_snapshot(10)
    assert [info.seq for info in leader.snapshots()] == [11]


def test_a_snapshot_of_before_the_log_does_not_count_as_one_to_recover_from(leader):
    leader.save_snapshot(5, [b"older"])
    leader.trim(10)
    with pytest.raises(StoreUnavailable, match="begins too late"):
        leader.delete_snapshot(10)
    leader.delete_snapshot(5)


def test_as_long_as_the_log_is_whole_any_snapshot_can_go(leader):
    leader.delete_snapshot(10)
    assert leader.snapshots() == []
    assert len(list(leader.read(0))) == 10

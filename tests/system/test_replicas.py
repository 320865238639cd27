"""Several processes on one Redis: no acknowledged event is lost or doubled, all stay equal.

Every test kills, cuts or halts something while callers use all processes; `Run` knows what must
hold meanwhile, and `finish` checks the final state.
"""

import shutil

import pytest

from tests.system.process import learned
from tests.system.replica import FAULTS, event
from tests.system.replicas import WHOLE_LOG, Run
from tests.system.troubles import LEASE_SECONDS

pytestmark = pytest.mark.slow


def unbroken(run, least=50):
    """Return the facts of the run; assert that no promise was broken and events were learned."""
    result = run.finish()
    assert result.broken == []
    assert result.facts["events acknowledged"] >= least
    assert result.facts["seqs compared"] > 0
    return result.facts


@pytest.fixture
def quiet_run(tmp_path):
    """Yield a run of processes without callers."""
    with Run(tmp_path) as run:
        yield run


# --- under load ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snapshots", "keep"), [(300, WHOLE_LOG), (100, 2)], ids=["whole log", "trimmed log"]
)
def test_processes_killed_again_and_again(tmp_path, snapshots, keep):
    with Run(tmp_path, snapshot_events=snapshots, snapshot_keep=keep) as run:
        run.start_callers()
        for number in range(6):
            run.kill_one(down=0.3 * (number % 2))
            run.compare()
        if keep < WHOLE_LOG:  # the killed leader's lease may last a while
            run.wait_for("a trimmed log", lambda: 0 not in snapshots_of(run.replicas[0]))
        facts = unbroken(run)
    assert facts["done"]["kill"] >= 6
    assert (facts["replayed"][-1]["from"] == 0) == (keep == WHOLE_LOG)


def test_redis_killed_several_times(tmp_path):
    with Run(tmp_path, snapshot_events=300) as run:
        run.start_callers()
        for number in range(4):
            run.ending.wait(1)
            before = run.ranked_without_redis
            run.kill_redis(down=[1, 3.5][number // 2], refuse=number % 2 == 1)
            assert run.ranked_without_redis > before
            run.compare()
        facts = unbroken(run)
    assert facts["requests"]["learn"]["answers"]["503"] > 0


def test_redis_and_processes_killed_together(tmp_path):
    with Run(tmp_path, snapshot_events=200) as run:
        run.start_callers()
        for _ in range(3):
            run.in_background(lambda: run.kill_one())
            run.kill_redis(down=0.5)
            run.ending.wait(1)
        run.compare()
        unbroken(run)


@pytest.mark.parametrize("names", [list(FAULTS)[start::4] for start in range(4)], ids=", ".join)
def test_network_faults(tmp_path, names):
    with Run(tmp_path) as run:
        run.start_callers()
        for name in names:
            for replica in run.replicas[:2]:
                run.fault(name, 1.5, replica)
                run.ending.wait(0.3)
            run.compare()
        facts = unbroken(run)
    assert all(facts["done"][f"fault: {name}"] == 2 for name in names)


def test_a_fault_longer_than_the_patience_of_the_service(tmp_path):
    with Run(tmp_path, store_seconds=1.0) as run:
        run.start_callers()
        for name in ("hold", "swallow replies", "hold replies"):
            run.fault(name, 4, run.replicas[0])
            run.compare()
        facts = unbroken(run)
    assert facts["requests"]["learn"]["answers"]["503"] > 0


def test_redis_paused(tmp_path):
    with Run(tmp_path, store_seconds=1.0) as run:
        run.start_callers()
        run.ending.wait(1)
        with run.redis_paused():
            for replica in run.replicas:
                name = f"paused-{replica.number}"
                answer = replica.post("/learn", event(name))
                run.record.given_up(name, answer)
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) >= 1
            before = run.record.answers["rank", 200]
            run.ending.wait(1)
            assert run.record.answers["rank", 200] > before
        run.compare()
        unbroken(run)


def test_a_process_stopped_under_load(tmp_path):
    with Run(tmp_path, snapshot_events=200) as run:
        run.start_callers()
        for replica in run.replicas:
            run.ending.wait(0.5)
            before = len(run.record.acknowledged)
            replica.terminate()
            run.wait_for("others learn", lambda many=before: len(run.record.acknowledged) > many)
            replica.bring_up()
        run.compare()
        facts = unbroken(run)
    assert facts["done"]["terminate"] == 3 + 3


def test_a_process_frozen_for_longer_than_the_lease(tmp_path):
    with Run(tmp_path, snapshot_events=100, snapshot_keep=2) as run:
        run.start_callers()
        leader = run.wait_for("a leader", lambda: leader_of(run))
        leader.freeze()
        others = [replica for replica in run.replicas if replica is not leader]
        new = run.wait_for("another leader", lambda: leader_of(run, others))
        newest = newest_snapshot(new)
        run.wait_for("its snapshot", lambda: newest_snapshot(new) > newest)
        leader.thaw()
        run.compare()
        assert leader_of(run) is not None
        unbroken(run)


# --- one thing at a time -------------------------------------------------------------------------


def leader_of(run, among=None):
    """Return the replica that reports leadership, or None; fail if two do."""
    leading = [replica for replica in among or run.replicas if replica.get("/stats")["leads"]]
    assert len(leading) <= 1
    return leading[0] if leading else None


def snapshots_of(replica):
    return [each["seq"] for each in replica.get("/snapshots")["snapshots"]]


def newest_snapshot(replica):
    return max(snapshots_of(replica))


def unbroken_quiet(run, *names):
    """End a run in which these classes must have been learned too."""
    run.record.acknowledged |= dict.fromkeys(names, 0)
    assert run.finish().broken == []


def test_another_takes_over_when_the_leader_is_killed(tmp_path):
    with Run(tmp_path, snapshot_events=20, snapshot_keep=2) as run:
        leader = run.wait_for("a leader", lambda: leader_of(run))
        leader.kill()
        others = [replica for replica in run.replicas if replica is not leader]
        new = run.wait_for("another leader", lambda: leader_of(run, others))
        for number in range(25):
            others[0].learn(f"c{number}")
        assert run.wait_for("its snapshot", lambda: newest_snapshot(new) >= 20, LEASE_SECONDS * 3)
        leader.bring_up()
        run.compare()
        assert leader_of(run) is new
        unbroken_quiet(run)


def test_a_process_that_joins_late_is_ready_only_when_it_is_as_far(tmp_path):
    with Run(tmp_path, processes=2, snapshot_events=0, snapshot_keep=2) as run:
        run.start_callers()
        run.wait_for("some events", lambda: len(run.record.acknowledged) > 100)
        assert run.replicas[0].post("/snapshots").is_success
        snapshot = newest_snapshot(run.replicas[0])
        run.wait_for("more events", lambda: len(run.record.acknowledged) > 200)
        known = dict(run.record.acknowledged)
        late = run.add_replica()
        late.bring_up()
        assert known.keys() <= learned(late.service.url).keys()
        ready = run.wait_for("ready to learn", lambda: late.get("/readyz"))
        assert ready["recovery"]["snapshot"]["seq"] >= snapshot
        assert ready["seq"] >= max(known.values())
        run.compare()
        unbroken(run)


def test_a_process_that_joins_while_redis_is_away_starts_when_it_is_back(quiet_run):
    seq = quiet_run.replicas[0].learn("c")
    killed = quiet_run.replicas[1]
    killed.kill()
    quiet_run.in_background(lambda: quiet_run.kill_redis(down=3))
    quiet_run.wait_for("no redis", lambda: not quiet_run.redis.running)
    killed.bring_up()
    assert killed.get("/stats")["seq"] >= seq
    unbroken_quiet(quiet_run)


def test_all_follow_when_one_goes_back_to_a_snapshot(quiet_run):
    one, two, three = quiet_run.replicas
    one.learn("before")
    snapshot = one.post("/snapshots").json()["seq"]
    two.learn("after")
    answer = three.post(f"/snapshots/{snapshot}/restore")
    assert answer.status_code == 200, answer.text
    seq = answer.json()["seq"]
    for replica in quiet_run.replicas:
        quiet_run.wait_for("it followed", lambda each=replica: each.get("/stats")["seq"] >= seq)
        assert learned(replica.service.url) == {"before": 1}
    two.kill()
    two.bring_up()
    assert learned(two.service.url) == {"before": 1}
    quiet_run.wait_for("ready to learn", two.learns)
    two.learn("after")  # an undone event may be sent again
    unbroken_quiet(quiet_run)


def test_all_go_back_with_a_redis_that_lost_its_last_writes(quiet_run, tmp_path):
    one, two, three = quiet_run.replicas
    one.learn("kept")
    folder, old = quiet_run.redis.folder, tmp_path / "old"
    quiet_run.redis.kill()
    shutil.copytree(folder, old)
    quiet_run.redis.start()
    quiet_run.wait_for("learned", lambda: two.post("/learn", event("lost")).status_code == 200)
    for replica in quiet_run.replicas:
        quiet_run.wait_for("as far", lambda each=replica: "lost" in learned(each.service.url))
    quiet_run.redis.kill()
    shutil.rmtree(folder)
    shutil.copytree(old, folder)
    quiet_run.redis.start()
    for replica in quiet_run.replicas:
        quiet_run.wait_for(
            "went back", lambda each=replica: "lost" not in learned(each.service.url)
        )
        assert replica.post("/rank", {"features": {"g": 1}}).status_code == 200
    quiet_run.wait_for("learned", lambda: three.post("/learn", event("lost")).status_code == 200)
    unbroken_quiet(quiet_run, "lost")

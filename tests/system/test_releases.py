"""Two releases on one log with different rules: their states are never mixed."""

from pathlib import Path

import pytest

from manyclass.core import rules
from tests.system.process import PATIENCE, Service, get, learned, post
from tests.system.replica import event
from tests.system.replicas import Run

NEWER = rules.RULES + 1
RELEASE = str(Path(__file__).with_name("release.py"))
OLDER_RELEASE, NEWER_RELEASE = [RELEASE, "0"], [RELEASE, "1"]


def says(replica, words):
    """Return true if the process ranks, and is not ready to learn for this reason."""
    ranked = replica.post("/rank", {"features": {"g": 1}})
    assert ranked.status_code == 200, ranked.text
    ready = get(f"{replica.service.url}/readyz")
    if ready.status_code == 200 or words not in ready.json()["detail"]:
        return False  # an event may be learned
    refused = replica.post("/learn", event("refused"))
    assert refused.status_code == 503, refused.text
    return True


def digests(run, replicas):
    """Return the set of the replicas' digests at the last event."""
    run.wait_for("equally far", lambda: len({each.get("/stats")["seq"] for each in replicas}) == 1)
    return {each.get("/stats", digest="yes")["digest"] for each in replicas}


@pytest.fixture
def run(tmp_path):
    """Yield a run with two processes of the older release."""
    with Run(tmp_path, processes=2, snapshot_events=0, snapshot_seconds=0) as started:
        yield started


def newer(run):
    replica = run.add_replica()
    replica.service.command = NEWER_RELEASE
    replica.bring_up()
    return replica


@pytest.mark.slow
def test_an_upgrade_one_by_one(run):
    old = list(run.replicas)
    old[0].learn("a")
    old[0].learn("b")
    new = [newer(run), newer(run)]
    for replica in new:
        run.wait_for("it waits", lambda each=replica: says(each, "learned by an older release"))
    old[1].learn("c")
    assert len(digests(run, old)) == 1
    first, last = old
    first.terminate()
    run.wait_for("it leads, so it leaves a snapshot", lambda: last.get("/stats")["leads"])
    last.terminate()
    for replica in new:
        run.wait_for("it learns", replica.learns)
    new[0].learn("d")
    new[1].learn("e")
    assert len(digests(run, new)) == 1
    log = "".join(each.service.log.read_text() for each in new)
    # The other one replayed that event.
    assert log.count(f"raised the rules to version {NEWER}") == 1
    new[0].kill()
    new[0].bring_up()  # it replays the log across that event
    run.wait_for("it learns", new[0].learns)
    assert len(digests(run, new)) == 1
    counts = learned(new[0].service.url)
    assert counts == {"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}  # by the rules of their time


@pytest.mark.slow
def test_an_older_release_on_a_log_that_was_raised(run):
    old, other = run.replicas
    other.terminate()
    old.learn("a")
    assert old.post("/snapshots").is_success
    old.freeze()
    new = newer(run)  # the older process is silent for longer than a lease
    run.wait_for("it learns", new.learns)
    new.learn("b")
    old.thaw()
    run.wait_for("it stops", lambda: says(old, f"version {NEWER} of the rules"))
    assert learned(old.service.url) == {"a": 1}
    assert learned(new.service.url) == {"a": 1, "b": 2}
    assert "learning has stopped" in old.service.log.read_text()
    old.kill()
    old.service.launch()  # and the process does not start again
    run.wait_for("it says why", lambda: "start the newer release" in old.service.log.read_text())
    new.learn("c")


@pytest.mark.slow
def test_an_older_release_that_was_killed_has_to_end_its_work(run):
    old, other = run.replicas
    old.learn("a")
    old.learn("b")
    old.kill()
    other.kill()
    new = newer(run)
    run.wait_for("it waits", lambda: says(new, "learned by an older release"))
    old.bring_up()
    run.wait_for("it leads", lambda: old.get("/stats")["leads"])
    old.terminate()
    run.wait_for("it learns", new.learns)
    new.learn("c")
    assert learned(new.service.url) == {"a": 1, "b": 1, "c": 2}


class InAFile(Service):
    """A service on a store in a file, started as one release after the other."""

    def start_as(self, release):
        self.command = release
        return self.start()

    def assert_refuses(self, release, reason):
        """Start it as a release that ends with this reason."""
        self.command = release
        self.launch()
        self.process.wait(PATIENCE)
        assert reason in self.log.read_text()


def test_a_store_in_a_file(tmp_path):
    service = InAFile(tmp_path).start_as(OLDER_RELEASE)
    post(f"{service.url}/learn", event("a"))
    service.stop()
    service.start_as(NEWER_RELEASE)
    assert post(f"{service.url}/learn", event("b")).json()["seq"] == 3
    service.kill()
    service.start()
    assert learned(service.url) == {"a": 1, "b": 2}
    service.stop()
    service.assert_refuses(OLDER_RELEASE, "start the newer release")


def test_a_store_in_a_file_after_a_kill(tmp_path):
    service = InAFile(tmp_path).start_as(OLDER_RELEASE)
    post(f"{service.url}/learn", event("a"))
    service.kill()
    service.assert_refuses(NEWER_RELEASE, "an older release")
    service.start_as(OLDER_RELEASE)
    service.stop()
    service.start_as(NEWER_RELEASE)
    assert learned(service.url) == {"a": 1}
    service.stop()

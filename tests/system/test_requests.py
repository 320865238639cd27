"""Requests to several processes on one Redis, one at a time, with names of their own in each test.

All tests share the processes; in the end every state, and a replay of the log, are compared.
"""

import pytest

from tests.system.process import learned
from tests.system.replica import event
from tests.system.replicas import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Processes without callers."""
    with Run(tmp_path_factory.mktemp("run")) as started:
        yield started
        assert started.finish().broken == []


def test_ranking_is_no_older_than_asked_for(run):
    for number in range(60):
        here, there = run.random.sample(run.replicas, 2)
        seq = here.learn(f"c{number}")
        answer = there.post("/rank", {"features": {f"only-c{number}": 1}, "min_seq": seq})
        assert answer.status_code == 200, answer.text
        assert answer.json()["seq"] >= seq
        assert answer.json()["ranked"][0]["class"] == f"c{number}"


def test_ranking_does_not_wait_for_ever_for_what_is_not_there(run):
    seq = run.replicas[0].learn("next to nothing")
    answer = run.replicas[1].post("/rank", {"features": {"g": 1}, "min_seq": seq + 1000})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.elapsed.total_seconds() < run.record.limits["rank min_seq"]


def test_a_process_cut_off_says_that_it_is_older(run):
    here, there, _ = run.replicas
    with there.fault("hold"):
        seq = here.learn("behind its back")
        body = {"features": {"only-behind its back": 1}}
        assert there.post("/rank", body | {"min_seq": seq}).status_code == 503
        answer = there.post("/rank", body)
        assert answer.status_code == 200
        assert answer.json()["seq"] < seq
    assert run.wait_for(
        "caught up", lambda: there.post("/rank", body | {"min_seq": seq}).status_code == 200
    )


@pytest.mark.parametrize("given", [None, "an id of mine"])
def test_a_label_by_id_may_come_to_any_process(run, given):
    one, two, _ = run.replicas
    name = f"late {given}"
    body = {"features": {f"only-{name}": 1}} | ({"id": given} if given else {})
    ranked = one.post("/rank", body).json()
    late = {"id": ranked["id"], "classes": [name], "event_id": name}
    run.record.acknowledged[name] = two.accepted("/learn", late)["seq"]
    assert learned(two.service.url)[name] == 1


def test_an_id_that_no_process_knows(run):
    answer = run.replicas[0].post("/learn", {"id": "nobody's", "classes": ["late"]})
    assert answer.status_code == 404


def test_a_retry_at_another_process_is_no_second_event(run):
    seqs = {replica.learn("again") for replica in run.replicas}
    assert len(seqs) == 1
    other = event("again") | {"classes": ["other"]}
    assert [each.post("/learn", other).status_code for each in run.replicas] == [409] * 3


@pytest.mark.parametrize("content", [{}, {"classes": ["other content"]}], ids=["same", "other"])
def test_an_append_that_lands_after_its_retry_is_no_second_event(run, content):
    here, there, _ = run.replicas
    name = f"uncertain {len(content)}"
    # There must be a connection on which the append can be under way.
    assert run.wait_for("it learns", lambda: here.learn(f"before {name}"))
    with here.fault("hold requests"):
        uncertain = here.post("/learn", event(name))
        assert uncertain.status_code == 503
        assert "event_id" in uncertain.json()["detail"]
        there.accepted("/learn", event(name) | content)
        seq = there.get("/stats")["seq"]
    assert run.wait_for("it landed", lambda: there.get("/stats")["seq"] == seq + 1)
    run.record.acknowledged |= dict.fromkeys(content.get("classes", [name]), seq)


def test_a_batch_is_whole_or_not_at_all_everywhere(run):
    one, two, _ = run.replicas
    one.learn("whole")
    batch = {"events": [event("part"), event("whole") | {"classes": ["contradiction"]}]}
    assert two.post("/learn", batch).status_code == 409
    seq = one.learn("after the batch")
    for replica in run.replicas:
        assert run.wait_for("as far", lambda each=replica: each.get("/stats")["seq"] >= seq)
        assert not {"part", "contradiction"} & learned(replica.service.url).keys()

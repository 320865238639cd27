"""Advice: learners compared on the history in a child process."""

import asyncio

import pytest

from manyclass.service.history import advisor as advisor_module
from manyclass.service.history import memory
from manyclass.service.history.advisor import LEAST_EVENTS
from tests.service.faulty import PATIENCE
from tests.service.serving import assert_problem, calling


async def teach(call, count, kind="text"):
    words = ["red", "green", "blue", "round", "flat"]
    events = [
        {
            kind: " ".join(row) if kind == "text" else row,
            "classes": [row[0]],
        }
        for row in ([words[at % 5], words[at % 3], f"w{at % 7}"] for at in range(count))
    ]
    for begin in range(0, count, 500):
        some = {"events": events[begin : begin + 500]}
        assert (await call("POST", "/learn", some)).status_code == 200


async def ended(call):
    async with asyncio.timeout(20 * PATIENCE):
        while (status := (await call("GET", "/advice")).json())["state"] == "running":
            await asyncio.sleep(0.05)
    return status


async def test_learners_are_compared_and_an_advised_one_becomes_a_shadow():
    async with calling(learner="ff") as call:
        assert (await call("GET", "/advice")).json()["state"] == "none"
        await teach(call, 400)
        await call("PUT", "/classes/red", {"parent": "colours"})
        digest = call.digest()
        begun = await call("POST", "/advice", {"last": 350, "learners": ["pa(replay=1)"]})
        assert begun.json()["state"] == "running"
        status = await ended(call)
        assert (status["state"], status["error"]) == ("done", None)
        assert (status["events"], status["counted"]) == (350, 105)
        assert status["at"] == status["of"] == len(status["advice"])
        first, second, third, *_ = status["advice"]
        assert (first["learner"], first["r1_gain"]) == ("ff", None)
        assert (second["learner"], third["learner"]) == ("pa(replay=1)", "path")
        assert {each["failed"] for each in status["advice"]} == {""}
        assert status["notes"] == []
        assert "in use" in status["verdict"]
        assert status["best"] is None or status["advice"][status["best"]]["advised"]
        assert call.digest() == digest
        added = await call("POST", "/learners", {"learner": third["learner"], "history": True})
        assert added.json()["rebuild"]["events"] == 402


async def test_what_is_not_compared_is_said():
    async with calling() as call:
        await teach(call, 300, "features")
        await call("PUT", "/classes/x", {"title": "X"})
        await call("POST", "/advice", {"seconds": 1})
        status = await ended(call)
        assert [note.split(" is")[0].split(" are")[0] for note in status["notes"]] == [
            "`path`",
            "analyses of texts",
            "descriptions and vectors",
        ]


async def test_one_comparison_at_a_time_which_can_be_stopped():
    async with calling() as call:
        await teach(call, 3_000)
        await call("POST", "/advice")
        problem = assert_problem(await call("POST", "/advice"), 409)
        assert "in progress" in problem["detail"]
        stopped = (await call("DELETE", "/advice")).json()
        assert (stopped["state"], stopped["error"]) == ("stopped", None)
        assert (await call("DELETE", "/advice")).json()["state"] == "stopped"
        await call("POST", "/advice")
    assert call.app.api.state.advisor.state.state == "stopped"  # by the end of the service


async def test_too_few_events_and_memory_and_wrong_candidates_are_refused(monkeypatch):
    async with calling() as call:
        await teach(call, LEAST_EVENTS - 1)
        await call("POST", "/advice")
        status = await ended(call)
        assert (status["state"], status["error"]) == (
            "failed",
            "299 of the newest events have a class; advice needs 300",
        )
        for wrong in ("nobody", "svm(C=-1)"):
            answer = await call("POST", "/advice", {"learners": ["ff", wrong]})
            assert_problem(answer, 404, "#/learners/1")
        assert_problem(await call("POST", "/advice", {"last": 5}), 422, "#/last")
        problem = assert_problem(await call("POST", "/advice", [None]), 422)
        assert "`last`: a number from 300 to 200000" in problem["detail"]
        monkeypatch.setattr(memory, "available_bytes", lambda: 100)
        problem = assert_problem(await call("POST", "/advice"), 503)
        assert "advice needs about" in problem["detail"]
    async with calling(history=False) as call:
        for method in ("GET", "POST", "DELETE"):
            assert_problem(await call(method, "/advice"), 404)


@pytest.mark.parametrize("module", ["manyclass.no_such_module", "this"])
async def test_a_child_that_ends_early_is_a_failure(monkeypatch, module):
    monkeypatch.setattr(advisor_module, "MODULE", module)
    async with calling() as call:
        await teach(call, 3_000)
        await call("POST", "/advice")
        status = await ended(call)
        assert status["state"] == "failed"
        assert status["error"]

"""Confused classes and likely label errors of the events that were taught."""

import pytest

from tests.service.serving import calling


def events_of(classes, count, source="sound"):
    """Return events with two features of their class and one of all."""
    return [
        {
            "features": [f"{name} {at % 5}", f"{name} {at % 3}", "all"],
            "classes": [name],
            "source": source,
        }
        for at in range(count)
        for name in classes
    ]


def mislabelled(name, label, at):
    return {**events_of([name], at + 1)[-1], "classes": [label], "source": "wrong"}


async def teach(call, events):
    answer = await call("POST", "/learn", {"events": events})
    assert answer.status_code == 200, answer.text


async def suspected(call, query=""):
    answer = await call("GET", f"/suspects{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["suspects"]


async def test_mislabelled_events_are_suspected_first_although_they_were_learned():
    async with calling(learner="svm(replay=4)") as call:
        await teach(call, events_of("xyz", 60))
        await teach(call, [mislabelled("x", "y", 1), mislabelled("z", "x", 2)])
        await teach(call, events_of("xyz", 20))
        found = await suspected(call, "?limit=2")
        assert {(each["event"]["seq"], each["suggested"]) for each in found} == {
            (181, "x"),
            (182, "z"),
        }
        assert found[0]["confidence"] >= found[1]["confidence"] > 0.2
        [newest] = await suspected(call, "?last=61&limit=1")
        assert newest["event"]["seq"] == 182


async def test_an_event_that_ranked_right_or_was_corrected_is_not_suspected():
    async with calling() as call:
        await teach(call, events_of("xyz", 60))
        await teach(call, [mislabelled("x", "y", 1), events_of("x", 1)[0]])
        assert (await suspected(call))[0]["event"]["seq"] == 181
        assert all(each["event"]["rank_before"] != 1 for each in await suspected(call))
        await call("PUT", "/events/seq:181", {"classes": ["x"]})
        assert 181 not in [each["event"]["seq"] for each in await suspected(call)]


async def test_a_label_that_was_confirmed_is_suspected_no_more():
    async with calling() as call:
        await teach(call, events_of("xyz", 60))
        await teach(call, [mislabelled("x", "y", 1)])
        assert (await suspected(call))[0]["event"]["seq"] == 181
        for changed in (True, False):
            answer = await call("PUT", "/events/seq:181", {"classes": ["y"]})
            assert answer.json()["changed"] is changed
        for _ in range(2):
            assert 181 not in [each["event"]["seq"] for each in await suspected(call)]
            await call("POST", "/rebuild")
        event = (await call("GET", "/events/seq:181")).json()
        assert (event["classes"], event["corrected"]) == (["y"], True)


async def test_nothing_is_suspected_before_there_is_a_confidence(call):
    await teach(call, [*events_of("xyz", 20), mislabelled("x", "y", 1)])
    assert await suspected(call) == []


async def test_confusions_count_the_classes_ranked_above_the_true_ones():
    async with calling() as call:
        await teach(call, events_of("xy", 20))
        await teach(call, [mislabelled("x", "y", at) for at in range(3)])
        found = (await call("GET", "/confusions?last=3")).json()
        assert (found["events"], found["r1"]) == (3, 0.0)
        [pair] = found["pairs"]
        assert pair == {"ranked_first": "x", "true": "y", "count": 3, "events": [43, 42, 41]}
        assert found["classes"] == [
            {"class": "y", "events": 3, "recall": 0.0, "precision": None},
            {"class": "x", "events": 0, "recall": None, "precision": 0.0},
        ]


@pytest.mark.parametrize("path", ["/confusions", "/suspects"])
async def test_a_service_without_a_history_has_none(path):
    async with calling(history=False) as call:
        assert (await call("GET", path)).status_code == 404

"""Confused classes and likely label errors of the events that were taught."""

import asyncio
import threading

import pytest

from manyclass.service.history import error_count, likely_errors
from manyclass.service.history.history import History
from manyclass.service.store.errors import StoreUnavailable
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


async def test_a_count_of_before_a_rebuild_is_not_that_of_after_it():
    async with calling() as call:
        await teach(call, events_of("xyz", 60))
        await teach(call, [mislabelled("x", "y", 1), mislabelled("x", "y", 2)])
        await call("PUT", "/events/seq:181", {"classes": ["x"]})
        before = await suspected(call)
        await call("POST", "/rebuild")
        after = await suspected(call)
        assert [each["event"]["seq"] for each in before][:1] == [182]
        assert before[0]["confidence"] != after[0]["confidence"]
        assert after == await suspected(call, "?seconds=5")


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


@pytest.fixture
def slow(monkeypatch):
    """Return an event for which counts wait before they rank a wrong event anew, and how many they
    did.
    """
    goes_on = threading.Event()
    goes_on.disputed = 0

    def waiting(model, record):
        goes_on.disputed += 1
        goes_on.wait(30)
        return likely_errors.dispute(model, record)

    monkeypatch.setattr(error_count, "dispute", waiting)
    yield goes_on
    goes_on.set()


async def confused(call, query="?seconds=0"):
    answer = await call("GET", f"/confusions{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def counted(call):
    """Return the confusions once all events are counted."""
    while not (found := await confused(call))["complete"]:
        await asyncio.sleep(0.01)
    return found


async def test_with_seconds_an_answer_has_what_was_counted_so_far(slow):
    async with calling() as call:
        await teach(call, [*events_of("xy", 20), mislabelled("x", "y", 1), events_of("x", 1)[0]])
        found = await confused(call)
        while found["events"] == 0:  # the newest one ranked right
            found = await confused(call)
        assert (found["seq"], found["complete"], found["events"], found["pairs"]) == (
            *(42, False, 1),
            [],
        )
        assert (await call("GET", "/suspects?seconds=0")).json() == {
            "seq": 42,
            "complete": False,
            "suspects": [],
        }
        slow.set()
        whole = await counted(call)
        assert whole["events"] == 42
        assert whole == await confused(call, "")


async def test_with_seconds_a_count_is_kept_for_ten_seconds(slow):
    slow.set()
    async with calling() as call:
        await teach(call, [*events_of("xy", 20), mislabelled("x", "y", 1)])
        first = await counted(call)
        disputed = slow.disputed
        await teach(call, events_of("x", 1))
        for _ in range(3):
            assert await counted(call) == first
        assert slow.disputed == disputed
        assert (await confused(call, ""))["seq"] == 42  # without `seconds` it is counted anew
        await teach(call, events_of("x", 1))
        call.clock.now += 11
        slow.clear()
        assert (await confused(call))["seq"] == 42  # the old one, while a newer one is made
        slow.set()
        while (await confused(call))["seq"] == 42:
            await asyncio.sleep(0.01)
        assert (await counted(call))["seq"] == 43


async def test_a_count_that_nobody_waited_for_has_its_age_from_its_end(slow):
    async with calling() as call:
        await teach(call, [*events_of("xy", 20), mislabelled("x", "y", 1)])
        await confused(call)
        slow.set()
        while call.app.api.state.error_counts._running is not None:
            await asyncio.sleep(0.01)
        await teach(call, events_of("x", 1))
        call.clock.now += 11
        assert (await confused(call, "?seconds=30"))["seq"] == 42


async def test_one_count_runs_at_a_time_and_others_take_their_turn(slow):
    async with calling() as call:
        await teach(call, [*events_of("xy", 20), mislabelled("x", "y", 1)])
        await confused(call)
        waiting = [asyncio.ensure_future(confused(call, f"?last={last}")) for last in range(1, 30)]
        assert (await confused(call, "?last=7&seconds=0"))["events"] == 0
        await teach(call, events_of("x", 1))  # no other call waits for a count
        assert (await call("GET", "/events?limit=1")).status_code == 200
        assert slow.disputed == 1
        assert not any(each.done() for each in waiting)
        slow.set()
        assert [each["events"] for each in await asyncio.gather(*waiting)] == [*range(1, 30)]


async def test_a_corrected_suspect_is_gone_from_a_kept_count():
    async with calling() as call:
        await teach(call, [*events_of("xyz", 60), mislabelled("x", "y", 1)])
        assert 181 in [each["event"]["seq"] for each in await suspected(call, "?seconds=30")]
        await call("PUT", "/events/seq:181", {"classes": ["x"]})
        assert 181 not in [each["event"]["seq"] for each in await suspected(call, "?seconds=30")]


async def test_a_count_under_way_ends_with_the_service(slow):
    async with calling() as call:
        await teach(call, [mislabelled("x", "y", 1), mislabelled("x", "z", 1)])
        assert not (await confused(call))["complete"]
        slow.set()


async def test_an_error_of_the_store_is_the_answer(monkeypatch):
    def fail(self, count):
        raise StoreUnavailable("no disk")
        yield

    async with calling() as call:
        await teach(call, events_of("xy", 2))
        monkeypatch.setattr(History, "newest", fail)
        assert (await call("GET", "/confusions?seconds=5")).status_code == 503
        monkeypatch.undo()
        assert (await confused(call, ""))["events"] == 4


@pytest.mark.parametrize("path", ["/confusions", "/suspects"])
async def test_a_service_without_a_history_has_none(path):
    async with calling(history=False) as call:
        assert (await call("GET", path)).status_code == 404


async def test_quality_by_class_source_and_parent():
    async with calling() as call:
        await teach(call, events_of("xy", 20))
        await teach(call, [mislabelled("x", "y", at) for at in range(3)])
        await call("PUT", "/classes/x", {"parent": "letters"})
        found = (await call("GET", "/quality")).json()
        assert found["complete"]
        assert found["all"]["events"] == 43
        assert found["classes"] == found["seen_classes"] == 2
        assert [(each["source"], each["events"]) for each in found["sources"]] == [
            ("sound", 40),
            ("wrong", 3),
        ]
        assert found["sources"][1]["r1"] == 0.0
        assert [(each["parent"], each["events"], each["classes"]) for each in found["parents"]] == [
            (None, 23, 1),
            ("letters", 20, 1),
        ]
        assert sum(each["events"] for each in found["curve"]) == 43
        newest = (await call("GET", "/quality?last=3")).json()
        assert newest["all"] == {"events": 3, "r1": 0.0, "r5": 1.0}
        listed = (await call("GET", "/quality/classes?last=3")).json()
        assert listed["total"] == 2
        [first, second] = listed["classes"]
        assert (first["class"], first["recall"], first["r5"]) == ("y", 0.0, 1.0)
        assert first["confusions"] == [{"class": "x", "count": 3}]
        assert (second["class"], second["parent"], second["precision"]) == ("x", "letters", 0.0)


async def test_an_event_with_several_classes_counts_for_each():
    async with calling() as call:
        await teach(call, events_of("xyz", 20))
        both = {**events_of("x", 1)[0], "classes": ["y", "x"]}
        neither = {**events_of("z", 1)[0], "classes": ["x", "y"]}
        await teach(call, [both, neither])
        for name in "xy":
            await call("PUT", f"/classes/{name}", {"parent": "letters"})
        listed = (await call("GET", "/quality/classes?last=2&sort=class")).json()["classes"]
        fields = ("class", "events", "first", "recall", "r5", "precision")
        assert [tuple(each[name] for name in fields) for each in listed] == [
            ("x", 2, 1, 0.5, 1.0, 1.0),
            ("y", 2, 1, 0.5, 1.0, 1.0),
            ("z", 0, 1, None, None, 0.0),
        ]
        assert [each["confusions"] for each in listed] == [*[[{"class": "z", "count": 1}]] * 2, []]
        found = (await call("GET", "/quality?last=2")).json()
        assert found["all"]["events"] == 2
        assert found["parents"] == [
            {"parent": "letters", "classes": 2, "events": 2, "r1": 0.5, "r5": 1.0}
        ]


async def test_classes_are_sorted_filtered_and_paged():
    async with calling() as call:
        names = [f"class {at:02}" for at in range(30)]
        await teach(call, events_of(names, 3))
        await teach(call, events_of(names[:7], 2))

        async def listed(query):
            answer = (await call("GET", f"/quality/classes?{query}")).json()
            return [each["class"] for each in answer["classes"]], answer

        assert (await listed("sort=class"))[0] == names
        assert (await listed("sort=class&reverse=true"))[0] == names[::-1]
        assert (await listed("sort=events&limit=7"))[0] == names[:7]
        first, page = await listed("sort=class&limit=20")
        assert (first, page["total"], page["next"]) == (names[:20], 30, 20)
        rest, page = await listed("sort=class&limit=20&after=20")
        assert (rest, page["next"]) == (names[20:], None)
        assert (await listed("contains=CLASS 1"))[1]["total"] == 10
        _, page = await listed("sort=recall")
        recalls = [each["recall"] for each in page["classes"]]
        assert recalls == sorted(recalls)
        for reverse in ("false", "true"):  # classes without a figure come last
            _, page = await listed(f"sort=trend&reverse={reverse}")
            assert all(each["trend"] is None for each in page["classes"])
        assert (await call("GET", "/quality/classes?sort=size")).status_code == 422


async def test_quality_needs_a_history():
    async with calling(history=False) as call:
        for path in ("/quality", "/quality/classes"):
            assert (await call("GET", path)).status_code == 404

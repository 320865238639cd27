"""The client, against a transport of the test."""

import json
from datetime import UTC, datetime
from math import inf, nan

import httpx
import pytest

from manyclass.client.client import Client
from manyclass.client.errors import ClientError, RequestRefused, ServiceUnreachable, Unusable
from manyclass.client.retry import FIRST_WAIT, LONGEST_WAIT, Backoff
from manyclass.client.types import PathNode, RankedClass, RebuildReport, Vote

LEARNED = {"seq": 7, "accepted": 1, "duplicates": 0, "rank_before": 2, "updated": True}
LEARNED_MANY = {"seq": 7, "accepted": 2, "duplicates": 0, "ranks_before": [None, 1]}
SNAPSHOT = {"seq": 7, "bytes": 10, "taken_at": 1.5}


class FakeService:
    """Sends its prepared answers in turn, and records the requests."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.waits = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def client(self, **options):
        transport = httpx.MockTransport(self)
        return Client("http://service/", transport=transport, sleep=self.waits.append, **options)

    def body(self, position=0):
        return json.loads(self.requests[position].content)


def problem(status, headers=None, **members):
    members = {"type": "about:blank", "title": "No", "status": status, **members}
    return httpx.Response(
        status,
        json=members,
        headers={"Content-Type": "application/problem+json", **(headers or {})},
    )


def answered_before(service, **options):
    """Return a client after one successful answer of the service, so that the client retries."""
    service.answers.insert(0, {"snapshots": []})
    client = service.client(**options)
    client.snapshots()
    service.requests.clear()
    return client


# --- requests and answers ------------------------------------------------------------------------


def test_rank_one_and_many():
    found = {"id": "i", "seq": 3, "ranked": [{"class": "a", "score": 0.5}]}
    service = FakeService(found, {"seq": 3, "results": [found]})
    client = service.client()
    ranking = client.rank({"text": "ice"}, k=2, threshold=0.1, min_seq=3)
    assert ranking.id == "i"
    assert ranking.ranked == (RankedClass("a", 0.5),)
    how = {"k": 2, "threshold": 0.1, "min_seq": 3}
    assert service.body() == {"text": "ice", **how}
    many = client.rank_many([{"text": "ice"}], k=2, threshold=0.1, min_seq=3)
    assert many.results == (ranking,)
    assert service.body(1) == {"instances": [{"text": "ice"}], **how}
    assert (service.requests[0].method, service.requests[0].url.path) == ("POST", "/rank")
    assert service.requests[0].headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("number", [nan, inf, -inf])
@pytest.mark.parametrize("name", ["threshold", "min_confidence"])
def test_a_limit_that_is_no_number_in_json_is_not_sent(name, number):
    service = FakeService()
    client = service.client()
    with pytest.raises(ValueError, match=f"{name} must be"):
        client.rank({"text": "ice"}, **{name: number})
    with pytest.raises(ValueError, match=f"{name} must be"):
        client.rank_many([{"text": "ice"}], **{name: number})
    assert service.requests == []


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_a_confidence_that_is_no_probability_is_not_sent(least):
    with pytest.raises(ValueError, match="min_confidence must be from 0 to 1"):
        FakeService().client().rank({"text": "ice"}, min_confidence=least)


def test_rank_with_paths():
    node = {"classes": 1, "probability": 0.75, "bias": -0.5}
    moved = [{"feature": "ice", "score": 1.6}]
    ranked = [
        {"class": "a", "score": 0.75, "features": moved, "path": [{**node, "features": moved}]}
    ]
    service = FakeService({"id": "i", "seq": 3, "ranked": [*ranked, {"class": "b", "score": 0.25}]})
    tree, other = service.client().rank({"text": "ice"}, explain=True).ranked
    assert tree.path == (PathNode(1, 0.75, -0.5, (Vote("ice", 1.6),)),)
    assert other.path == ()


def test_learn_one_and_many():
    service = FakeService(LEARNED, LEARNED_MANY)
    client = service.client()
    learned = client.learn({"text": "ice", "classes": ["a"]})
    assert learned.rank_before == 2
    events = [{"id": "i", "classes": ["a"], "event_id": "mine"}, {"text": "b", "classes": ["b"]}]
    many = client.learn_many(events)
    assert many.ranks_before == (None, 1)
    assert service.body(1)["events"][0] == events[0]


@pytest.mark.parametrize(
    ("since", "sent"),
    [
        (1.5, "1.5"),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00+00:00"),
    ],
)
def test_a_time_is_sent_in_any_form(since, sent):
    service = FakeService({"events": [], "next": None})
    assert [*service.client().events(since=since)] == []
    assert dict(service.requests[0].url.params)["since"] == sent


def test_every_event_without_an_id_gets_one_of_its_own():
    service = FakeService(LEARNED, LEARNED_MANY)
    client = service.client()
    event = {"text": "ice", "classes": ["a"]}
    client.learn(event)
    client.learn_many([event, event])
    ids = {service.body(0)["event_id"], *(each["event_id"] for each in service.body(1)["events"])}
    assert len(ids) == 3
    other = FakeService(LEARNED)
    other.client().learn(event)
    assert other.body()["event_id"] not in ids
    assert "event_id" not in event


def test_ready_is_asked_once():
    of_another = {"status": "ok"}
    refusals = problem(503), httpx.ConnectError("refused"), of_another
    answers = {"learns": True}, {"learns": False}, *refusals
    service = FakeService(*answers)
    client = service.client()
    assert [client.is_ready() for _ in answers] == [True, False, False, False, False]
    assert not service.waits


# --- errors --------------------------------------------------------------------------------------


def test_a_problem_becomes_an_error_with_its_fields():
    faults = [{"pointer": "#/events/3/classes", "detail": "too few"}]
    service = FakeService(problem(422, title="Unprocessable", detail="bad", errors=faults))
    with pytest.raises(RequestRefused) as caught:
        service.client().learn_many([])
    error = caught.value
    assert (error.status, error.title, error.detail) == (422, "Unprocessable", "bad")
    assert error.faults[0].pointer == "#/events/3/classes"
    assert error.faults[0].detail == "too few"
    assert error.retry_after is None
    assert str(error) == "422 Unprocessable: bad (#/events/3/classes)"


def test_an_error_of_another_server_is_reported_by_its_status():
    service = FakeService(httpx.Response(404, html="<h1>Not here</h1>"))
    with pytest.raises(RequestRefused, match="404 Not Found"):
        service.client().stats()


def test_an_answer_that_is_not_the_service_s():
    service = FakeService(httpx.Response(200, html="<h1>Hello</h1>"))
    with pytest.raises(ClientError, match="not an answer of this service"):
        service.client().stats()
    assert not service.waits


@pytest.mark.parametrize("url", ["nonsense", "ftp://service", "http://[::1", "http://"])
def test_a_url_that_is_none_is_refused_at_once(url):
    with pytest.raises(Unusable):
        Client(url)


# --- history -------------------------------------------------------------------------------------

TAUGHT = {
    "seq": 7,
    "key": "e/1",
    "event_id": "e/1",
    "time": 1.5,
    "source": "anna",
    "classes": ["a"],
    "not": ["b"],
    "weight": 2.0,
    "parents": {"a": "top"},
    "corrected": False,
    "rank_before": None,
    "outcome_known": True,
    "text": "ice",
    "features": None,
}
REPORT = {
    "seq": 9,
    "base": 0,
    "events": 8,
    "corrected": 1,
    "deleted": 2,
    "seconds": 0.5,
    "finished_at": 2.5,
}


def test_events_are_read_in_pages_of_any_length():
    pages = [([7, 6], 6), ([], 4), ([3], None)]
    service = FakeService(
        *({"events": [TAUGHT | {"seq": n} for n in seqs], "next": next} for seqs, next in pages)
    )
    chosen = {"of_class": "a", "source": "anna", "since": 1.5, "until": 2, "wrong": True}
    found = service.client().events(**chosen, oldest_first=True, page=2)
    assert [event.seq for event in found] == [7, 6, 3]
    asked = [dict(request.url.params) for request in service.requests]
    filters = {"class": "a", "source": "anna", "since": "1.5", "until": "2", "wrong": "yes"}
    first = filters | {"order": "oldest", "limit": "2"}
    assert asked == [first, first | {"after": "6"}, first | {"after": "4"}]


def test_an_event_is_a_body_again():
    text = FakeService(TAUGHT).client().event("e/1")
    assert text.body() == {
        "text": "ice",
        "classes": ("a",),
        "not": ("b",),
        "weight": 2.0,
        "parents": {"a": "top"},
        "source": "anna",
        "event_id": "e/1",
    }
    plain = {"seq": 7, "key": "seq:7", "classes": ["a"], "features": {"ice": 1.0}}
    service = FakeService(plain)
    body = service.client().event("seq:7").body()
    assert body == {"features": {"ice": 1.0}, "classes": ("a",)}
    assert service.requests[0].url.raw_path == b"/events/seq%3A7"


def test_a_source_is_that_of_events_without_one():
    service = FakeService(LEARNED, LEARNED_MANY)
    client = service.client()
    client.learn({"text": "ice", "classes": ["a"]}, source="anna")
    assert service.body()["source"] == "anna"
    own = {"text": "ice", "classes": ["a"], "source": "ben"}
    client.learn_many([{"text": "ice", "classes": ["a"]}, own], source="anna")
    assert [each["source"] for each in service.body(1)["events"]] == ["anna", "ben"]


def test_a_correction_may_arrive_twice():
    amended = {"seq": 7, "amended": 7, "changed": False}
    service = FakeService(httpx.ReadError("reset"), amended)
    answer = answered_before(service).correct("e 1", ["a", 5])
    assert (answer.amended, answer.changed) == (7, False)
    assert [request.method for request in service.requests] == ["PUT", "PUT"]
    assert service.requests[1].url.raw_path == b"/events/e%201"
    assert service.body(1) == {"classes": ["a", 5]}


def test_events_of_a_source_are_deleted_to_the_last():
    service = FakeService(
        {"seq": 9, "deleted": 100_000, "more": True}, {"seq": None, "deleted": 0, "more": False}
    )
    deleted = service.client().delete_events(source="anna & co")
    assert (deleted.seq, deleted.deleted, deleted.more) == (9, 100_000, False)
    assert service.requests[1].url.params["source"] == "anna & co"


def test_the_answer_of_a_rebuild_is_waited_for_without_a_limit():
    service = FakeService(REPORT, {"running": False, "learned": 8, "waiting": 0, "last": REPORT})
    client = service.client(timeout=3.0)
    assert client.rebuild().corrected == 1
    assert client.rebuild_status().last == RebuildReport(9, 0, 8, 1, 2, 0.5, 2.5)
    limits = [request.extensions["timeout"] for request in service.requests]
    assert [each["read"] for each in limits] == [None, 3.0]
    assert limits[0]["connect"] == 3.0


# --- trying again --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_too_much_or_too_early_is_tried_again_after_the_time_asked_for(status):
    service = FakeService(problem(status, {"Retry-After": "3"}), LEARNED)
    service.client().learn({"text": "ice", "classes": ["a"]})
    assert service.waits == [3.0]
    assert service.requests[0].content == service.requests[1].content  # the same event id


def test_waits_grow_when_no_time_is_asked_for():
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    service = FakeService(*[problem(503)] * 3, problem(503, {"Retry-After": date}), SNAPSHOT)
    service.client().take_snapshot()
    assert service.waits == [0.1, 0.2, 0.4, 0.8]


def test_a_zero_does_not_make_it_hammer():
    service = FakeService(problem(503, {"Retry-After": "0"}), SNAPSHOT)
    service.client().take_snapshot()
    assert service.waits == [0.1]


def test_it_gives_up_when_patience_ends():
    service = FakeService(*[problem(503)] * 100)
    with pytest.raises(RequestRefused):
        service.client(patience=2.0).stats()
    assert sum(service.waits) <= 2.0
    assert 3 <= len(service.waits) <= 6


def test_it_does_not_wait_less_than_asked_for():
    service = FakeService(problem(503, {"Retry-After": "3600"}))
    with pytest.raises(RequestRefused) as caught:
        service.client(patience=30.0).stats()
    assert caught.value.retry_after == 3600
    assert service.waits == []


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 422, 500])
def test_a_lasting_refusal_is_not_retried(status):
    service = FakeService(problem(status))
    with pytest.raises(RequestRefused):
        service.client().learn({"text": "ice", "classes": ["a"]})
    assert service.waits == []


@pytest.mark.parametrize(
    "lost", [httpx.ReadError("reset"), httpx.ReadTimeout("late"), httpx.ConnectError("refused")]
)
def test_learning_whose_answer_was_lost_is_sent_again_under_the_same_id(lost):
    service = FakeService(lost, LEARNED)
    client = answered_before(service)
    client.learn({"text": "ice", "classes": ["a"]})
    assert service.body(0) == service.body(1)
    assert service.body(0)["event_id"]


def test_a_service_that_never_answered_is_not_waited_for():
    service = FakeService(httpx.ConnectError("Connection refused"))
    with pytest.raises(
        ServiceUnreachable, match="no answer from http://service: Connection refuse"
    ):
        service.client().stats()
    assert service.waits == []


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.restore(7),
        lambda it: it.forget_class("a"),
        lambda it: it.delete_event("a"),
        lambda it: it.delete_events(source="a"),
        lambda it: it.rebuild(),
    ],
)
def test_a_request_that_may_not_happen_twice_is_not_sent_again(call):
    service = FakeService(httpx.ReadError("reset"))
    client = answered_before(service)
    with pytest.raises(ServiceUnreachable):
        call(client)
    assert service.waits == []


def test_every_unsent_request_may_be_retried():
    service = FakeService(httpx.ConnectError("refused"), {"seq": 8})
    assert answered_before(service).restore(7) == 8


@pytest.mark.parametrize("status", [502, 504])
def test_a_proxy_that_lost_the_answer(status):
    service = FakeService(httpx.Response(status), SNAPSHOT, httpx.Response(status))
    client = service.client()
    assert client.take_snapshot().seq == 7
    with pytest.raises(RequestRefused):
        client.restore(7)


def test_an_abstention_is_read():
    service = FakeService(
        {"id": "i", "seq": 1, "ranked": [], "confidence": 0.25, "abstained": True}
    )
    ranking = service.client().rank({"text": "ice"}, min_confidence=0.5)
    assert (ranking.abstained, ranking.confidence) == (True, 0.25)
    assert service.body()["min_confidence"] == 0.5


# --- retry ----------------------------------------------------------------------------------------


def test_waits_double_up_to_the_longest_and_to_the_patience():
    backoff = Backoff(20.0)
    error = ServiceUnreachable("http://service", "away")
    waits = []
    while (wait := backoff.wait_after(error)) is not None:
        waits.append(wait)
    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert max(waits) == LONGEST_WAIT
    assert 20.0 - LONGEST_WAIT < sum(waits) <= 20.0


def test_the_time_the_service_names_is_waited_for_if_the_patience_lasts():
    error = RequestRefused(503, "Service Unavailable", "", retry_after=8.0)
    backoff = Backoff(10.0)
    assert backoff.wait_after(error) == 8.0
    assert backoff.wait_after(error) is None

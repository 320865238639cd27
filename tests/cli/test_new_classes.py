"""New classes are found with few requests, however many there are."""

import httpx
import msgspec
import pytest

from manyclass.cli import new_classes
from manyclass.cli.new_classes import NewClasses
from manyclass.client.client import Client
from tests.service.serving import serving


@pytest.fixture
def client():
    """Yield a client of a service that has the class "zebra"."""
    with serving() as served, Client(served.url) as client:
        client.learn({"text": "a", "classes": ["zebra"]})
        yield client


@pytest.fixture
def requests(monkeypatch):
    """Return the requests sent from now on."""
    sent = []
    send = httpx.Client.send
    monkeypatch.setattr(
        httpx.Client,
        "send",
        lambda client, request, **how: (
            sent.append(request.url.path) or send(client, request, **how)
        ),
    )
    return sent


def events_of(*names):
    """Return events as they are read from lines, whose values are JSON."""
    encoded = msgspec.json.encode
    return [
        {"text": msgspec.Raw(b'"a"'), "classes": msgspec.Raw(encoded([name]))} for name in names
    ]


def teach(client, names):
    """Look up and teach the names, in batches; return what finds the new ones."""
    new = NewClasses(client, client.stats())
    for at in range(0, len(names), 200):
        some = events_of(*names[at : at + 200])
        new.look(some)
        client.learn_many(some)
        new.learned(some)
    return new


def said_of(new, capsys, **how):
    capsys.readouterr()
    new.tell(**how)
    return capsys.readouterr().err.strip()


def test_the_number_of_requests_does_not_grow_with_the_new_classes(client, requests, capsys):
    numbers = []
    for number in (100, 2000):
        requests.clear()
        new = teach(client, [f"{number} {n}" for n in range(number)])
        said = said_of(new, capsys)
        assert said.startswith(f"manyclass: {number:,} new classes: ")
        assert said.endswith(f" and {number - 10:,} more")
        numbers.append(sum(path != "/learn" for path in requests))
    assert numbers[1] - numbers[0] <= 3  # pages of the listing


def test_former_names_among_many_are_not_new(client, capsys):
    client.rename_class("zebra", "horse")
    new = teach(client, ["zebra", *(f"c{n}" for n in range(30))])
    assert said_of(new, capsys).startswith("manyclass: 30 new classes: 'c0', ")
    new = teach(client, ["zebra"])
    assert said_of(new, capsys) == ""


def test_classes_of_the_taxonomy_are_not_new(client, capsys):
    client.rename_class("zebra", "horse")
    client.place("cow", "animals")
    new = teach(client, ["zebra", "cow", "sheep"])
    assert said_of(new, capsys) == "manyclass: 1 new class: 'sheep'"


def test_a_service_that_may_not_answer_is_not_asked(client, requests, capsys):
    new = teach(client, ["sheep"])
    requests.clear()
    assert said_of(new, capsys, asks=False) == "manyclass: 1 new class: 'sheep'"
    assert requests == []


def test_no_more_names_are_kept_than_are_counted(client, monkeypatch, capsys):
    monkeypatch.setattr(new_classes, "MOST_COUNTED", 12)
    new = teach(client, [f"c{n}" for n in range(30)])
    assert said_of(new, capsys).startswith("manyclass: at least 12 new classes: ")


@pytest.mark.parametrize(
    "known",
    [{"title": "Zebra"}, {"vector": [1.0, 2.0]}],
    ids=["described", "vector"],
)
def test_a_service_without_words_has_classes_too(known, capsys):
    with serving() as served, Client(served.url) as client:
        if "title" in known:
            client.describe("zebra", known)
        else:
            client.learn({**known, "classes": ["zebra"]})
        new = teach(client, ["zebra", "zebar"])
        assert said_of(new, capsys) == "manyclass: 1 new class: 'zebar' (close to 'zebra')"

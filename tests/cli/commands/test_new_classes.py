"""A misspelt class becomes a new class: `manyclass learn` names those at the end."""

import json

import pytest

from manyclass.cli import class_names, new_classes
from manyclass.client.client import Client
from tests.cli.services import new_service


@pytest.fixture
def taught(manyclass):
    """Return a function that teaches a service classes and returns what is said of new ones."""
    with new_service() as url:

        def said(*classes, **options):
            body = "".join(f"{json.dumps({'text': 'x', 'classes': [each]})}\n" for each in classes)
            result = manyclass("learn", "-", "--url", url, input=body, **options)
            return "".join(each for each in result.stderr.splitlines() if "new class" in each)

        said.url = url
        yield said


def test_a_new_class_is_named_with_the_classes_close_to_it(taught):
    assert taught("refund", "card_arrival") == ""
    assert taught("refund", "card_arrival") == ""
    assert taught("refnud", "refund", "refnud", "weather") == (
        "manyclass: 2 new classes: 'refnud' (close to 'refund'), 'weather'"
    )
    assert taught("refnud", 7) == "manyclass: 1 new class: '7'"
    assert taught("refnud", 7) == ""


def test_ten_of_many_new_classes_are_named(taught):
    taught("zebra")
    said = taught(*(str(number) for number in range(2000, 2013)))
    assert said.startswith("manyclass: 13 new classes: '2000', '2001', ")
    assert said.endswith(", '2009' and 3 more")


def test_long_names_are_not_compared_and_shown_by_their_beginning(taught, monkeypatch):
    taught("x" * 201, "y" * 201)
    monkeypatch.setattr(class_names, "get_close_matches", lambda name, names, most: [*names])
    assert taught("x" * 202, "xx") == (f"manyclass: 2 new classes: '{'x' * 59}…', 'xx'")


def test_former_names_and_classes_of_the_taxonomy_are_not_new(taught):
    taught("hockey", "tennis")
    with Client(taught.url) as client:
        client.rename_class("hockey", "ice-hockey")
        client.place("chess", "games")
    assert taught("hockey", "chess") == ""


def test_the_classes_of_a_service_may_be_described_before_the_first_event(taught):
    with Client(taught.url) as client:
        client.describe_many([{"class": "hockey", "title": "A"}, {"class": "tennis", "title": "B"}])
    assert taught("hockey", "hokey") == "manyclass: 1 new class: 'hokey' (close to 'hockey')"
    assert taught("tennis", "hokey") == ""


def test_a_class_of_refused_events_is_not_named(taught):
    taught("zebra")
    assert taught("a" * 100_000, exit_code=1) == ""


def test_the_classes_of_a_large_service_are_not_listed(taught, monkeypatch):
    taught("refund", "card_arrival")
    monkeypatch.setattr(new_classes, "MOST_LISTED", 1)
    monkeypatch.setattr(new_classes, "MOST_ASKED", 3)
    said = taught("refund", "refnud", "card_arrival", "unasked", "refnud")
    assert said == "manyclass: at least 1 new class: 'refnud' (close to 'refund')"


def test_a_name_is_not_looked_up_for_each_row(taught, monkeypatch):
    taught("refund")
    monkeypatch.setattr(new_classes, "MOST_LISTED", 0)
    asked = []
    is_taught = new_classes.is_taught
    monkeypatch.setattr(
        new_classes, "is_taught", lambda client, name: asked.append(name) or is_taught(client, name)
    )
    taught(*["refund", "refnud"] * 500)
    assert asked == ["refund", "refnud"]

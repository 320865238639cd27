import json

import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service

WRONG = {"text": "a puck on the ice", "classes": ["baseball"], "event_id": "wrong"}


@pytest.fixture(scope="module")
def taught():
    """Yield the URL of a service that was taught two classes, and one wrong label."""
    texts = [("a puck on the ice", "hockey"), ("a ball over the fence", "baseball")]
    events = [{"text": text, "classes": [name]} for text, name in texts * 60]
    with new_service() as url, Client(url) as client:
        client.learn_many([*events, WRONG])
        yield url


def rows(result):
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_a_wrong_label_is_suspected(manyclass, taught):
    [row] = rows(manyclass("suspects", "--limit", 1, "--url", taught))
    assert row[0] == "wrong"
    assert 0 < float(row[1]) < 1
    assert row[2:] == ["hockey", "baseball", "a puck on the ice"]
    [line] = manyclass("suspects", "--limit", 1, "--json", "--url", taught).stdout.splitlines()
    shown = json.loads(line)
    assert (shown["suggested"], shown["event"]["event_id"]) == ("hockey", "wrong")


def test_pairs_of_classes_are_listed(manyclass, taught):
    result = manyclass("confusions", "--last", 1, "--url", taught)
    assert rows(result) == [["1", "hockey", "baseball", "seq:121"]]
    assert result.stderr == "1 event, ranked right before learning: 0.000\n"
    listed = manyclass("confusions", "--last", 1, "--json", "--url", taught).stdout
    [pair] = map(json.loads, listed.splitlines())
    assert pair == {"ranked_first": "hockey", "true": "baseball", "count": 1, "events": [121]}


def test_classes_are_listed_with_recall_and_precision(manyclass, taught):
    result = manyclass("confusions", "--classes", "--last", 3, "--url", taught)
    assert rows(result) == [
        ["baseball", "2", "0.500", "1.000"],
        ["hockey", "1", "1.000", "0.500"],
    ]
    unknown = manyclass("confusions", "--classes", "--last", 1, "--json", "--url", taught)
    assert json.loads(unknown.stdout.splitlines()[0])["precision"] is None


def test_nothing_is_found_in_a_new_service(manyclass):
    with new_service() as url:
        nothing = manyclass("suspects", "--url", url)
        assert (nothing.stdout, nothing.stderr) == ("", "no label is likely wrong\n")
        none = manyclass("confusions", "--url", url)
        assert (none.stdout, none.stderr) == ("", "0 events, ranked right before learning: -\n")


@pytest.mark.parametrize("command", ["suspects", "confusions"])
def test_a_limit_that_is_too_high(manyclass, nobody, command):
    manyclass(command, "--limit", "1001", "--url", nobody, exit_code=2)

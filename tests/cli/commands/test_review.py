import json

import pytest

from manyclass.client.client import Client
from manyclass.client.types import Review
from tests.cli.services import new_service


def test_lists_instances_without_a_label(manyclass):
    with new_service(shadows=("pa",)) as url:
        nothing = manyclass("review", "--url", url)
        assert (nothing.stdout, nothing.stderr) == (
            "",
            "no such instance waits for a label\n",
        )
        with Client(url) as client:
            client.learn({"features": ["a"], "classes": ["x"]})
            client.learn({"features": ["b"], "classes": ["y"]})
            client.rank({"features": ["a", "b"], "id": "one"})
            client.rank({"features": [f"f{each}" for each in range(20)], "id": "two"})
        one, two = (
            line.split("\t") for line in manyclass("review", "--url", url).stdout.splitlines()
        )
        assert (one[0], one[1], set(one[3].split(", ")), one[4]) == ("one", "-", {"x", "y"}, "a, b")
        assert (two[0], two[3]) == ("two", "(no class)")
        assert two[4].endswith("f10, f11, and 8 more")
        lines = manyclass("review", "--json", "--limit", "1", "--url", url).stdout.splitlines()
        [shown] = map(json.loads, lines)
        assert (shown["id"], shown["features"]) == ("one", {"a": 1.0, "b": 1.0})
        by_shadow = manyclass("review", "--learner", "pa", "--url", url).stdout
        assert [line.split("\t")[0] for line in by_shadow.splitlines()] == ["one", "two"]
        unknown = manyclass("review", "--learner", "ff", "--url", url, exit_code=1)
        assert "no learner is named 'ff'; the learners are " in unknown.stderr


def test_says_why_what_waits_may_be_missing(manyclass, monkeypatch):
    found = Review(None, (), failing="the store is full")
    monkeypatch.setattr(Client, "review", lambda *_, **__: found)
    with new_service() as url:
        said = manyclass("review", "--url", url).stderr
    assert "warning: not all that waits can be stored or read now: the store is full" in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("late goal\n in overtime", "late goal in overtime"),
        (
            {"title": "late goal", "body": "in\n overtime"},
            "title: late goal  body: in overtime",
        ),
        ("goal " * 30, "goal " * 11 + "goal…"),
    ],
    ids=["a text", "fields", "a long text"],
)
def test_shows_a_text_as_it_was_sent(manyclass, text, shown):
    with new_service() as url:
        with Client(url) as client:
            client.rank({"text": text, "id": "one"})
        assert manyclass("review", "--url", url).stdout.rstrip("\n").split("\t")[4] == shown


def test_a_limit_that_is_too_high(manyclass, nobody):
    manyclass("review", "--limit", "101", "--url", nobody, exit_code=2)


LETTERS = [
    {"text": "a dark lamp", "id": "m-1", "source": "Ann"},
    {"text": "a full bin", "id": "m-2", "source": "Ben"},
    {"text": "a lamp again", "id": "m-3", "source": "Ann"},
]


def listed(manyclass, url, *options):
    """Return the ids that `manyclass review` lists, and its summary."""
    done = manyclass("review", "--url", url, *options)
    return [line.split("\t")[0] for line in done.stdout.splitlines()], done.stderr


def test_chooses_instances(manyclass):
    with new_service() as url:
        with Client(url) as client:
            client.learn({"text": "a lamp", "classes": ["lamps"]})
            client.learn({"text": "a bin", "classes": ["waste"]})
            client.give_for_review(LETTERS[:2], batch="one.csv")
            client.give_for_review(LETTERS[2:], batch="two.csv")
            client.rank({"text": "the lamp", "id": "m-4", "min_confidence": 0.9})
            client.rank({"text": "the lamp", "id": "m-5"})
        assert listed(manyclass, url, "--source", "Ann")[0] == ["m-1", "m-3"]
        assert listed(manyclass, url, "--batch", "two.csv")[0] == ["m-3"]
        assert listed(manyclass, url, "--source", "Ann", "--batch", "one.csv")[0] == ["m-1"]
        assert listed(manyclass, url, "--strategy", "class:waste")[0] == ["m-2"]
        assert sorted(listed(manyclass, url, "--abstained")[0]) == ["m-1", "m-2", "m-3", "m-4"]
        ids, summary = listed(manyclass, url, "--strategy", "random", "--limit", "2")
        assert len(ids) == 2
        assert summary == "5 instances wait for a label, 2 listed\n"
        wrong = manyclass("review", "--url", url, "--strategy", "worst", exit_code=1)
        assert "strategy" in wrong.stderr


def test_only_a_reviewer_leases_what_is_listed(manyclass):
    keys = ("anna:a-key", "ben:b-key")
    with new_service(learn_keys=keys) as url:
        with Client(url, "a-key") as client:
            client.give_for_review(LETTERS)
        ben = ["--key", "b-key", "--reviewer", "ben"]
        assert len(listed(manyclass, url, "--key", "a-key")[0]) == 3  # leases none
        ids, summary = listed(manyclass, url, *ben, "--limit", "2")
        assert summary == "3 instances wait for a label, 2 listed, leased to ben for 120 s\n"
        anna = listed(manyclass, url, "--key", "a-key", "--reviewer", "anna")[0]
        assert sorted(ids + anna) == ["m-1", "m-2", "m-3"]
        assert len(listed(manyclass, url, "--key", "a-key")[0]) == 3
        other = manyclass("review", "--url", url, "--key", "a-key", "--reviewer", "ben").stderr
        assert "warning: the key has the name anna, which counts, not ben" in other

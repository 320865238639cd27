import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service


@pytest.fixture(scope="module")
def several():
    """Yield the URL of a real service with a shadow."""
    with new_service(learner="ff(rating=0)", shadows=("pa(replay=2)",)) as url:
        with Client(url) as client:
            for name in ["y", *"x" * 103]:
                client.learn({"features": ["a", "b"], "classes": [name]})
        yield url


def table(result):
    return [line.split() for line in result.stdout.splitlines()]


def test_list_and_promote(manyclass, several):
    head, first, second = table(manyclass("learners", "list", "--url", several))
    assert head == ["learner", "role", "events", "R1", "R5", "MRR", "µs/event", "edges", "bytes"]
    assert first[:3] == ["ff(rating=0)", "primary", "104"]
    assert second[:3] == ["pa(replay=2)", "shadow", "104"]
    assert all(float(row[6]) > 0 and int(row[7]) > 0 for row in (first, second))

    manyclass("learners", "promote", "pa(replay=2)", "--url", several, input="n\n", exit_code=1)
    done = manyclass("learners", "promote", "pa(replay=2)", "--url", several, input="y\n")
    assert "pa(replay=2) is the primary learner, by event 105 of the log" in done.stdout
    rows = table(manyclass("learners", "list", "--url", several, "--window", "100"))
    assert [row[:3] for row in rows[1:]] == [
        ["pa(replay=2)", "primary", "100"],
        ["ff(rating=0)", "shadow", "100"],
    ]
    assert rows[2][3:6] == ["1.000", "1.000", "1.000"]


def test_a_learner_that_is_not_there(manyclass, several):
    result = manyclass("learners", "promote", "ema", "--yes", "--url", several, exit_code=1)
    assert result.stderr == (
        "manyclass: the service refused: 404 Not Found: no learner is named 'ema'; the learners are"
        " 'pa(replay=2)', 'ff(rating=0)'\n"
    )


def test_before_anything_is_learned_there_is_no_time_to_tell(manyclass):
    with new_service() as url:
        _, only = table(manyclass("learners", "list", "--url", url))
    assert only[:6] == ["svm", "primary", "0", "0.000", "0.000", "0.000"]
    assert len(only) == 8


def test_a_window_there_is_not(manyclass, several):
    manyclass("learners", "list", "--window", "99", "--url", several, exit_code=2)


def test_add_and_remove(manyclass):
    with new_service() as url:
        with Client(url) as client:
            client.learn({"features": ["a"], "classes": ["x"]})
        added = manyclass("learners", "add", "pa(replay=2)", "--url", url)
        assert added.stdout == "pa(replay=2) is a shadow, by event 2 of the log\n"
        manyclass("learners", "remove", "pa(replay=2)", "--url", url, input="n\n", exit_code=1)
        removed = manyclass("learners", "remove", "pa(replay=2)", "--yes", "--url", url)
        assert removed.stdout == "pa(replay=2) is removed, by event 3 of the log\n"
        [_, only] = table(manyclass("learners", "list", "--url", url))
        assert only[0] == "svm"
        refused = manyclass("learners", "remove", "svm", "--yes", "--url", url, exit_code=1)
        assert "promote another one first" in refused.stderr


def test_add_with_the_history(manyclass, tmp_path):
    with new_service(store=f"sqlite:{tmp_path}/a.db") as url:
        with Client(url) as client:
            client.learn({"features": ["a"], "classes": ["x"]})
        added = manyclass("learners", "add", "ff", "--history", "--url", url)
        assert "; it has learned 2 events of the history" in added.stdout
        rows = table(manyclass("learners", "list", "--url", url))
        assert [row[:3] for row in rows[1:]] == [["svm", "primary", "1"], ["ff", "shadow", "1"]]


def taught():
    """Yield events: class "x" is told by its feature, the other two share one."""
    for number in range(600):
        name = ("x", "y", "z")[number * 7 % 3]
        yield {"features": ["x" if name == "x" else "yz"], "classes": [name], "source": "desk"}


def test_limits(manyclass):
    with new_service() as url:
        before = manyclass("learners", "limits", "--url", url)
        assert before.stdout.splitlines() == [
            "svm: 0 outcomes, - right",
            "target  limit  answered  right  classes",
            *(f"{target:<6}      -         -      -        -" for target in (0.8, 0.9, 0.95, 0.99)),
        ]
        with Client(url) as client:
            for event in taught():
                client.learn(event)
            found = client.operating_points(0.9)
        point = found.all.targets[0].point
        _, _, row = manyclass(
            "learners", "limits", "--target", 0.9, "--url", url
        ).stdout.splitlines()
        assert row.split() == [
            *("0.9", f"{point.limit:.3f}", f"{point.coverage:.1%}", f"{point.accuracy:.1%}"),
            f"{point.classes}",
        ]
        told = manyclass("learners", "limits", "--target", 0.9, "--by", "class", "--url", url)
        heads, *rows, last = told.stdout.splitlines()[1:]
        assert heads.split() == ["class", "outcomes", "right", "limit", "for", "0.9"]
        limits = {row.split()[0]: row.split()[3] for row in rows}
        assert limits["x"] != "-"
        assert limits["y"] == limits["z"] == "-"
        assert last == "1 of 3 reach 0.9"
        everything = manyclass("learners", "limits", "--window", "newest", "--url", url).stdout
        best = found.all.best
        assert ("0.99        -" in everything) == (
            f"- no limit reaches it yet: at best {best.coverage:.1%}" in everything
        )
        sources = manyclass("learners", "limits", "--by", "source", "--url", url).stdout
        assert "desk" in sources

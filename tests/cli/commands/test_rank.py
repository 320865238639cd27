import json
import re

import pytest

from manyclass.client.client import Client
from tests.cli.services import new_service


@pytest.fixture(scope="module")
def hockey(service):
    with Client(service) as client:
        client.learn_many([{"text": "ice and sticks", "classes": ["hockey"]}] * 12)
    return service


def test_results_are_lines_of_json_in_order(manyclass, hockey):
    body = '{"text": "ice", "id": "one"}\n{"features": ["never seen"], "id": "two"}\n'
    result = manyclass("rank", "-", "--url", hockey, input=body)
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["id"] == "one"
    assert first["ranked"][0]["class"] == "hockey"
    assert first["ranked"][0]["score"] > 0
    assert "features" not in first["ranked"][0]
    assert first["seq"] >= 12
    assert (second["id"], second["ranked"]) == ("two", [])
    assert "ranked 2 in" in result.stderr


def test_reasons_when_asked_for(manyclass, hockey):
    result = manyclass("rank", "-", "--url", hockey, "--explain", input='{"text": "ice"}')
    votes = json.loads(result.stdout)["ranked"][0]["features"]
    assert votes[0]["feature"] == "ice"
    assert votes[0]["score"] > 0


def test_k_and_threshold_limit_the_classes(manyclass, hockey):
    body = '{"text": "ice sticks"}'
    assert (
        json.loads(manyclass("rank", "-", "--url", hockey, "--threshold", "5", input=body).stdout)[
            "ranked"
        ]
        == []
    )
    with Client(hockey) as client:
        client.learn({"text": "ice", "classes": ["skating"]})
    ranked = json.loads(manyclass("rank", "-", "--url", hockey, "--k", 1, input=body).stdout)
    assert len(ranked["ranked"]) == 1


def test_given_classes_alone_are_ranked(manyclass, hockey):
    with Client(hockey) as client:
        client.learn({"text": "ice", "classes": ["skating"]})
        assert client.rank({"text": "ice"}, among=["skating"]).ranked[0].name == "skating"
    body = '{"text": "ice"}\n{"text": "sticks"}\n'
    given = ("--among", "skating", "--among", "golf", "--per-request", 1)
    result = manyclass("rank", "-", "--url", hockey, *given, input=body)
    first, second = (json.loads(line)["ranked"] for line in result.stdout.splitlines())
    assert [each["class"] for each in first] == ["skating"]
    assert {each["class"] for each in second} <= {"skating"}
    assert result.stderr.count("warning: --among: No class is named 'golf'.") == 1


def test_classes_come_by_expected_loss(manyclass, hockey):
    body = '{"text": "ice"}'
    asked = ("rank", "-", "--url", hockey, "--decode", "taxo")
    with Client(hockey) as client:
        client.learn({"text": "ice", "classes": ["skating"], "parents": {"skating": "sports"}})
        ranked = client.rank({"text": "ice"}, decode="taxo").ranked
        [many] = client.rank_many([{"text": "ice"}], decode="taxo").results
    assert many.ranked == ranked
    losses = [each.expected_loss for each in ranked]
    assert losses == sorted(losses)
    assert losses[0] > 0
    [line] = manyclass(*asked, input=body).stdout.splitlines()
    assert [each["expected_loss"] for each in json.loads(line)["ranked"]] == losses
    manyclass("rank", "-", "--url", hockey, "--decode", "loss", input=body, exit_code=2)


def test_expected_loss_without_a_taxonomy_is_refused(manyclass):
    # A service of its own: on the shared one other tests place classes.
    with new_service() as url:
        asked = ("rank", "-", "--url", url, "--decode", "taxo")
        refused = manyclass(*asked, input='{"text": "ice"}', exit_code=1)
    assert "needs a taxonomy" in refused.stderr


def test_a_ranking_below_the_confidence_is_abstained(manyclass, hockey):
    body = '{"features": ["never seen"]}'
    usual = json.loads(manyclass("rank", "-", "--url", hockey, input=body).stdout)
    assert usual["confidence"] is None
    assert "abstained" not in usual
    asked = ("rank", "-", "--url", hockey, "--min-confidence", 0.5)
    abstained = json.loads(manyclass(*asked, input=body).stdout)
    assert (abstained["ranked"], abstained["confidence"]) == ([], None)
    assert abstained["abstained"] is True


def told(result):
    """Return what was said about abstentions: the lines after the summary."""
    return result.stderr.splitlines()[1:]


def test_answers_and_abstentions_are_counted_with_their_limit(manyclass):
    body = '{"features": ["never seen"]}\n'
    with new_service() as url:  # on the shared one other tests teach
        asked = ("rank", "-", "--no-review", "--url", url)
        assert told(manyclass(*asked, input=body)) == []
        assert told(manyclass(*asked, "--min-confidence", 0.5, input=body)) == [
            "answered 0, abstained 1: the limit of confidence is 0.5",
            "no ranking has a confidence: no class was found, or the service has fewer than 100"
            " labelled events",
        ]
        assert told(manyclass(*asked, "--min-accuracy", 0.9, input=body)) == [
            "answered 0, abstained 1: no limit of confidence makes answers 90 % right yet",
            "there is no confidence yet: the service needs 100 labelled events first",
        ]


def test_an_accuracy_out_of_reach_is_explained(manyclass):
    with new_service() as url, Client(url) as client:
        for begin in range(0, 400, 100):
            events = [
                {"features": [f"f{at % 4}"], "classes": [f"c{at % 4 if at % 5 else 9}"]}
                for at in range(begin, begin + 100)
            ]
            client.learn_many(events)
        asked = ("rank", "-", "--no-review", "--url", url, "--min-accuracy")
        body = '{"features": ["f1"]}\nno line\n'
        high = manyclass(*asked, 0.99, input=body, exit_code=1)
        assert json.loads(high.stdout)["abstained"] is True
        first, second = high.stderr.splitlines()[-2:]
        assert (
            first == "answered 0, abstained 1: no limit of confidence makes answers 99 % right yet"
        )
        assert re.match(r"of the newest 296 outcomes, the best limit, 0\.\d{3}, answers ", second)
        assert "`manyclass learners limits`" in second
        low = told(manyclass(*asked, 0.5, input=body.splitlines()[0]))
        [said] = low
        assert re.fullmatch(
            r"answered 1, abstained 0: the limit of confidence for 50 % right is 0\.\d{3}", said
        )
        none = told(
            manyclass(
                "rank",
                "-",
                "--no-review",
                "--url",
                url,
                "--min-confidence",
                1,
                input=body.splitlines()[0],
            )
        )
        assert none[0] == "answered 0, abstained 1: the limit of confidence is 1"
        assert re.fullmatch(r"the highest confidence was 0\.\d{3}", none[1])


@pytest.mark.parametrize("option", ["--min-accuracy", "--min-precision"])
def test_a_limit_that_is_found_soon_is_named(manyclass, option):
    with new_service() as url, Client(url) as client:
        for begin in range(0, 400, 50):
            many = range(begin, min(begin + 50, 399))
            client.learn_many(
                [{"features": [f"f{at % 4}"], "classes": [f"c{at % 4}"]} for at in many]
            )
        points = client.operating_points(0.9)
        least = (
            points.newest.best.accuracy_low
            if option == "--min-accuracy"
            else points.probabilities.best.precision_low
        )
        asked = ("rank", "-", "--no-review", "--url", url, option, least - 1e-4)
        first, second = told(manyclass(*asked, input='{"features": ["f1"]}'))
        assert first.startswith("answered 0, abstained 1: no limit of ")
        limit = re.search(r"--min-(confidence|probability) (0\.\d{3}) applies it now$", second)
        assert limit is not None, second
        now = ("rank", "-", "--no-review", "--url", url, f"--min-{limit[1]}", limit[2])
        [said] = told(manyclass(*now, input='{"features": ["f1"]}'))
        assert said.startswith("answered 1, abstained 0")


def test_probable_classes_and_a_precision_out_of_reach(manyclass, tmp_path):
    with new_service() as url, Client(url) as client:
        for begin in range(0, 400, 100):
            events = [
                {"features": [f"f{at % 4}", "all"], "classes": [f"c{at % 4 if at % 5 else 9}"]}
                for at in range(begin, begin + 100)
            ]
            client.learn_many(events)
        asked = ("rank", "-", "--no-review", "--url", url)
        body = '{"features": ["f1"]}'
        everything = json.loads(manyclass(*asked, "--probabilities", input=body).stdout)["ranked"]
        first, second = (each["probability"] for each in everything[:2])
        assert first > second > 0
        some = manyclass(*asked, "--min-probability", 0.7, input=body)
        assert json.loads(some.stdout)["ranked"] == everything[:1]
        assert told(some) == ["answered 1, abstained 0: the limit of probability is 0.7"]
        [said] = told(manyclass(*asked, "--min-precision", 0.3, input=body))
        assert re.fullmatch(
            r"answered 1, abstained 0: the limit of probability for 30 % right is 0\.\d{3}", said
        )
        both = manyclass(*asked, "--min-probability", 0.1, "--min-confidence", 0.2, input=body)
        assert told(both) == [
            "answered 1, abstained 0: the limit of confidence is 0.2,"
            " the limit of probability is 0.1"
        ]
        none, why = told(manyclass(*asked, "--min-precision", 0.999, input=body))
        assert none == (
            "answered 0, abstained 1: no limit of probability makes 99.9 % of the classes right yet"
        )
        assert re.match(r"the best limit of probability, 0\.\d{3}, gives \d+ classes: ", why)
        out = tmp_path / "ranked.csv"
        manyclass(*asked, "--probabilities", "-k", 2, "--out", out, input=body)
        heads, row = (line.split(",") for line in out.read_text().splitlines())
        assert heads[-7:] == [
            *("confidence", "class_1", "probability_1", "score_1"),
            *("class_2", "probability_2", "score_2"),
        ]
        assert row[-5] == row[-7] == f"{first:.6f}"
        assert row[-2] == f"{second:.6f}"
        table = manyclass("learners", "limits", "--precision", "--url", url).stdout.splitlines()
        assert table[0].startswith("svm: ")
        assert table[1].split() == ["target", "limit", "precision", "recall", "classes", "each"]
        assert [line.split()[0] for line in table[2:6]] == ["0.8", "0.9", "0.95", "0.99"]
        assert table[6].startswith("- no limit reaches it yet: of the ")
        both = ("--min-accuracy", 0.3, "--min-confidence", 0.99)
        assert told(manyclass(*asked, *both, input=body))[0] == (
            "answered 0, abstained 1: the limit of confidence is 0.99, not below that for"
            " 30 % right"
        )
        reached = manyclass(
            "learners", "limits", "--precision", "--target", 0.3, "--url", url
        ).stdout
        curve = client.operating_points(0.3).probabilities
        point = curve.targets[0].point
        assert reached.splitlines()[2].split() == [
            *("0.3", f"{point.limit:.3f}", f"{point.precision:.1%}", f"{point.recall:.1%}"),
            f"{point.classes / curve.rankings:.2f}",
        ]
        assert point.precision != point.recall
        refused = manyclass(
            "learners", "limits", "--precision", "--by", "class", "--url", url, exit_code=2
        )
        assert "leave out --by" in refused.stderr


@pytest.mark.parametrize("option", ["--threshold", "--min-confidence"])
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_limit_is_a_number(manyclass, hockey, option, number):
    result = manyclass(
        "rank", "-", "--url", hockey, option, number, input='{"text": "ice"}', exit_code=2
    )
    assert option in result.stderr
    assert result.stdout == ""


def test_no_older_than_an_event(manyclass, hockey):
    body = '{"text": "ice"}'
    result = manyclass("rank", "-", "--url", hockey, "--min-seq", 12, input=body)
    assert json.loads(result.stdout)["seq"] >= 12
    result = manyclass("rank", "-", "--url", hockey, "--min-seq", -1, input=body, exit_code=2)


def test_bad_lines_leave_no_result(manyclass, hockey):
    body = '{"text": "ice", "id": "one"}\nno\n{"text": "ice", "id": "three"}\n{"text": 5}\n'
    result = manyclass("rank", "-", "--url", hockey, input=body, exit_code=1)
    ids = [json.loads(line)["id"] for line in result.stdout.splitlines()]
    assert ids == ["one", "three"]
    assert "standard input:2: " in result.stderr
    assert "standard input:4: `text` must be a string" in result.stderr


def test_a_wrong_option_ends_the_run_and_blames_no_line(manyclass, hockey):
    result = manyclass(
        "rank", "-", "--url", hockey, "--k", 5000, input='{"text": "ice"}\n' * 5, exit_code=1
    )
    assert result.stderr.startswith("manyclass: the service refused: 422 ")
    assert len(result.stderr.splitlines()) == 1


def test_no_batch_is_larger_than_the_service_takes(manyclass, service, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"features": ["a"]}\n' * 90)
    for options in (["--explain"], ["--k", "1000"]):
        result = manyclass("rank", str(lines), "--url", service, *options)
        assert len(result.stdout.splitlines()) == 90


def test_the_input_is_not_replaced_by_the_results(manyclass, hockey, tmp_path):
    table = tmp_path / "in.csv"
    table.write_text("text\nice\n")
    (tmp_path / "link.csv").symlink_to(table)
    for out in (table, tmp_path / "link.csv"):
        refused = manyclass(
            *("rank", table, "--text-column", "text", "--out", out, "--url", hockey), exit_code=2
        )
        assert "is the input" in refused.stderr
    assert table.read_text() == "text\nice\n"

import gzip
import json
from unittest.mock import Mock

import pytest

from manyclass.cli import report_files
from manyclass.evaluation import cost
from tests.evaluation.examples import Always


@pytest.fixture(autouse=True)
def speed_is_measured_shortly(monkeypatch):
    monkeypatch.setattr(cost, "SHORTEST", 1e-6)


@pytest.fixture
def data(tmp_path):
    """Return a folder with small versions of two public data sets."""
    for name in ("clinc150", "banking77"):
        rows = [
            {"split": "test" if at % 4 == 0 else "train", "classes": [word], "text": f"{word} {at}"}
            for at in range(40)
            for word in ["card" if at % 3 else "pin"]
        ]
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(
        "".join(
            json.dumps({"features": [f"f{at % 3}"], "classes": [f"c{at % 3}"]}) + "\n"
            for at in range(60)
        )
    )
    return file


@pytest.fixture
def with_peers(manyclass):
    """Call the command as `studies.compare` does, with two peers; one lacks its package."""

    def missing(seed):
        raise ImportError("needs the package nopackage")

    def call(*arguments, **options):
        return manyclass(*arguments, obj={"always": Always, "missing": missing}, **options)

    return call


def first_words(output):
    return [line.split()[0] for line in output.splitlines() if line.strip()]


def test_sets_are_evaluated_one_after_the_other(manyclass, data):
    result = manyclass("evaluate", "--set", "clinc,banking", "--data", data, "--splits", 2)

    assert first_words(result.stdout) == ["clinc:", "learner", "svm", "banking:", "learner", "svm"]
    assert "30 + 10 instances, split as given, 2 classes" in result.stdout
    assert "1.000 ± 0.000" in result.stdout


def test_learners_options_and_peers_are_compared(with_peers, data):
    arguments = ["--learner", "ff(rating=0)", "--learner", "ff,pa(replay=2)", "--passes", 2]

    result = with_peers(
        *("evaluate", "--set", "clinc", "--data", data, *arguments),
        *("--vary", "margin_threshold=0,0.5", "--peers", "always", "--splits", 1),
    )

    assert first_words(result.stdout)[2:] == [
        "ff(rating=0)",
        "ff",
        "pa(replay=2)",
        "ff(margin_threshold=0,rating=0)",
        "ff(margin_threshold=0.5,rating=0)",
        "ff(margin_threshold=0)",
        "ff(margin_threshold=0.5)",
        "pa(margin_threshold=0,replay=2)",
        "pa(margin_threshold=0.5,replay=2)",
        "always",
    ]


def test_measures_are_written_to_files(manyclass, data, tmp_path):
    found, page = tmp_path / "found.json", tmp_path / "page.html"

    result = manyclass(
        *("evaluate", "--set", "clinc,banking", "--data", data, "--splits", 2),
        *("--json", found, "--html", page, "--markdown"),
    )

    assert "| --- | ---: |" in result.stdout
    read = json.loads(found.read_text())
    assert [each["name"] for each in read["sets"]] == ["clinc", "banking"]
    assert {"command", "machine"} <= read.keys()
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("source", ["set", "file"])
def test_texts_are_read_by_the_analysis_that_is_named(manyclass, data, tmp_path, source):
    """Each text is one word, so only characters tell to which class it belongs."""
    lines = [
        json.dumps({"split": split, "classes": [begin], "text": f"{begin}{split}{at}"})
        for begin in ("card", "limit")
        for split in ("train", "test")
        for at in range(40)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines))
    (data / "clinc150.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    given = ("--set", "clinc", "--data", data) if source == "set" else (file,)
    shown = {}
    for analysis in ("words", "words+characters"):
        result = manyclass("evaluate", *given, "--splits", 1, "--text", analysis)
        shown[analysis] = next(row for row in result.stdout.splitlines() if " svm " in row).split()
    assert shown["words"][2] == "0.000"
    assert shown["words+characters"][2] == "1.000"


def test_own_files_are_split_at_random(manyclass, rows):
    result = manyclass("evaluate", rows, "--held-out", 0.25, "--splits", 2)

    assert "rows.jsonl: 45 + 15 instances, split at random, 3 classes" in result.stdout
    assert "read 60 instances" in result.stderr


def test_standard_input_is_named_as_such(manyclass, rows):
    result = manyclass("evaluate", "-", "--splits", 1, input=rows.read_bytes())

    assert result.stdout.startswith("standard input: 54 + 6 instances")


def test_own_files_may_be_tested_on_another(manyclass, rows, tmp_path):
    test = tmp_path / "test.jsonl"
    test.write_text('{"features": ["f1", "new"], "classes": ["c1"]}\n')

    result = manyclass("evaluate", rows, "--test", test, "--splits", 1)

    assert "60 + 1 instances, split as given, 3 classes, 4 features" in result.stdout


def test_a_stream_is_ranked_before_it_is_learned(manyclass, rows, tmp_path):
    found = tmp_path / "found.json"

    result = manyclass("evaluate", rows, "--progressive", "--no-shuffle", "--json", found)

    assert "60 instances as one stream" in result.stdout
    (outcome,) = json.loads(found.read_text())["sets"][0]["results"][0]["outcomes"]
    assert outcome["stream"]["overall"]["R1"] == pytest.approx(57 / 60)  # each class is new once


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "newsgroups-bydate"),
        (["--set", "news"], "no data set is called 'news'"),
        (["--set", "clinc", "--learner", "gg"], "--learner"),
        (["--set", "clinc", "--learner", "ff(rating=-1)"], "rating"),
        (["--set", "clinc", "--vary", "max_outdegree"], "OPTION=VALUE"),
        (["--set", "clinc", "--vary", "leak=no"], "has no effect"),
        (["--set", "clinc", "--peers", "nobody"], "the peers are always, missing"),
        (["--set", "clinc", "--peers", "always,missing"], "needs the package nopackage"),
        (["--set", "clinc", "--html", "nowhere/x.html"], "no folder nowhere"),
        (["--set", "clinc", "--html", "."], "is a folder"),
        (["--set", "clinc", "--json", ""], "is a folder"),
        (["--set", "clinc", "--json", "x", "--html", "./x"], "another file than --json"),
        (["--set", "clinc", "--learner", "pa(subsample=0.5)"], "members of a committee only"),
        (["--set", "clinc", "--test", "x.jsonl"], "files to train on"),
        (["--set", "clinc", "--held-out", "1"], "--held-out"),
        (["--set", "clinc", "--peers", "always", "--progressive"], "cannot learn a stream"),
        (["--set", "clinc", __file__], "give it with --format"),
        (["--set", "clinc", "rows.jsonl", "--format", "arff"], "is not a format"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_runs(with_peers, data, arguments, said):
    result = with_peers("evaluate", "--data", data, *arguments, exit_code=2)

    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""


def test_peers_are_refused_outside_a_checkout_with_the_command_to_use(manyclass, data):
    result = manyclass(
        "evaluate", "--set", "clinc", "--data", data, "--peers", "linearsvc", exit_code=2
    )

    said = " ".join(result.stderr.replace("│", " ").split())
    assert "python -m studies.compare --peers linearsvc" in said
    assert result.stdout == ""


def test_missing_data_is_named(manyclass, tmp_path):
    result = manyclass("evaluate", "--set", "clinc", "--data", tmp_path, exit_code=1)

    assert "clinc150.jsonl.gz" in result.output


def test_rows_that_leave_nothing_to_test_on_are_refused(manyclass, tmp_path):
    file = tmp_path / "one.jsonl"
    file.write_text('{"features": ["f"], "classes": ["c"]}\n')

    result = manyclass("evaluate", file, exit_code=1)

    assert "1 rows to train on and 0 to test on" in result.stderr


def test_a_stream_may_be_of_one_row(manyclass, tmp_path):
    file = tmp_path / "one.jsonl"
    file.write_text('{"features": ["f"], "classes": ["c"]}\n')

    result = manyclass("evaluate", file, "--progressive", "--splits", 1)

    assert "1 instances as one stream" in result.stdout


def test_a_result_that_cannot_be_written_does_not_end_the_run(manyclass, data, monkeypatch):
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(report_files, "atomic_write", full)

    result = manyclass(
        *("evaluate", "--set", "clinc,banking", "--data", data, "--splits", 1),
        *("--json", data / "found.json", "--html", data / "page.html"),
        exit_code=1,
    )

    assert first_words(result.stdout)[::3] == ["clinc:", "banking:"]
    assert result.stderr.count("found.json cannot be written: [Errno 28] No space") == 2
    assert result.stderr.count("page.html cannot be written") == 2


def test_the_exit_code_reports_skipped_lines(manyclass, rows, tmp_path):
    test = tmp_path / "test.jsonl"
    test.write_text('{"features": ["f1"], "classes": ["c1"]}\n{\n')

    result = manyclass("evaluate", rows, "--test", test, "--splits", 1, exit_code=1)

    assert "60 + 1 instances" in result.stdout
    assert f"{test}:2: " in result.stderr


def test_a_damaged_public_set_is_one_line(manyclass, data):
    file = data / "banking77.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-20])

    result = manyclass(
        "evaluate", "--set", "clinc,banking", "--data", data, "--splits", 1, exit_code=1
    )

    assert first_words(result.stdout) == ["clinc:", "learner", "svm"]
    assert result.stderr.startswith(f"manyclass: banking: its files in {data} are damaged: ")
    assert len(result.stderr.splitlines()) == 1


def test_the_taxonomy_of_own_files_is_used_and_measured(manyclass, rows, tmp_path):
    parents = tmp_path / "parents.csv"
    parents.write_text("c0,a\nc1,a\nc2,b\n")
    learners = ("--learner", "svm", "--learner", "svm(cost=linear)", "--splits", 1)
    found = tmp_path / "found.json"
    manyclass("evaluate", rows, *learners, "--taxonomy", parents, "--json", found)
    assert "taxo-loss" in found.read_text()
    manyclass("evaluate", rows, *learners, "--json", found)
    assert "taxo-loss" not in found.read_text()
    refused = manyclass("evaluate", "--set", "clinc", "--taxonomy", parents, exit_code=2)
    assert "for files of yours" in refused.output
    missing = manyclass("evaluate", rows, "--taxonomy", tmp_path / "none", exit_code=2)
    assert "none" in missing.output

import csv
import json
import random
from io import StringIO

import pytest

from manyclass.evaluation import out_of_fold

WRONG = {40: "chess", 90: "chess", 133: "hockey"}
WORDS = {
    "hockey": ["puck", "goalie", "ice", "skates"],
    "baseball": ["bat", "pitcher", "fence", "inning"],
    "chess": ["rook", "pawn", "king", "castling"],
}


@pytest.fixture
def lines():
    """Return 240 texts of three classes, of which those of the lines in WRONG have a wrong one."""
    rng = random.Random(4)
    rows = []
    for number in range(1, 241):
        label = [*WORDS][number % 3]
        text = " ".join([*rng.sample(WORDS[label], 3), rng.choice("xyz"), f"n{number}"])
        rows.append(json.dumps({"text": text, "classes": [WRONG.get(number, label)]}))
    return rows


@pytest.fixture
def file(tmp_path, lines):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines))
    return file


def tables(folder):
    return {
        path.stem: list(csv.DictReader(StringIO(path.read_text(), newline="")))
        for path in sorted(folder.glob("*.csv"))
    }


def test_wrong_labels_are_the_first_suspects(manyclass, file, tmp_path):
    result = manyclass("report", file, "--csv", tmp_path / "out", "--html", tmp_path / "page.html")

    found = tables(tmp_path / "out")
    assert [*found] == ["classes", "confusions", "limits", "overall", "suspects"]
    first = found["suspects"][:3]
    assert {int(each["line"]): each["label"] for each in first} == WRONG
    assert found["overall"][0]["contradicted"] == str(len(found["suspects"]))
    for title in ("Overall", "Classes: 3", "Confusions: 3", "Suspects: 3"):
        assert title in result.stdout
    assert "svm after the rows of the other folds: 5 folds, seed 0" in result.stdout
    assert result.stdout.index("0.988") < result.stdout.index("Classes")  # R1 of 237 rows of 240
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Labels of rows.jsonl" in page
    assert "Recall of each class" in page


def test_the_page_has_more_rows_than_are_printed(manyclass, file, tmp_path):
    result = manyclass("report", file, "--limit", "1", "--html", tmp_path / "page.html")
    assert "Classes: 1 of 3" in result.stdout
    assert "Classes: 3" in (tmp_path / "page.html").read_text()


def test_the_order_of_the_file_changes_line_numbers_only(manyclass, file, lines, tmp_path):
    order = [*range(240)]
    random.Random(7).shuffle(order)
    moved = tmp_path / "moved.jsonl"
    moved.write_text("\n".join(lines[row] for row in order))

    for each in (file, moved):
        manyclass("report", each, "--csv", tmp_path / each.stem)

    before, after = tables(tmp_path / "rows"), tables(tmp_path / "moved")
    for each in after["suspects"]:
        each["line"] = str(order[int(each["line"]) - 1] + 1)
    for found in (before, after):
        for each in found["confusions"]:
            del each["examples"]
    assert after == before


def test_the_output_depends_on_the_seed_alone(manyclass, file):
    shown = [manyclass("report", file, "--seed", seed).stdout for seed in (3, 3, 4)]

    assert shown[0] == shown[1]
    assert shown[0].replace("seed 3", "seed 4") != shown[2]


def test_options_of_learning_and_reading_are_used(manyclass, tmp_path):
    file = tmp_path / "rows.svm.txt"
    file.write_text("".join(f"{at % 2} {at % 2}:1.5 {10 + at}:0.5\n" for at in range(120)))
    arguments = ("--format", "libsvm", "--learner", "ff(rating=0)", "--folds", 2, "--limit", 1)

    result = manyclass("report", file, *arguments)

    assert "ff(rating=0) after the rows of the other folds: 2 folds" in result.stdout
    assert "Classes: 1 of 2" in result.stdout


def test_features_and_files_are_shown(manyclass, tmp_path):
    for name in ("a", "b"):
        rows = ({"features": {f"{name}{at % 2}": 2.5}, "classes": [f"c{at % 2}"]} for at in (0, 1))
        text = "\n".join(map(json.dumps, [*rows, {"features": ["a0"], "classes": ["odd"]}]))
        (tmp_path / f"{name}.jsonl").write_text(text)

    result = manyclass("report", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--folds", 10)

    assert f"{tmp_path}/a.jsonl:1: a0:2.5" in result.stdout
    assert "A confidence needs 100 rankings" in result.stdout


def test_the_taxonomy_is_learned_with(manyclass, file, tmp_path):
    parents = tmp_path / "parents.csv"
    parents.write_text("hockey,sports\nbaseball,sports\nchess,games\n")

    result = manyclass("report", file, "--learner", "path", "--taxonomy", parents)

    assert "path after the rows" in result.stdout
    assert result.stdout != manyclass("report", file, "--learner", "path").stdout
    missing = manyclass("report", file, "--taxonomy", tmp_path / "none", exit_code=2)
    assert "none" in missing.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--learner", "gg"], "--learner"),
        (["--learner", "pa(subsample=0.5)"], "members of a committee only"),
        (["--folds", "1"], "--folds"),
        (["--limit", "0"], "--limit"),
        (["--text", "letters"], "--text"),
        (["--format", "arff"], "is not a format"),
        (["--html", "nowhere/x.html"], "no folder nowhere"),
        (["--csv", "nowhere/out"], "no folder nowhere"),
        (["--csv", __file__], "name a folder"),
    ],
)
def test_a_wrong_command_line_is_refused(manyclass, file, arguments, said):
    result = manyclass("report", file, *arguments, exit_code=2)

    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""


def test_weights_need_a_learner_that_knows_them(manyclass, tmp_path):
    file = tmp_path / "rows.jsonl"
    rows = ({"text": f"w{at}", "classes": [f"c{at % 2}"], "weight": 5} for at in range(10))
    file.write_text("\n".join(map(json.dumps, rows)))

    assert "Suspects" in manyclass("report", file).stdout
    refused = manyclass("report", file, "--learner", "frequency", exit_code=2)
    assert "cannot learn `weight`" in " ".join(refused.stderr.replace("│", " ").split())


def test_bad_lines_are_named_and_change_the_exit_code(manyclass, file, lines):
    file.write_text("\n".join(["{", *lines]))

    result = manyclass("report", file, exit_code=1)

    assert f"{file}:1: " in result.stderr
    assert f"{min(WRONG) + 1}  " in result.stdout.partition("Suspects")[2]


def test_a_report_without_a_bad_line_is_written_and_says_so(manyclass, file, lines, tmp_path):
    file.write_text("\n".join([*lines, "{"]))
    page, folder = tmp_path / "page.html", tmp_path / "out"
    result = manyclass("report", file, "--html", page, "--csv", folder, exit_code=1)
    assert page.exists()
    assert "1 bad line left out" in result.stderr
    assert f"wrote {folder / 'classes.csv'}\n" in result.stderr
    assert result.stderr.endswith(
        f"wrote {page}\nmanyclass: 1 line skipped, so the exit code is 1\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"text": "a", "classes": ["c"]}\n{\n[\n', "most lines are bad"),
        ('{"text": "a", "classes": ["c"]}\n', "two different rows"),
        ('{"text": "a", "classes": []}\n', "the files hold no instance"),
        ("x\n", "this looks like plain text"),
    ],
)
def test_files_that_cannot_be_reviewed_are_refused(manyclass, file, tmp_path, text, said):
    file.write_text(text)

    result = manyclass("report", file, "--csv", tmp_path / "out", exit_code=1)

    assert said in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_results_that_cannot_be_written_are_named(manyclass, file, tmp_path):
    (tmp_path / "out" / "classes.csv").mkdir(parents=True)

    result = manyclass("report", file, "--csv", tmp_path / "out", exit_code=1)

    assert "classes.csv cannot be written" in result.stderr
    assert (tmp_path / "out" / "suspects.csv").exists()
    assert "Suspects: 3" in result.stdout


def test_an_interrupted_report_writes_nothing(manyclass, file, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(out_of_fold, "train", interrupted)

    result = manyclass("report", file, "--csv", tmp_path / "out", exit_code=130)

    assert "stopped: nothing was written" in result.stderr
    assert not (tmp_path / "out").exists()

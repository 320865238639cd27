import gzip
import json

import numpy as np
import pytest

from manyclass.core.text import TextAnalysis
from manyclass.training.rows import Rows
from studies import text
from studies.text import CHARACTERS, LABELS, measured, read
from studies.text_forms import LONGEST, SHORTEST, Form, Runs, few

SPOKEN = ("book a table", "play a song")
TEXTS = ("The goalie saved it, goalie!", "città è può caffè", "a bb ccc")


@pytest.fixture
def data(tmp_path):
    """Return a folder with a small version of clinc."""
    rows = [
        {"split": split, "classes": [spoken], "text": f"{spoken} {split} {number}"}
        for split in ("train", "test", "oos_test")  # so that no whole phrase is in two
        for number in range(20)
        for spoken in SPOKEN
    ]
    lines = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "clinc150.jsonl.gz").write_bytes(gzip.compress(lines))
    text.texts_of.cache_clear()
    yield tmp_path
    text.texts_of.cache_clear()


def rows_of(analysis, texts=TEXTS):
    return Rows.of((analysis.features_of(each), ["any"]) for each in texts)


@pytest.fixture
def widest():
    """Return texts with the features of all forms."""
    return rows_of(TextAnalysis.parse(CHARACTERS)._with_runs(SHORTEST, LONGEST, 1))


@pytest.mark.parametrize("runs", [Runs(), Runs(4, 4, worth=1), Runs(3, 4, worth=0.7)])
def test_a_form_is_what_the_native_analysis_makes(widest, runs):
    analysis = TextAnalysis.parse(CHARACTERS)._with_runs(runs.shortest, runs.longest, runs.worth)
    found, native = [*Form(runs=runs).of(widest)], [*rows_of(analysis)]
    for (mine, _), (theirs, _) in zip(found, native, strict=True):
        assert mine == pytest.approx(theirs)


def test_forms_without_runs_have_words_and_pairs_alone(widest):
    for form, parts in ((Form(), "words+pairs"), (Form(pairs=False), "words")):
        assert [*form.of(widest)] == [*rows_of(TextAnalysis.parse(parts))]


def test_runs_of_the_ends_begin_or_end_a_word(widest):
    for ends, signs in (("<", "<"), ("<>", "<>")):
        found = {n for row, _ in Form(runs=Runs(ends=ends)).of(widest) for n in row if "~" in n}
        assert "~<go" in found
        assert "~oal" not in found
        assert all(n[1] == "<" or (n[-1] == ">" and ">" in signs) for n in found)


def test_texts_of_more_words_have_no_runs(widest):
    rows = [*Form(runs=Runs(most_words=3)).of(widest)]
    assert [any("~" in name for name in row) for row, _ in rows] == [False, False, True]


def test_the_words_behind_the_first_ones_have_no_runs(widest):
    for row, _ in Form(runs=Runs(first_words=2)).of(widest):
        words = [name for name in row if "~" not in name and " " not in name]
        behind = [*row][[*row].index(words[2]) :] if len(words) > 2 else []
        assert not any("~" in name for name in behind)
    assert any("~" in name for row, _ in Form(runs=Runs(first_words=2)).of(widest) for name in row)


def test_few_rows_have_each_class_so_often_if_there_are_as_many():
    rows = Rows.of([(["f"], true) for true in (["a"], ["a"], ["a"], ["b"], ["a", "c"], ["b"])])
    assert [true for _, true in few(rows, 2)] == [["a"], ["a"], ["b"], ["a", "c"], ["b"]]
    assert len(few(rows, 100)) == len(rows)


def test_the_default_learner_is_measured_with_few_labels_and_all(data):
    found = [*measured(read(f"clinc {CHARACTERS}", data), "words+pairs", 1, 0)]
    assert [each["labels"] for each in found] == [*LABELS]
    assert found[-1]["R1"] == 1
    assert np.isfinite([found[-1]["rank µs"], found[-1]["learn µs"], found[-1]["bytes"]]).all()

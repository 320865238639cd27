"""Checks of every declared study, before it runs for hours."""

import gzip

import pytest

from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.evaluation.datasets import DATASETS
from studies import (
    all_learners,
    default,
    estimates,
    few_labels,
    fit_online,
    klr,
    noise,
    review,
    satimage,
    text,
    trees,
    weight_bounded,
    word_rules,
)
from studies.__main__ import STUDIES
from studies.declaration import Gaps, Pivot
from studies.held_out import ESTIMATORS, held_out
from studies.peers import PEERS

EVERY = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
OF_OTHER_DATA = (
    *(estimates.STUDY, word_rules.STUDY, text.CHOICE, text.STUDY),
    few_labels.STUDY,
)
OF_OTHER_MODELS = (
    *(klr.STUDY, fit_online.STUDY, satimage.STUDY, weight_bounded.STUDY),
    *(review.STUDY, noise.STUDY),
)
OF_DATASETS = [each for each in STUDIES.values() if each not in OF_OTHER_DATA + OF_OTHER_MODELS]


@pytest.mark.parametrize("study", OF_DATASETS)
def test_every_data_set_and_estimator_exists(study):
    for trial in study.trials:
        assert trial.dataset in DATASETS
        specification, _, change = trial.estimator.partition(" ")
        assert change.partition("=")[0] in ("", "keep", "oversample", "kept_back", "known_rows")
        if specification not in ESTIMATORS:
            ModelSet(Options.parse(specification))


@EVERY
def test_no_trial_is_declared_twice(study):
    named = [(each.dataset, each.estimator, *each.tags.items()) for each in study.trials]
    assert len({*named}) == len(named)


@EVERY
def test_tables_have_the_keys_of_trials(study):
    keys = {"dataset", "estimator", "pass"} | {key for each in study.trials for key in each.tags}
    of_measures = {"p*", "events", "limit", "tenth", "way", "labels", "target"}  # of some measures
    of_measures |= {"candidate", "verdict"}
    estimators = {each.estimator for each in study.trials}
    for table in study.tables:
        if isinstance(table, Pivot):
            assert {table.rows, table.across, table.each} <= keys | of_measures | {""}
        elif isinstance(table, Gaps):
            assert {table.ours, *table.peers} <= estimators
        else:
            assert {name for pair in table.pairs for name in pair} <= estimators


@EVERY
def test_printed_values_are_of_data_sets_that_run(study):
    assert {each["dataset"] for each in study.printed} <= {t.dataset for t in study.trials}


def test_peers_that_are_left_out_exist():
    left_out = {
        *all_learners.ONE_MODEL_A_CLASS,
        *all_learners.EVERY_CLASS_EACH_TIME,
        *all_learners.OF_OTHER_STUDIES,
    }
    assert left_out <= PEERS.keys()


@pytest.mark.parametrize(
    ("name", "with_svm", "with_perceptron", "with_fasttext"),
    [("clinc", True, True, True), ("cpv", True, False, True), ("yso", False, False, False)],
)
def test_peers_that_thousands_of_classes_make_slow_are_left_out(
    name, with_svm, with_perceptron, with_fasttext
):
    peers = all_learners.peers_for(name)
    assert ("linearsvc" in peers, "perceptron" in peers) == (with_svm, with_perceptron)
    assert ("fasttext" in peers) == with_fasttext
    assert "omikuji" in peers


def test_the_default_is_chosen_without_the_published_test_rows():
    assert default.CHOICE.prepare.__name__ == "training_only"
    assert {"svm", *default.TESTED} <= {*default.EVERYWHERE}


def test_the_rules_for_words_differ(tmp_path):
    (tmp_path / "jane_austen").mkdir()
    text = gzip.compress(b"Well-known? She wasn't, she wasn't. She was well-known.")
    (tmp_path / "jane_austen" / "novel.txt.gz").write_bytes(text)
    made = {name: word_rules.read(name, tmp_path) for name in word_rules.RULES}

    known = ["well-known" in data.rows.classes for data in made.values()]
    assert known == [False, False, True, True]
    [*records] = (next(word_rules.measured(data, "ff", 1, 0)) for data in made.values())
    assert records[0]["classes"] == records[1]["classes"] > records[2]["classes"]
    assert records[0]["active"] > records[1]["active"]


def test_trees_are_tested_by_the_common_measure():
    assert trees.STUDY.measure is held_out

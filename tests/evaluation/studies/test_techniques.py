import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Plan, compare, variants
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.studies import techniques
from manyclass.evaluation.studies.techniques import (
    LEARNERS,
    REPORTED,
    SHARES,
    by_degree,
    by_pass,
    by_share,
    by_vote,
    committees,
    oversampled,
    sparser,
)
from tests.evaluation.examples import data_set, separable

PLAN = Plan(passes=2, splits=2)


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_every_learner_of_the_report_is_among_those_that_run():
    run = {Options.parse(each) for each in LEARNERS}

    assert {Options.parse(each) for each in REPORTED} <= run
    assert len(run) == len(LEARNERS)


def test_accuracy_by_pass_stands_beside_the_report_on_newsgroups_only():
    learners = variants([Options.parse(each) for each in LEARNERS], {})
    comparison = compare(data_set(), learners, {}, PLAN)

    table = by_pass(comparison)
    assert table.columns == ["R1 after pass", "1", "2", "best R1", "its R5", "at pass"]
    assert texts(table)[0][1:] == ["1.000", "1.000", "1.000 ± 0.000", "1.000 ± 0.000", "1"]

    object.__setattr__(comparison.facts, "name", "newsgroups")
    table = by_pass(comparison)
    assert table.columns[-2:] == ["report R1", "report R5"]
    reported = [row[-2:] for row in texts(table)]
    assert reported[0] == ["0.861", "0.979"]
    assert reported[2] == ["-", "-"]
    assert reported[5] == ["0.870", "0.979"]
    assert len(table.best) == len(table.columns)


def test_variations_are_not_in_the_table_by_pass():
    learners = variants([Options.parse("ooz")], {"max_outdegree": ["1"]})

    table = by_pass(compare(data_set(), learners, {}, PLAN))

    assert [row[0] for row in texts(table)] == ["ooz"]


def test_only_variations_are_in_the_table_by_degree():
    options = Options.parse("ooz(margin_threshold=0.5,rate=0.1)")
    learners = variants([options], {"max_outdegree": ["1", "3"]})

    table = by_degree(compare(data_set(), learners, {}, PLAN))

    assert [row[0] for row in texts(table)] == ["1", "3"]
    few, more = (row[4].figure for row in table.rows)
    assert few < more


def test_a_model_is_made_sparser_share_by_share():
    rows = separable()
    learner = Indexed(rows, Options.parse("pa"))
    learner.fit(rows)
    edges = learner.learner.edges

    left = [(share, each.learner.edges) for share, each in sparser(learner)]

    assert left == [(share, round(share * edges)) for share in SHARES]


def test_a_committee_cannot_be_made_sparser():
    rows = separable()
    with pytest.raises(TypeError, match="only an index"):
        next(sparser(Indexed(rows, Options.of("committee", members="ff+pa"))))


def test_accuracy_falls_with_the_share_that_is_kept():
    table = by_share(data_set(), Options.parse("pa"), PLAN)

    assert [row[0] for row in texts(table)] == [f"{share:.0%}" for share in SHARES]
    accuracy = [row[1].figure for row in table.rows]
    assert accuracy[0] == 1
    assert accuracy[-1] < 1


def test_a_committee_has_members_that_learn_in_other_orders():
    alone, *votes = committees("pa(tfidf=yes)")

    assert alone == Options.parse("pa(tfidf=yes)")
    assert [each.vote for each in votes] == ["majority", "rarest", "score"]
    assert votes[0].members == "+".join(["pa(tfidf=yes,shuffle=5000)"] * 4)


def test_a_learner_stands_beside_its_committees():
    table = by_vote(data_set(), "pa(tfidf=yes)", PLAN)

    assert [row[0] for row in texts(table)] == [
        "one alone",
        "4, vote majority",
        "4, vote rarest",
        "4, vote score",
    ]


def test_rare_classes_are_repeated_in_the_training_rows_only(monkeypatch):
    taught = []
    run = techniques.train_and_test

    def noted(options, training, test, passes, seed):
        taught.append((np.bincount(training.class_indices).min(), len(test)))
        return run(options, training, test, passes, seed)

    monkeypatch.setattr(techniques, "train_and_test", noted)
    monkeypatch.setattr(techniques, "LEAST", 30)

    table = oversampled(data_set(), Options.parse("pa"), PLAN)

    assert [rows for _, rows in taught] == [20] * 4
    assert all(least < 30 for least, _ in taught[:2])
    assert all(least >= 30 for least, _ in taught[2:])
    assert table.columns == ["rows of a class", "R1 1", "R1 2", "F1 1", "F1 2"]
    assert [row[0] for row in texts(table)] == ["as they are", "at least 30 times"]

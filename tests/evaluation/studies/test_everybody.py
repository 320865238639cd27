import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Comparison, Plan, Variant, compare, label
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.studies import everybody
from manyclass.evaluation.studies.everybody import (
    AFFORDABLE,
    DEFAULT,
    EVERY_CLASS_EACH_TIME,
    IN_ANOTHER_STUDY,
    LEARNERS,
    ONE_MODEL_A_CLASS,
    ahead,
    peers_for,
)
from tests.evaluation.examples import Always, separable


def compared(learners, peers=()):
    data = DataSet("easy", separable(80), published=60)
    variants = [Variant(Options.parse(each), each) for each in learners]
    return compare(data, variants, {name: Always for name in peers}, Plan(1, 1))


def test_every_learner_is_written_as_it_is_named_in_tables():
    assert [label(Options.parse(each)) for each in LEARNERS] == list(LEARNERS)
    assert {Options.parse(each).learner for each in LEARNERS} >= {"ff", "pa", "ooz", "committee"}


def test_what_is_left_out_is_a_peer():
    assert {*ONE_MODEL_A_CLASS, *EVERY_CLASS_EACH_TIME, *IN_ANOTHER_STUDY} <= PEERS.keys()
    assert {name for names in AFFORDABLE.values() for name in names} <= {*ONE_MODEL_A_CLASS}


@pytest.mark.parametrize(
    ("name", "with_svm", "with_perceptron", "with_fasttext"),
    [("clinc", True, True, True), ("cpv", True, False, True), ("yso", False, False, False)],
)
def test_what_many_classes_make_slow_is_not_trained(name, with_svm, with_perceptron, with_fasttext):
    peers = peers_for(name)
    assert ("linearsvc" in peers, "perceptron" in peers) == (with_svm, with_perceptron)
    assert ("fasttext" in peers) == with_fasttext
    assert "omikuji" in peers


def test_who_is_ahead_is_named_best_first_with_the_points():
    comparison = compared(["svm", "frequency"], ["always"])
    [r1, *_] = ahead([comparison]).rows
    assert [cell.text for cell in r1] == ["easy", "R1", "nobody"]

    results = [
        each if each.contender != DEFAULT else type(each)(DEFAULT, worse.outcomes, DEFAULT)
        for worse in [next(r for r in comparison.results if r.contender == "frequency")]
        for each in comparison.results
    ]
    results.append(type(results[0])("best", comparison.results[0].outcomes, "best"))
    [r1, *_] = ahead([Comparison(comparison.facts, comparison.plan, results)]).rows
    assert r1[2].text.startswith("best +")


def test_the_study_shows_a_table_of_each_set_and_who_is_ahead(monkeypatch, capsys, tmp_path):
    data = DataSet("clinc", separable(80), published=60)
    monkeypatch.setattr(everybody.sets, "read", lambda name, folder: data)
    monkeypatch.setattr(everybody, "LEARNERS", ("svm", "ff"))
    monkeypatch.setattr(everybody, "PEERS", {"always": Always})
    page = tmp_path / "page.html"
    given = everybody.parser_of("about", everybody.SETS).parse_args(
        ["--sets", "clinc", "--html", str(page)]
    )
    everybody.main(given)
    shown = capsys.readouterr().out
    assert "Ahead of svm" in shown
    assert "always" in shown
    assert "always" in page.read_text()

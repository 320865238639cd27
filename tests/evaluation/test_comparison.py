import pytest

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.evaluation import comparison
from manyclass.evaluation.comparison import (
    Facts,
    Plan,
    Result,
    Spread,
    better_than,
    label,
    variants,
)
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.run import Outcome, Pass
from manyclass.training.rows import Rows
from tests.evaluation.examples import Always, compared


def outcome(*r1, progressive=None):
    passes = [
        Pass(number, float(number), {"R1": each, "R5": 1.0}, {"R1": 1.0}, 100)
        for number, each in enumerate(r1, 1)
    ]
    return Outcome(0, passes)


def named(found):
    return [(each.name, each.base, each.option, each.value) for each in found]


# --- variants -------------------------------------------------------------------------------------


def test_each_learner_comes_first_then_those_with_varied_options():
    found = variants([Options(), Options(margin_threshold=0.5)], {"max_outdegree": ["1", "25"]})

    half = "ff(margin_threshold=0.5)"
    assert named(found) == [
        ("ff", "ff", None, ""),
        (half, half, None, ""),
        ("ff(max_outdegree=1)", "ff", "max_outdegree", "1"),
        ("ff", "ff", "max_outdegree", "25"),
        ("ff(margin_threshold=0.5,max_outdegree=1)", half, "max_outdegree", "1"),
        (half, half, "max_outdegree", "25"),
    ]


def test_learners_that_differ_in_the_varied_option_only_are_varied_as_one():
    learners = [Options(margin_threshold=0.5), Options(margin_threshold=7)]

    found = variants(learners, {"margin_threshold": ["0", "0.2"]})

    assert named(found)[2:] == [
        ("ff(margin_threshold=0)", "ff", "margin_threshold", "0"),
        ("ff(margin_threshold=0.2)", "ff", "margin_threshold", "0.2"),
    ]


def test_an_option_is_varied_where_it_has_an_effect():
    found = variants([Options(), Options.of("pa")], {"C": ["2"]})

    assert named(found)[2:] == [("pa(C=2)", "pa", "C", "2")]


@pytest.mark.parametrize(
    ("option", "values"),
    [("C", ["1"]), ("nothing", ["1"]), ("min_weight", ["2"]), ("leak", ["maybe"])],
)
def test_an_option_that_cannot_be_varied_is_refused(option, values):
    with pytest.raises(OptionError, match=option):
        variants([Options()], {option: values})


def test_limits_that_are_not_the_usual_ones_are_part_of_a_name():
    assert label(Options(max_features=50)) == "ff max_features=50"
    assert named(variants([Options()], {"max_features": ["50"]}))[1:] == [
        ("ff max_features=50", "ff", "max_features", "50")
    ]


# --- runs -----------------------------------------------------------------------------------------


def test_every_learner_and_peer_runs_on_every_split():
    seeds = []

    def peer(seed):
        seeds.append(seed)
        return Always(seed)

    found = compared(vary={"rating": ["0"]}, peers={"always": peer}, passes=2, splits=3, seed=4)

    assert [each.estimator for each in found.results] == ["ff", "ff(rating=0)", "always"]
    assert seeds == [4, 5, 6]
    ours, _, theirs = found.results
    assert [each.seed for each in ours.outcomes] == [4, 5, 6]
    assert (ours.passes, theirs.passes) == (2, 1)
    assert (ours.ours, theirs.ours) == (True, False)
    assert ours.test(2, "R1").mean == 1
    assert theirs.test(1, "R1").deviation is not None
    assert theirs.progressive("R1") is None
    assert ours.progressive("R1").mean > 0.5


def test_both_sides_have_the_same_rows():
    seen = []

    class Peer(Always):
        def fit(self, rows):
            seen.append(("training", rows.indices.tolist()))

    original = comparison.train_and_test

    def watched(options, training, test, *rest):
        seen.append(("training", training.indices.tolist()))
        return original(options, training, test, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "train_and_test", watched)
        compared(peers={"peer": Peer}, splits=2)

    assert seen[0] == seen[2]
    assert seen[1] == seen[3]
    assert seen[0] != seen[1]


def test_a_peer_cannot_have_the_name_of_a_learner():
    on_progress = []

    with pytest.raises(ValueError, match="a learner and a peer are both called ff"):
        compared(peers={"ff": Always}, on_progress=lambda *each: on_progress.append(each))

    assert on_progress == []


def test_equal_options_are_run_once():
    made = []
    vary = {"max_outdegree": ["25", "1"]}

    found = compared(vary=vary, splits=1, on_progress=lambda *each: made.append(each))

    assert [each for each in made if each[1] == 0] == [("ff", 0), ("ff(max_outdegree=1)", 0)]
    assert found.results[1].outcomes is found.results[0].outcomes


def test_each_finished_split_is_reported():
    on_progress = []

    peers = {"always": Always}
    compared(peers=peers, splits=2, on_progress=lambda *each: on_progress.append(each))

    assert on_progress == [(name, done) for name in ("ff", "always") for done in range(3)]


def test_a_peer_that_fails_does_not_end_the_run():
    class Broken(Always):
        def fit(self, rows):
            raise RuntimeError("out of luck")

    found = compared(peers={"broken": Broken, "always": Always}, splits=1)

    assert [bool(each.failed) for each in found.results] == [False, True, False]
    assert found.results[1].failed == "RuntimeError: out of luck"
    assert [each.estimator for each in found.measured()] == ["ff", "always"]


def test_our_own_failures_are_not_hidden(monkeypatch):
    def fail(*arguments):
        raise RuntimeError("ours")

    monkeypatch.setattr(comparison, "train_and_test", fail)

    with pytest.raises(RuntimeError, match="ours"):
        compared(splits=1)


def test_a_stream_has_all_rows_and_no_peers():
    found = compared(peers={"always": Always}, splits=2, progressive=True)

    (only,) = found.results
    assert only.passes == 0
    assert only.outcomes[0].stream.curve["learned"][-1] == 80
    assert found.facts.test_rows == 0
    assert found.facts.split == "one stream"


def test_without_shuffling_there_is_one_split():
    found = compared(splits=5, passes=2, shuffle=False)

    assert len(found.results[0].outcomes) == 1
    assert found.facts.split == "the last rows for testing"


# --- facts and figures ----------------------------------------------------------------------------


def test_facts_are_those_of_the_rows_and_the_split():
    rows = Rows.of(
        [({"a": 1.0, "b": 1.0}, ["x", "y"]), ({"a": 1.0}, ["x"]), ({"c": 2.0}, ["y"]), ({}, ["z"])]
    )

    facts = Facts.of(Dataset("given", rows, published=3), Plan())

    assert facts == Facts("given", 4, 3, 3, 1.0, 1.25, 3, 1, "as given", False)
    assert facts.many_labels


def test_a_spread_is_mean_and_standard_deviation():
    assert Spread.of([0.5]) == Spread(0.5, None)
    assert Spread.of([1.0, 2.0, 3.0]) == Spread(2.0, 1.0)
    assert str(Spread(0.86543, 0.0049)) == "0.865 ± 0.005"
    assert str(Spread(1.0, None)) == "1.000"


def test_the_best_pass_is_the_one_with_the_best_mean_the_first_of_equal_ones():
    result = Result("x", [outcome(0.1, 0.9, 0.8), outcome(0.5, 0.5, 0.6)], "x")

    assert result.best_pass() == 2
    assert result.test(3, "R1").mean == pytest.approx(0.7)


def test_wins_and_losses_are_counted_split_by_split():
    many = Result("many", [outcome(0.1, 0.9)] * 9 + [outcome(0.9, 0.1)], "many")
    other = Result("other", [outcome(0.5)] * 10, "other")

    assert better_than(many, other) == (9, 1, True)
    assert better_than(other, many) == (1, 9, True)
    assert better_than(other, other) == (0, 0, False)
    assert better_than(many, other, after=(1, 1)) == (1, 9, True)
    few = Result("few", [outcome(0.9)] * 5, "few")
    assert better_than(few, Result("x", [outcome(0.5)] * 5, "x")) == (5, 0, False)


def test_a_stream_of_one_row_has_facts():
    rows = Rows.of([(["a"], ["x"])])

    facts = Facts.of(Dataset("one", rows), Plan(progressive=True))

    assert (facts.instances, facts.training_rows, facts.test_rows) == (1, 0, 0)


def test_results_of_different_splits_are_not_compared():
    one, two = (Result("x", [outcome(0.5)] * count, "x") for count in (1, 2))
    with pytest.raises(ValueError, match="is longer"):
        better_than(one, two)

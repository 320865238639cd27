"""Weights of events, and classes that are said to be wrong."""

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import InstanceError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.csr import instances_of, rows_of
from tests.core.dumps import assert_same_state
from tests.core.learners.contract import CLASSES, FEATURES, LESSONS

WEIGHTED = [name for name, learner in LEARNERS.items() if learner.learns_weights]
REJECTING = [name for name, learner in LEARNERS.items() if learner.learns_rejections]
ONE = "normalize=none,sublinear=no,tfidf=no,replay=0"


def learner_of(specification):
    return Learner(Options.parse(specification))


def score(learner, name, instance):
    return dict(learner.rank(instance, 100)).get(name, 0.0)


# --- what a weight means --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by_weight", "by_options"),
    [
        ("pa(C=0.5)", "pa(C=1.25)"),
        ("arow(C=0.5)", "arow(C=1.25)"),
        ("svm(C=0.5,C_negative=0.25)", "svm(C=1.25,C_negative=0.625)"),
        (
            "svm(C=0.5,C_negative=0.25,constraints=each)",
            "svm(C=1.25,C_negative=0.625,constraints=each)",
        ),
        ("ooz(rate=0.25,margin_threshold=2)", "ooz(rate=0.625,margin_threshold=2)"),
    ],
)
def test_it_multiplies_the_price_or_the_rate(by_weight, by_options):
    weighted, plain = learner_of(by_weight), learner_of(by_options)
    for instance, classes in LESSONS:
        weighted.learn(instance, classes, weight=2.5)
        plain.learn(instance, classes)
    for probe, _ in LESSONS[:20]:
        assert weighted.rank(probe, 100) == plain.rank(probe, 100)


def test_the_mass_of_a_counting_learner_grows_by_it():
    for name in ("ff", "ind"):
        weighted = learner_of(f"{name}(normalize=none,min_weight=0,mass_cap=0)")
        plain = learner_of(f"{name}(normalize=none,min_weight=0,mass_cap=0)")
        weighted.learn({"f": 1.0}, ["a"], weight=3)
        weighted.learn({"f": 1.0}, ["b"])
        for true in "aaab":
            plain.learn({"f": 1.0}, [true])
        assert weighted.feature("f")["mass"] == 4 or name == "ff"
        if name == "ind":
            assert weighted.feature("f")["edges"] == plain.feature("f")["edges"]
        else:
            assert weighted.feature("f")["edges"] == [("a", 0.75), ("b", 0.25)]


def test_an_average_moves_by_rate_times_weight_and_not_beyond_the_event():
    learner = learner_of("ema(rate=0.25,normalize=none,min_weight=0,margin_threshold=9)")
    learner.learn({"f": 1.0}, ["a"], weight=2)
    assert learner.feature("f")["edges"] == [("a", 0.5)]
    learner.learn({"f": 1.0}, ["b"], weight=1000)
    assert learner.feature("f")["edges"] == [("b", 1.0)]


def test_a_perceptron_steps_by_it():
    learner = learner_of(f"mmp({ONE})".replace("sublinear=no,tfidf=no,", ""))
    learner.learn({"f": 1.0}, ["a"], weight=3)
    assert learner.feature("f")["edges"] == [("a", 3.0)]


def test_a_tree_scales_its_gradients_by_it():
    learner = learner_of("oplt(normalize=none,sublinear=no,tfidf=no,rate=1,epsilon=1,bias=1)")
    learner.learn({"f": 1.0}, ["a"])
    learner.learn({"f": 1.0}, ["b"], weight=2)
    # θ had a step from 0 by the gradient 1/2; b begins from -θ. Feature and bias score -2w for b,
    # and 2w for a: both have the slope of log(1 + exp(2w)), times the weight.
    w = 0.5 / np.sqrt(0.5**2 + 1)
    gradient = 2 / (1 + np.exp(-2 * w))
    moved = gradient / np.sqrt(0.5**2 + gradient**2 + 1) - w
    expected = {"b": pytest.approx(moved, rel=1e-5), "a": pytest.approx(-moved, rel=1e-5)}
    assert dict(learner.feature("f")["edges"]) == expected


@pytest.mark.parametrize("learner", WEIGHTED)
def test_arrays_have_a_weight_a_row(learner):
    by_arrays, one_by_one = (make(Options.of(learner)) for _ in range(2))
    weights = np.random.default_rng(1).uniform(0.01, 10, len(LESSONS)).astype(np.float32)
    instances, true = zip(*LESSONS, strict=True)
    rows = Columns(FEATURES), *instances_of(FEATURES, instances)
    labels = Columns(CLASSES), *rows_of(CLASSES, true)
    by_arrays.learn_csr(*rows, *labels, 0, weights)
    for (instance, classes), weight in zip(LESSONS, weights.tolist(), strict=True):
        one_by_one.learn(instance, classes, weight=weight)
    assert_same_state(by_arrays, one_by_one)
    for wrong in (weights[1:], np.where(weights > 5, 0, weights).astype(np.float32)):
        with pytest.raises(InstanceError, match="weight"):
            by_arrays.learn_csr(*rows, *labels, 0, wrong)


# --- what a rejection means -----------------------------------------------------------------------


def test_a_passive_aggressive_step_back_by_hand():
    learner = learner_of(f"pa({ONE})".replace("sublinear=no,tfidf=no,", ""))
    learner.learn({"f": 1.0}, ["a"])
    assert score(learner, "a", {"f": 1.0}) == pytest.approx(1 / 1.5)
    assert learner.learn({"f": 1.0}, [], rejected=["a"])[:2] == (0, True)
    assert score(learner, "a", {"f": 1.0}) == pytest.approx((1 / 1.5) * (1 - 1 / 1.5))
    learner.learn({"f": 1.0}, [], rejected=["a"], weight=10)
    assert score(learner, "a", {"f": 1.0}) == pytest.approx((1 / 1.5) / 3 * (1 - 1 / 1.05))


def test_an_arow_step_back_by_hand():
    learner = learner_of("arow(normalize=none)")
    learner.learn({"f": 1.0}, ["a"])
    assert score(learner, "a", {"f": 1.0}) == pytest.approx(1 / 2)  # and the variance is 1/2
    learner.learn({"f": 1.0}, [], rejected=["a"])
    # s = 1/2, V = 1/2: by s · V / (V + 1)
    assert score(learner, "a", {"f": 1.0}) == pytest.approx(1 / 2 - 1 / 2 * (1 / 2) / (3 / 2))


def test_a_perceptron_step_back_by_hand():
    learner = learner_of("mmp(normalize=none)")
    learner.learn({"f": 1.0, "g": 2.0}, ["a"])
    learner.learn({"g": 2.0}, [], rejected=["a"])
    assert learner.feature("f")["edges"] == [("a", 1.0)]
    assert learner.feature("g")["outdegree"] == 0
    assert learner.learn({"g": 2.0}, [], rejected=["a"])[1] is False  # its score is not above 0


def test_a_constraint_of_the_svm_by_hand():
    learner = learner_of(f"svm({ONE},C=1,C_negative=0.5)")
    learner.learn({"f": 1.0}, ["a"])
    assert score(learner, "a", {"f": 1.0}) == pytest.approx(1 / 1.5)
    learner.learn({"f": 1.0}, [], rejected=["a"])
    # s ≤ 0 of price 0.5: the step is s / (1 + 1 / (2 · 0.5))
    assert score(learner, "a", {"f": 1.0}) == pytest.approx((1 / 1.5) / 2)


@pytest.mark.parametrize("specification", REJECTING)
def test_a_rejected_class_falls_and_no_other_moves(specification):
    learner = Learner(Options.of(specification, replay=0))
    for instance, classes in LESSONS:
        learner.learn(instance, classes)
    for instance, _ in LESSONS[:20]:
        before = dict(learner.rank(instance, 100))
        wrong = max(before, key=lambda name: before[name])
        learner.learn(instance, [], epoch=1, rejected=[wrong, "never learned"])
        after = dict(learner.rank(instance, 100))
        assert after[wrong] < before[wrong]
        assert {**after, wrong: 0} == {**before, wrong: 0}
    assert not learner.has_class("never learned")


@pytest.mark.parametrize("name", REJECTING)
def test_it_is_replayed(name):
    learner = Learner(Options.of(name, replay=3))
    learner.learn({"f": 1.0}, ["a"])
    learner.learn({"f": 1.0}, [], rejected=["a"], weight=7)
    state = learner.dump()
    assert state["kept_rejected"].tolist() == [0, 1]
    assert state["kept_weights"].tolist() == [1, 7]
    loaded = Learner.load(learner.options, state, 5)
    for each in (learner, loaded):
        for _ in range(3):
            each.learn({"g": 1.0}, ["b"])
    assert_same_state(learner, loaded)
    learner.forget_class("a")
    for _ in range(20):
        learner.learn({"g": 1.0}, ["b"])
    state = learner.dump()
    assert len(state["kept_rejected"]) == len(state["kept_weights"]) == 0  # the example is gone


# --- states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("kept_rejected", np.array([0, 9], "<u4")),
        ("kept_rejected", np.array([0], "<u4")),
        ("kept_weights", np.array([1], "<f4")),
        ("kept_weights", np.array([1, 0], "<f4")),
        ("kept_weights", np.array([1, 2000], "<f4")),
        ("kept_weights", np.array([1, np.nan], "<f4")),
    ],
)
def test_a_damaged_section_is_refused(section, value):
    learner = Learner(Options.of("svm"))
    learner.learn({"f": 1.0}, ["a"])
    learner.learn({"f": 1.0}, [], rejected=["a"], weight=7)
    with pytest.raises(SnapshotError) as error:
        Learner.load(learner.options, {**learner.dump(), section: value})
    assert error.value.section == section


# --- learners that cannot learn them, and accuracy ------------------------------------------------


def test_learners_that_cannot_learn_them_refuse_in_words():
    for learner in {*LEARNERS} - {*REJECTING, "committee"}:
        with pytest.raises(
            InstanceError, match=f"{learner} cannot learn `not`; pa, mmp, arow, svm"
        ):
            Learner(Options.of(learner)).learn({"f": 1}, [], rejected=["a"])
    for learner in {*LEARNERS} - {*WEIGHTED, "committee"}:
        with pytest.raises(InstanceError, match=f"{learner} cannot learn `weight`"):
            Learner(Options.of(learner)).learn({"f": 1}, ["a"], weight=2)
    for members in ("svm+ff", "ff+frequency"):
        committee = make(Options.of("committee", members=members))
        with pytest.raises(InstanceError, match="a committee of these alone"):
            committee.learn({"f": 1}, [], rejected=["a"])
    make(Options.of("committee", members="svm+pa")).learn({"f": 1}, ["b"], 0, ["a"], 2)


def test_a_committee_counts_it_as_learned_as_its_members_do():
    committee = make(Options.parse("committee(members=pa+pa(shuffle=1))"))
    alone = learner_of("pa")
    for learner in (committee, alone):
        learner.learn({"f": 1.0}, ["a"])
        learner.learn({"f": 1.0}, [], rejected=["a"])
        learner.apply(learn(rejected=["unknown"]))
    assert committee.learned == alone.learned == committee.members[0].learner.learned == 3
    assert committee.members[0].progress.examples == 1  # the others had no class to find
    assert Learner.load(committee.options, committee.dump()).learned == 3


def learn(classes=(), rejected=(), weight=1.0):
    return Event.learn(Instance({"f": 1.0}), list(classes), rejected=rejected, weight=weight)


def test_an_event_without_true_classes_does_not_count_in_accuracy():
    model = Model(ModelSet(Options.of("svm"), (Options.of("pa"),)))
    model.apply(1, learn(["a"]))
    before = model.answering.calibration.dump()
    outcome = model.apply(2, learn(rejected=["a"]))
    assert (outcome.rank, outcome.updated) == (None, True)
    assert [each.progress.examples for each in model.enrolled] == [1, 1]
    after = model.answering.calibration.dump()
    assert all(np.array_equal(after[name], array) for name, array in before.items())
    assert model.learner.learned == 2


def test_a_member_of_a_committee_counts_it_neither():
    committee = make(Options.of("committee", members="svm+pa"))
    committee.learn({"f": 1}, ["a"])
    committee.learn({"f": 1}, [], rejected=["a"])
    assert [member.progress.examples for member in committee.members] == [1, 1]


@pytest.mark.parametrize("learner", ["ff", "oplt", "frequency", "committee(members=ff+svm)"])
def test_an_event_in_the_log_beyond_a_learner_is_learned_as_far_as_it_can(learner):
    """Another learner became the primary one between the check and the event."""
    model, plain = (Model(Options.parse(learner)) for _ in range(2))
    with pytest.raises(InstanceError):
        model.check(learn(["b"], ["a"]))
    for each in (model, plain):
        each.apply(1, learn(["a"]))
    assert model.apply(2, learn(rejected=["a"])).updated is False
    plain.pass_over()
    assert_same_state(model.learner, plain.learner)
    model.apply(3, learn(["b"], rejected=["a"]))
    plain.apply(3, learn(["b"]))
    assert_same_state(model.learner, plain.learner)

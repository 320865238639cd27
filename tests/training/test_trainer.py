import numpy as np
import pytest

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.training.accuracy import Accuracy
from manyclass.training.rows import Rows
from manyclass.training.trainer import (
    LEARNED_AT_ONCE,
    Pass,
    Plan,
    PlanError,
    order_of_pass,
    parts_of,
    settled_part,
    train,
)

OPTIONS = Options(margin_threshold=0, mass_cap=0)


def labelled(count, classes=7):
    return [([f"f{n % 5}", f"g{n % classes}", f"h{n}"], [f"c{n % classes}"]) for n in range(count)]


def dumped(learner):
    return {name: array.tolist() for name, array in learner.dump().items()}


@pytest.mark.parametrize("learner", ["ff", "pa(replay=2)", "committee(members=ff+pa)"])
def test_one_pass_in_order_is_what_learning_one_by_one_comes_to(learner):
    options = Options.parse(learner)
    instances = [
        (instance, classes if at % 3 else [*classes, f"also {at % 2}"])
        for at, (instance, classes) in enumerate(labelled(LEARNED_AT_ONCE + 100))
    ]
    learner = make(options)
    enrolled = Enrolled.begun("served", learner)
    events = [Event.learn(Instance(instance), classes) for instance, classes in instances]
    ranks = [enrolled.apply(event).rank for event in events]
    training = train(Rows.of(instances), options, Plan(shuffle=False))
    assert dumped(training.learner) == dumped(learner)
    ours, served = training.calibration.dump(), enrolled.calibration.dump()
    assert training.calibration.outcomes > LEARNED_AT_ONCE
    for name in served.keys() - {"calibration_numbers"}:  # settled at the end
        assert ours[name].tolist() == served[name].tolist(), name
    assert training.kept_back is None
    [made] = training.passes
    assert made.training == Accuracy.of(np.array(ranks, np.int32))
    assert made.held_out is None
    assert training.kept is made
    assert training.learned == made.rows == len(instances)


def test_a_feature_is_counted_in_the_first_pass_only():
    training = train(Rows.of(labelled(50)), OPTIONS, Plan(passes=3, calibration_rows=0))
    assert training.learner.feature("f0")["times_seen"] == 10
    assert training.learned == 150


def test_equal_plans_make_equal_states_and_other_seeds_others():
    rows = Rows.of(labelled(200))

    def state(**plan):
        return dumped(train(rows, OPTIONS, Plan(passes=2, **plan)).learner)

    assert state(seed=1) == state(seed=1)
    assert state(seed=1) != state(seed=2)
    assert state(seed=1, held_out=0.2) == state(seed=1, held_out=0.2)


def test_each_pass_has_an_order_of_its_own():
    learned = np.array([3, 3, 5, 8, 9, *range(20, 60)])
    rows = Rows.of(labelled(60))
    first, again, second = (order_of_pass(rows, learned, Plan(), n) for n in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != second.tolist()
    assert sorted(first) == sorted(second) == learned.tolist()
    in_order = order_of_pass(rows, learned, Plan(shuffle=False), 2)
    assert in_order.tolist() == learned.tolist()


def test_held_out_rows_are_drawn_and_never_learned():
    rows = Rows.of(labelled(100))
    parts = parts_of(rows, Plan(held_out=0.2))
    held_out, learned = parts.held_out, parts.learned
    assert len(held_out) == 20
    names = {rows.features[at] for at in held_out.indices if rows.features[at].startswith("h")}
    assert names | {f"h{row}" for row in learned} == {f"h{row}" for row in range(100)}
    assert names != {f"h{row}" for row in range(80, 100)}
    others = parts_of(rows, Plan(held_out=0.2, seed=1))
    assert {*others.learned} != {*learned}
    learner = train(rows, OPTIONS, Plan(passes=2, held_out=0.2)).learner
    assert {name for name in rows.features if not learner.has_feature(name)} == names


def test_in_order_the_last_rows_are_held_out():
    parts = parts_of(Rows.of(labelled(10)), Plan(held_out=0.2, shuffle=False))
    held_out = parts.held_out
    assert [held_out.features[at] for at in held_out.indices if at >= 5][-1] == "h9"
    assert (len(held_out), parts.learned.tolist()) == (2, list(range(8)))


def test_oversampled_rows_are_learned_again_and_held_out_ones_are_not():
    rows = Rows.of([*labelled(30, classes=3), (["x"], ["rare"]), (["y"], ["late"])])
    plan = Plan(held_out=1 / 32, oversample=5, shuffle=False)
    training = train(rows, OPTIONS, plan)
    assert training.passes[0].rows == 30 + 5
    assert training.learner.class_("rare")["learned"] == 5
    assert not training.learner.has_class("late")
    assert training.learner.class_("c0")["learned"] == 10


def test_held_out_accuracy_is_that_of_the_learner_after_the_pass():
    rows = Rows.of([(["x"], ["a"]), (["y"], ["b"]), (["x"], ["a"]), (["y"], ["a"])])
    [made] = train(rows, OPTIONS, Plan(held_out=0.5, shuffle=False)).passes
    assert made.held_out == Accuracy(2, 0.5, 0.5, 0.5)
    assert made.training == Accuracy(2, 0.0, 0.0, 0.0)


def test_without_a_rise_training_stops_and_the_best_state_is_kept(monkeypatch):
    held_out_r1 = iter([0.2, 0.5, 0.4, 0.5, 0.9])

    def made_up(*_):
        return np.array([1] * int(10 * next(held_out_r1)) + [0] * 10, np.int32)[:10]

    monkeypatch.setattr("manyclass.training.trainer.ranks_of", made_up)
    rows = Rows.of(labelled(100))
    ended = []
    plan = Plan(passes=9, held_out=0.1, patience=2, calibration_rows=0)
    training = train(rows, OPTIONS, plan, ended=ended.append)
    assert [made.held_out.r1 for made in training.passes] == [0.2, 0.5, 0.4, 0.5]
    assert ended == training.passes
    assert training.kept is training.passes[1]
    assert training.learned == 180
    monkeypatch.undo()
    two = train(rows, OPTIONS, Plan(passes=2, held_out=0.1, calibration_rows=0))
    four = train(rows, OPTIONS, Plan(passes=4, held_out=0.1, calibration_rows=0))
    assert dumped(training.learner) == dumped(two.learner)
    assert dumped(training.learner) != dumped(four.learner)


def test_without_patience_the_last_state_is_kept(monkeypatch):
    falling = iter([9, 5, 1])
    monkeypatch.setattr(
        "manyclass.training.trainer.ranks_of",
        lambda *_: np.array([1] * next(falling) + [0] * 10, np.int32),
    )
    plan = Plan(passes=3, held_out=0.1, calibration_rows=0)
    training = train(Rows.of(labelled(100)), OPTIONS, plan)
    assert training.kept is training.passes[2]


@pytest.mark.parametrize(
    ("count", "passes", "wanted", "kept_back"),
    [(100, 2, 7, 7), (100, 3, 1000, 10), (100, 2, 0, 0), (100, 1, 7, 0), (9, 2, 7, 0)],
)
def test_rows_are_kept_back_until_after_several_passes(count, passes, wanted, kept_back):
    rows = Rows.of(labelled(count))
    plan = Plan(passes=passes, calibration_rows=wanted, shuffle=False)
    parts = parts_of(rows, plan)
    assert parts.learned.tolist() == list(range(count - kept_back))
    assert parts.kept_back.tolist() == list(range(count - kept_back, count))
    shuffled = parts_of(rows, Plan(passes=passes, calibration_rows=wanted, held_out=0.5))
    together = sorted([*shuffled.learned, *shuffled.kept_back])
    assert len(together) + len(shuffled.held_out) == count
    assert together != list(range(len(together)))


def test_rows_kept_back_are_learned_once_and_counted_as_seen():
    rows = Rows.of(labelled(50))
    training = train(rows, OPTIONS, Plan(passes=3, calibration_rows=5, shuffle=False))
    one_by_one = make(OPTIONS)
    for number in range(3):
        for each in labelled(50)[:45]:
            one_by_one.learn(*each, number)
    ranks = [one_by_one.learn(*each).rank for each in labelled(50)[45:]]
    assert dumped(training.learner) == dumped(one_by_one)
    assert training.learner.feature("f0")["times_seen"] == 10
    assert [made.rows for made in training.passes] == [45] * 3
    assert training.kept_back.training == Accuracy.of(np.array(ranks, np.int32))
    assert training.learned == 3 * 45 + 5


def test_the_rows_kept_back_follow_the_pass_that_is_kept(monkeypatch):
    falling = iter([9, 5, 1, 4])
    monkeypatch.setattr(
        "manyclass.training.trainer.ranks_of",
        lambda *_: np.array([1] * next(falling) + [0] * 10, np.int32),
    )
    rows = Rows.of(labelled(100))
    training = train(rows, OPTIONS, Plan(passes=3, held_out=0.1, patience=2))
    assert training.kept is training.passes[0]
    assert training.kept_back.held_out.rows == 14
    assert training.learned == 81 + 9
    assert all(
        training.learner.has_feature(f"h{row}")
        for row in parts_of(rows, Plan(passes=3, held_out=0.1)).kept_back
    )


def test_confidence_is_learned_from_the_rankings_of_new_rows():
    """Each row can only be known by heart, and half of the classes can be guessed."""
    random = np.random.default_rng(0)
    rows = Rows.of(
        ([f"f{random.integers(2)}", f"h{row}"], [f"c{random.integers(2)}"]) for row in range(3000)
    )
    for learner in ("svm", "committee(members=ff+pa)"):
        training = train(rows, Options.parse(learner), Plan(passes=3, calibration_rows=300))
        assert training.calibration.outcomes >= 2990
        assert training.passes[-1].training.r1 > 0.95
        [(_, first), (_, second)] = training.learner.rank(["f0", "new"], 2)
        assert training.calibration.confidence(first, second) == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(
    ("count", "passes", "kept_back", "outcomes"),
    [
        (1100, 1, 0, 550),
        (900, 1, 0, 0),
        (6000, 2, 600, 600),
        (3000, 2, 1000, 0),
        (10000, 1, 0, 4000),
    ],
)
def test_the_calibration_is_fitted_to_the_last_new_rows(
    monkeypatch, count, passes, kept_back, outcomes
):
    """It needs 500; those of the first half of the first pass do not count."""
    settled = []

    def noted(*arguments):
        part = settled_part(*arguments)
        settled.append(part.stop - part.start)
        return part

    monkeypatch.setattr("manyclass.training.trainer.settled_part", noted)
    calibration = train(
        Rows.of(labelled(count)), OPTIONS, Plan(passes, calibration_rows=kept_back)
    ).calibration
    assert settled == [outcomes]
    monkeypatch.setattr("manyclass.training.trainer.settled_part", lambda *_: slice(0, 0))
    left = train(Rows.of(labelled(count)), OPTIONS, Plan(passes, calibration_rows=kept_back))
    same = left.calibration.confidence(1.0, 0.5) == calibration.confidence(1.0, 0.5)
    assert same == (outcomes == 0)


def test_copies_of_a_row_are_one_outcome_and_stay_together():
    rows = Rows.of([*labelled(200, classes=2), (["x", "f1"], ["rare"])])
    for passes in (1, 2):
        plan = Plan(passes=passes, oversample=300, calibration_rows=20)
        parts = parts_of(rows, plan)
        assert len(parts.learned) + len(parts.kept_back) == 200 * 3 + 300
        assert not {*parts.learned} & {*parts.kept_back}
        assert len({*parts.kept_back}) == 20 * (passes - 1)
        outcomes = train(rows, OPTIONS, plan).calibration.outcomes
        assert 190 <= outcomes <= 201  # at first no class is retrieved


def test_progress_is_reported():
    reports = []
    rows = Rows.of(labelled(LEARNED_AT_ONCE + 1 + 100))
    plan = Plan(passes=2, calibration_rows=100)
    train(rows, OPTIONS, plan, lambda *each: reports.append(each))
    size = LEARNED_AT_ONCE + 1
    assert reports == [
        (1, LEARNED_AT_ONCE, size),
        (1, size, size),
        (2, LEARNED_AT_ONCE, size),
        (2, size, size),
    ]


@pytest.mark.parametrize(
    ("plan", "option"),
    [
        ({"passes": 0}, "passes"),
        ({"held_out": -0.1}, "held_out"),
        ({"held_out": 1.0}, "held_out"),
        ({"held_out": float("nan")}, "held_out"),
        ({"oversample": -1}, "oversample"),
        ({"patience": -1, "held_out": 0.1}, "patience"),
        ({"patience": 1}, "patience"),
        ({"seed": -1}, "seed"),
        ({"calibration_rows": -1}, "calibration_rows"),
    ],
)
def test_a_plan_out_of_range_is_refused(plan, option):
    with pytest.raises(PlanError, match=f"^{option}: ") as refused:
        Plan(**plan)
    assert refused.value.option == option
    assert str(refused.value) == f"{option}: {refused.value.reason}"


@pytest.mark.parametrize(("count", "share"), [(0, 0.0), (1, 0.6), (10, 0.01)])
def test_too_few_rows_are_refused(count, share):
    with pytest.raises(PlanError, match="held_out: "):
        train(Rows.of(labelled(count)), OPTIONS, Plan(held_out=share))


def test_a_pass_says_what_it_took():
    [made] = train(Rows.of(labelled(10)), OPTIONS, Plan()).passes
    assert isinstance(made, Pass)
    assert made.seconds > 0


def test_a_label_tree_is_built_over_the_classes_that_will_be_learned():
    """Twenty classes are more than one node holds. The tree built from them has two levels, with
    the classes in the order of their first rows, also before they are learned."""
    rows = Rows.of(labelled(40, classes=20))
    planted, grown = (
        train(rows, Options.parse(each), Plan(shuffle=False)).learner
        for each in ("iplt(tree=complete)", "oplt")
    )
    assert planted.dump()["class_turns"].tolist() == list(range(20))
    assert planted.dump()["children_ids"].tolist() != grown.dump()["children_ids"].tolist()
    assert planted.dump()["node_children"].tolist() != grown.dump()["node_children"].tolist()

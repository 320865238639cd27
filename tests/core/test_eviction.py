"""Eviction and listings: the work of a call does not grow with the number of names."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.both import Both
from tests.core.dumps import names as names_in
from tests.core.references import REFERENCES
from tests.core.references.forgetting import ROWS_SWEPT, SURPLUS, WINDOW

MARGIN = {"margin_threshold": 100.0}


def work_of(learner, call):
    """Return the work that a call added to the counts."""
    before = learner.work()
    call()
    return {name: count - before[name] for name, count in learner.work().items()}


# --- eviction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [1_000, 30_000])
@pytest.mark.parametrize("specification", ["ff", "svm", "svm(replay=3)", "oplt"])
def test_a_new_feature_costs_one_window_however_many_there_are(specification, names):
    learner = Learner(Options.parse(specification, max_features=names))
    for n in range(names):
        learner.learn([f"f{n}"], ["c"])
    for n in range(200):
        added = [f"new {n} {each}" for each in range(3)]
        done = work_of(learner, lambda: learner.learn(added, ["c"]))  # noqa: B023
        assert done["ids_looked_at"] <= 3 * WINDOW
        assert learner.features == names
    assert learner.evicted_features == 600


def blocks_of(learner):
    """Return the number of blocks of each feature of a label tree, by name."""
    state = learner.dump()
    by_id = names_in(state, "feature")
    ids = state["block_features"]
    return Counter(by_id[id] for id in ids[ids < len(by_id)].tolist())


def test_evicting_a_feature_of_a_tree_looks_past_the_nodes_that_do_not_hold_it():
    learner = Learner(Options.of("oplt", arity=2, max_leaves=2, max_features=400))
    for n in range(400):
        learner.learn([f"f{n}"], [f"c{n}"])
    assert learner.dump()["node_children"].size > 200
    for n in range(50):
        if n == 25:
            learner = Learner.load(learner.options, learner.dump())
        before = blocks_of(learner)
        done = work_of(learner, partial(learner.learn, [f"new {n}"], [f"c{n}"]))
        (evicted,) = before.keys() - blocks_of(learner).keys()
        assert before[evicted] <= done["nodes_visited"] <= 2 * before[evicted] + 1 < 60
    assert learner.evicted_features == 50


def test_a_new_class_costs_one_window_and_a_stretch_of_the_rows():
    features, classes = 20 * ROWS_SWEPT, 500
    learner = Learner(Options.of("ff", max_classes=classes, **MARGIN))
    for n in range(features):
        learner.learn([f"f{n}"], [f"c{n % classes}"])
    for n in range(100):
        done = work_of(learner, lambda: learner.learn([f"f{n}"], [f"new {n}"]))  # noqa: B023
        assert done["ids_looked_at"] <= WINDOW
        assert done["rows_swept"] <= ROWS_SWEPT
        assert learner.classes == classes
    assert learner.evicted_classes == 100


def test_forgetting_a_class_reads_a_stretch_of_the_rows_and_takes_it_from_all():
    learner = Learner(Options.of("ff", **MARGIN))
    instance = {f"f{n}": 1.0 for n in range(10 * ROWS_SWEPT)}
    learner.learn(instance, ["a"])
    learner.learn(instance, ["b"])
    edges = learner.edges
    assert work_of(learner, lambda: learner.forget_class("a"))["rows_swept"] == ROWS_SWEPT
    assert edges // 2 < learner.edges < edges

    last = f"f{10 * ROWS_SWEPT - 1}"
    assert learner.rank([last]) == [("b", pytest.approx(0.1))]  # half of the mass is still of a
    assert learner.feature(last)["edges"] == [("b", 0.5)]
    for _ in range(9):
        learner.learn({"another": 1}, ["c"])
    assert learner.edges == edges // 2 + 1
    assert learner.feature(last)["edges"] == [("b", 1.0)]


def test_learning_forgets_the_retired_classes_of_its_features_first():
    both = Both(Options.of("ff", **MARGIN), [f"f{n}" for n in range(3 * ROWS_SWEPT)], ["a", "b"])
    for number, name in enumerate(both.features):
        both.learn({name: 1}, [both.classes[number % 2]])
    both.forget_class("a")
    both.compare()
    both.learn({both.features[-2]: 1}, ["b"])
    both.compare()
    both.learn({both.features[-4]: 1}, ["a"])  # not the class that was forgotten
    both.compare()
    both.look_inside()


@pytest.mark.parametrize("learner", REFERENCES)
def test_state_and_evictions_go_on_from_a_dump_within_a_sweep(learner):
    """Use more rows and ids than one sweep or window takes at once, and reload in between."""
    options = Options.of(learner, max_features=2 * ROWS_SWEPT + 50, max_classes=100)
    random = np.random.default_rng(5)
    features = [f"f{n}" for n in range(3 * ROWS_SWEPT)]
    classes = [f"c{n}" for n in range(200)]
    both = Both(options, features, classes)
    for number in range(150):
        drawn = random.choice(len(features), 8, replace=False)
        instance = {features[each]: float(random.choice([0.25, 1, 3])) for each in drawn}
        instance |= {features[(number * 6 + each) % len(features)]: 1.0 for each in range(6)}
        true = {classes[random.integers(200)], classes[number % 200]}
        if number % 2:
            both.learn(instance, sorted(true))
        else:
            both.learn_csr([(instance, sorted(true))], 0)
        if number % 40 == 7:
            both.forget_class(sorted(true)[0])
        if number % 25 == 10:
            both.reload(number)
        if number % 10 == 0:
            both.rank(instance)
        if number % 50 == 0:
            both.compare()
    both.compare()
    both.look_inside()
    assert both.reference.evicted_classes > 0
    assert both.learner.work()["rows_swept"] > 0 or not both.reference.has_edges


def test_a_lowered_limit_is_approached_step_by_step():
    learner = Learner(Options.of("ff"))
    for n in range(3500):
        learner.learn([f"f{n}"], ["c"])
    learner.configure(replace(learner.options, max_features=100))
    sizes = []
    for n in range(5):
        learner.learn([f"new {n}"], ["c"])
        sizes.append(learner.features)
    assert sizes == [3500 - SURPLUS, 3500 - 2 * SURPLUS, 3500 - 3 * SURPLUS, 100, 100]


def test_an_event_of_more_new_names_than_allowed_looks_round_once():
    learner = Learner(Options.of("ff", max_features=500))
    done = work_of(learner, lambda: learner.learn([f"f{n}" for n in range(2000)], ["c"]))
    assert learner.features == 500
    assert done["ids_looked_at"] <= 500


@pytest.mark.parametrize(("place", "hand"), [(11, 10**6), (12, 10**6), (13, 1), (14, 1)])
def test_a_hand_out_of_place_is_refused(place, hand):
    learner = Learner(Options.of("ff"))
    learner.learn(["f"], ["a"])
    state = learner.dump()
    state["counts"][place] = hand
    with pytest.raises(SnapshotError, match="hand"):
        Learner.load(learner.options, state)


def test_columns_survive_the_eviction_of_their_names():
    names = [f"f{n}" for n in range(300)]
    both = Both(Options.of("ff", max_features=200, **MARGIN), names, ["a", "b"])
    random = np.random.default_rng(2)
    for _ in range(60):
        drawn = random.choice(300, 12, replace=False)
        both.learn_csr([({names[each]: 1.0 for each in drawn}, ["a"])], 0)
        both.rank_csr([{names[each]: 1.0 for each in random.choice(300, 12, replace=False)}], 3)
    both.compare()


# --- packing --------------------------------------------------------------------------------------


def test_a_ring_of_ever_new_features_takes_no_more_memory():
    learner = Learner(Options.of("ff", max_features=20_000, max_outdegree=8, **MARGIN))
    random = np.random.default_rng(1)
    most = 0
    for n in range(0, 200_000, 100):
        added = [f"{'x' * random.integers(30)}{each}" for each in range(n, n + 100)]
        for _ in range(1 + n % 3):
            learner.learn(added, [f"c{number}" for number in random.integers(50, size=6)])
        if n == 50_000:
            most = learner.resident_bytes
    assert learner.resident_bytes < 1.6 * most
    again = Learner.load(learner.options, learner.dump())
    assert learner.resident_bytes < 2.2 * again.resident_bytes


# --- counted as they change -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ff", "svm", "ema", "arow", "ooz"])
def test_outdegrees_are_those_of_the_rows(name):
    options = Options.of(name, max_features=60, max_classes=30, max_outdegree=5)
    learner, random = Learner(options), np.random.default_rng(3)
    for _ in range(300):
        drawn = random.choice(100, 6, replace=False)
        learner.learn([f"f{each}" for each in drawn], [f"c{random.integers(50)}"])
    learner.forget_feature(learner.feature_page("", "", 1)[0][0])
    state = learner.dump()
    alive = state["feature_name_sizes"] > 0
    counts = np.bincount(state["outdegrees"][alive], minlength=1001)
    assert learner.outdegrees().tolist() == counts.tolist()


def held(learner):
    """Return the numbers of features of a label tree with 0, 1, ... weights in its blocks."""
    state = learner.dump()
    ids, weights = state["block_features"], state["block_weights"]
    of_feature = ids < len(state["feature_name_sizes"])
    counts = np.bincount(
        ids[of_feature], weights[of_feature], minlength=len(state["feature_name_sizes"])
    ).astype(int)
    return np.bincount(counts[state["feature_name_sizes"] > 0], minlength=1001).tolist()


@pytest.mark.parametrize(
    "specification",
    ["oplt", "oplt(arity=2,max_leaves=2)", "iplt(sample=50,max_leaves=1,min_weight=0.1)"],
)
def test_outdegrees_of_a_tree_are_the_weights_in_its_blocks(specification):
    learner = Learner(Options.parse(specification, max_features=60, max_classes=30))
    random = np.random.default_rng(3)
    for number in range(400):
        drawn = random.choice(100, 6, replace=False)
        learner.learn([f"f{each}" for each in drawn], [f"c{random.integers(50)}"])
        if number % 40 == 20:
            learner.forget_class(learner.class_page("", "", 1)[0][0])
            learner.forget_feature(learner.feature_page("", "", 1)[0][0])
            assert learner.outdegrees().tolist() == held(learner)
    assert learner.outdegrees()[1:].sum() > 0
    again = Learner.load(learner.options, learner.dump())
    assert again.outdegrees().tolist() == held(learner)
    for name, _ in learner.feature_page("", "", 60):
        assert again.feature(name) == learner.feature(name)


# --- listings -------------------------------------------------------------------------------------


def listed(page, limit, prefix=""):
    names, after = [], ""
    while True:
        found = [name for name, _ in page(prefix, after, limit)]
        names += found
        if len(found) < limit:
            return names
        after = found[-1]


@pytest.mark.parametrize("limit", [100, 1000])
def test_listing_all_names_looks_at_each_a_few_times(limit):
    count = 30_000
    learner = Learner(Options.of("ff"))
    random = np.random.default_rng(0)
    for n in random.permutation(count).tolist():
        learner.learn([f"feature {n}"], ["c"])
    done = work_of(learner, lambda: listed(learner.feature_page, limit))
    assert done["names_visited"] < 8 * count
    assert listed(learner.feature_page, limit) == sorted(f"feature {n}" for n in range(count))
    assert work_of(learner, lambda: learner.feature_page("", "", 10))["names_visited"] <= 10


def test_pages_are_those_of_a_scan_while_names_come_and_go():
    learner = Learner(Options.of("ff", max_features=3000, max_classes=40))
    random = np.random.default_rng(4)
    for n in range(8000):
        text = "".join(random.choice(list("abÄ日"), random.integers(1, 7)).tolist())
        learner.learn([text, f"{text}{n}"], [text[:4]])
        if n % 50 and n > 20:
            continue
        state = learner.dump()
        for kind, page in (("feature", learner.feature_page), ("class", learner.class_page)):
            there = sorted({*names_in(state, kind)} - {""}, key=str.encode)
            for prefix, after in (("", ""), ("a", "ab"), ("Ä", ""), ("b", "日"), ("日", "a")):
                expected = [name for name in there if name.startswith(prefix)]
                behind = [name for name in expected if name.encode() > after.encode()]
                assert [name for name, _ in page(prefix, after, 25)] == behind[:25]
                assert listed(page, 700, prefix)[-5:] == expected[-5:]


def test_the_first_pages_of_very_many_names_are_those_in_order():
    count, each = 300_000, 10_000
    learner = Learner(Options.of("ff"))
    names = [f"{'Ä' * (n % 2)}f {n}" for n in np.random.default_rng(0).permutation(count).tolist()]
    for begin in range(0, count, each):
        learner.learn(names[begin : begin + each], ["c"])
    learner.forget_feature("f 77")
    there = sorted({*names} - {"f 77"}, key=str.encode)
    asked = [("", "", 10), ("f 7", "", 1000), ("Ä", "Äf 5", 100), ("f 8", "f 99", 3), ("", "z", 5)]
    for prefix, after, limit in asked:  # the order grows with the first of them
        before = learner.work()["names_visited"]
        page = learner.feature_page(prefix, after, limit)
        assert learner.work()["names_visited"] - before < 3 * 2**17  # of them a part
        behind = (name for name in there if name.startswith(prefix) and name > after)
        assert page == [(name, 1) for name in islice(behind, limit)]
    assert listed(learner.feature_page, 1000) == there


def test_unlisted_names_are_not_kept_in_order_for_ever():
    learner = Learner(Options.of("ff", max_features=2000))
    for n in range(2000):
        learner.learn([f"f{n}"], ["c"])
    before = learner.resident_bytes
    learner.feature_page("", "", 1)
    assert learner.resident_bytes > before
    for n in range(2000, 12_000):
        learner.learn([f"f{n}"], ["c"])
    visited = learner.work()["names_visited"]
    assert visited < 4 * 2000 + 4 * 6096
    for n in range(3000):
        learner.learn([f"one more {n}"], ["c"])
    assert learner.work()["names_visited"] == visited
    assert len(listed(learner.feature_page, 1000)) == 2000


def test_columns_and_listings_agree_on_an_empty_learner():
    learner = Learner(Options.of("ff"))
    assert learner.feature_page("", "", 10) == learner.class_page("x", "y", 10) == []
    assert learner.class_ids(Columns(["a"])).tolist() == [-1]

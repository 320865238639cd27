from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given

from manyclass.core.columns import Columns
from manyclass.core.errors import (
    EventConflict,
    EventError,
    OptionError,
    SnapshotError,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.outcome import EventKey
from manyclass.core.text import TextAnalysis
from tests.core.streams import applied, streams, taught
from tests.hypothesis_examples import examples


@given(streams)
def test_same_events_same_digest_with_any_hash_seed(stream):
    again = applied([Event.from_bytes(bytes(event)) for event in stream], Model(Options(), 77))
    assert applied(stream).digest() == again.digest()


@examples(50)
@given(streams, streams)
def test_a_loaded_model_is_the_model(before, after):
    model = applied(before)
    loaded = Model.load(model.dump(), hash_seed=5)
    assert loaded.digest() == model.digest()
    assert applied(after, loaded).digest() == applied(after, model).digest()


@given(streams.filter(bool))
def test_ranking_leaves_the_state_alone(stream):
    model = applied(stream)
    digest = model.digest()
    model.rank(Instance({"a": 1, "unknown": 2}), 3)
    model.explain(Instance({"a": 1}), ["a", "b"])
    assert model.digest() == digest


def test_a_dump_is_the_state_of_its_moment():
    model = taught()
    digest, dumped = model.digest(), model.dump()
    model.apply(model.seq + 1, Event.learn(Instance({"new": 1}), ["later"]))
    assert Model.load(dumped).digest() == digest


def test_events_come_in_order():
    model = taught(3)
    event, digest = Event.forget_class("c0"), model.digest()
    for seq in (2, 3, 5):
        with pytest.raises(EventError, match="cannot follow"):
            model.apply(seq, event)
    assert model.digest() == digest


def test_a_restore_mark_is_not_applied():
    with pytest.raises(EventError, match="snapshot 2"):
        taught(3).apply(4, Event.restore(2))


def test_event_ids_are_remembered_through_a_snapshot():
    model = Model(Options())
    model.apply(1, Event.learn(Instance({"a": 1}), ["x"], "once", 42))
    assert model.seen("once") == (1, 42)
    assert Model.load(model.dump()).seen("once") == (1, 42)
    assert model.seen("other") is None


def configured(**options):
    """Return the learners of an event "configure": the default one with these options."""
    primary = Options().to_dict() | options
    return {"primary": primary, "shadows": []}


def test_check_refuses_an_event_that_cannot_be_applied():
    model = taught()
    model.check(Event.forget_class("c1"))
    model.check(Event.learn(Instance({}), ["anything"]))
    with pytest.raises(UnknownName, match="class"):
        model.check(Event.forget_class("nobody"))
    with pytest.raises(UnknownName, match="feature"):
        model.check(Event.forget_feature("nobody"))
    with pytest.raises(OptionError, match="min_weight"):
        model.check(Event.configure(configured(min_weight=7)))
    with pytest.raises(OptionError, match="mystery"):
        model.check(Event.configure(configured(mystery=7)))


def test_forgetting_takes_a_class_out_of_every_answer():
    model = taught()
    instance = Instance({"always": 1})
    assert "c1" in dict(model.rank(instance, 50))
    model.apply(model.seq + 1, Event.forget_class("c1"))
    assert "c1" not in dict(model.rank(instance, 50))
    assert model.learner.classes == 5
    weights = dict(model.learner.feature("always")["edges"])
    assert sum(weights.values()) <= 1 + 1e-12


def test_configure_changes_what_comes_after():
    model = taught()
    model.apply(model.seq + 1, Event.configure(configured(max_outdegree=1)))
    assert len(model.rank(Instance({"always": 1}), 50)) == 1
    assert Model.load(model.dump()).options == Options(max_outdegree=1)


def test_progress_counts_what_stood_where_before_learning():
    model = Model(Options())
    model.apply(1, Event.learn(Instance({"a": 1}), ["x"]))
    model.apply(2, Event.learn(Instance({"a": 1}), ["x"]))
    model.apply(3, Event.learn(Instance({"a": 1}), ["y"]))
    outcome = model.apply(4, Event.learn(Instance({"a": 1}), ["y"]))
    assert (outcome.seq, outcome.rank, outcome.updated) == (4, 2, True)
    assert (model.progress.examples, model.progress.hits[1], model.progress.hits[5]) == (4, 1, 2)
    assert model.progress.reciprocal_rank_sum == 1.5
    assert model.progress.windows()[100] == {
        "examples": 4,
        "r1": 0.25,
        "r5": 0.5,
        "r10": 0.5,
        "mrr": 0.375,
    }


def test_the_windows_of_progress_forget():
    model = Model(Options())
    for seq in range(1, 151):
        model.apply(seq, Event.learn(Instance({"a": 1}), ["x" if seq > 50 else f"n{seq}"]))
    loaded = Model.load(model.dump())
    assert model.progress.windows()[100]["r1"] > 0.9 > model.progress.windows()[1000]["r1"]
    assert loaded.progress.windows() == model.progress.windows()


@pytest.mark.parametrize(
    "option",
    [
        {"min_weight": -0.1},
        {"max_outdegree": 0},
        {"rating": -1},
        {"retrieval_window": 0},
        {"max_features": 0},
        {"max_classes": 2**32},
        {"max_bytes": 1},
        {"learner": "oracle"},
        {"leak": "no"},
        {"leak": 1},
        {"max_outdegree": 2.5},
        {"max_outdegree": None},
        {"max_features": True},
        {"margin_threshold": "x"},
        {"margin_threshold": 10**400},
        {"max_bytes": 2**35},
    ],
)
def test_options_out_of_range_are_named(option):
    (name,) = option
    with pytest.raises(OptionError) as refused:
        Options(**option)
    assert refused.value.option == name


def test_equal_options_make_equal_states():
    whole, real = Options(margin_threshold=0), Options(margin_threshold=0.0)
    assert Model(whole).digest() == Model(real).digest()


def test_threads_may_rank_while_one_learns():
    learner, random = Learner(Options(max_features=300)), np.random.default_rng(1)
    rows, width, names = 400, 8, [f"f{n}" for n in range(600)]
    indptr = np.arange(0, rows * width + 1, width)
    indices = np.concatenate(
        [random.choice(len(names), width, replace=False) for _ in range(rows)]
    ).astype(np.int32)
    values = np.ones(rows * width, np.float32)
    classes, class_indptr = Columns([f"c{n}" for n in range(40)]), np.arange(rows + 1)
    class_indices = random.integers(0, 40, rows).astype(np.int32)
    shared = Columns(names)

    def rank():
        for _ in range(20):
            ids, scores = learner.rank_csr(shared, indptr, indices, values, 5)
            assert (scores[ids >= 0] > 0).all()

    def learn():
        learning = Columns(names)
        for _ in range(20):
            learner.learn_csr(
                learning, indptr, indices, values, classes, class_indptr, class_indices
            )

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(rank), pool.submit(rank), pool.submit(learn), pool.submit(rank)]:
            done.result()
    assert learner.learned == 20 * rows
    assert learner.features <= 300


def test_columns_may_be_shared_by_threads_and_learners():
    features, classes = Columns([f"f{n}" for n in range(50)]), Columns(["x", "y"])
    indptr, indices = np.arange(0, 51, 1), np.arange(50, dtype=np.int32)
    values, class_indices = np.ones(50, np.float32), np.arange(50, dtype=np.int32) % 2

    def work(_):
        learner = Learner(Options())
        for _ in range(100):
            learner.learn_csr(features, indptr, indices, values, classes, indptr, class_indices)
            ids, _ = learner.rank_csr(features, indptr, indices, values, 1)
            assert (ids[:, 0] == learner.class_ids(classes)[class_indices]).all()
        return learner.features

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [50] * 4


# --- requests of a log that several processes share -----------------------------------------------


def lesson(name, event_id=None, fingerprint=0):
    return Event.learn(Instance([name]), [name], event_id, fingerprint)


def test_repeated_events_are_detected_also_within_one_request():
    model = Model(Options())
    model.apply(1, lesson("a", "one", 5))
    request = [lesson("b", "two", 6), lesson("a", "one", 5), lesson("c"), lesson("b", "two", 6)]
    assert model.repeats(request) == {1: 1, 3: 2}
    assert model.seq == 1
    assert model.seen("two") is None


def test_a_request_with_another_content_under_a_known_id_is_a_conflict():
    model = Model(Options())
    model.apply(1, lesson("a", "one", 5))
    with pytest.raises(EventConflict) as caught:
        model.repeats([lesson("b", "two", 6), lesson("c", "one", 7)])
    assert (caught.value.position, caught.value.event_id, caught.value.seq) == (1, "one", 1)
    with pytest.raises(EventConflict):
        model.repeats([lesson("b", "two", 6), lesson("c", "two", 7)])


def test_an_event_is_known_by_its_id_and_fingerprint_alone():
    model = Model(Options())
    model.apply(1, lesson("a", "one", 5))
    assert model.repeats([EventKey("one", 5)]) == {0: 1}
    assert model.repeats([EventKey("two", 5), EventKey(None, 5)]) == {}
    with pytest.raises(EventConflict):
        model.repeats([EventKey("one", 6)])


def test_a_request_is_applied_whole_or_passed_over():
    model, bare = Model(Options()), Model(Options())
    request = [lesson("a", "one", 5), lesson("b"), lesson("a", "one", 5)]
    first, second, retry = model.apply_request(request)
    assert (first.seq, second.seq, retry) == (1, 2, 1)
    conflict = [lesson("c", "two", 6), lesson("d", "one", 7)]
    with pytest.raises(EventConflict) as caught:
        next(model.apply_request(conflict))
    assert caught.value.position == 1
    bare.apply(1, request[0])
    bare.apply(2, request[1])
    bare.pass_over(3)
    assert model.seq == 5
    assert model.digest() == bare.digest()


def test_a_skipped_event_counts_and_changes_nothing_else():
    one, other = Model(Options()), Model(Options())
    for model in (one, other):
        model.apply(1, lesson("a", "one", 5))
    one.pass_over(3)
    assert one.seq == 4
    assert one.digest() != other.digest()
    other.seq = 4
    assert one.digest() == other.digest()


# --- no features ---------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_event_without_features_makes_no_new_class(learner):
    members = {"members": "ff+iplt"} if learner == "committee" else {}
    model = Model(Options.of(learner, **members))
    model.apply(1, Event.learn(Instance({}), ["lost"]))
    assert model.seq == 1
    if learner == "frequency":  # it uses no features and ranks the class
        assert model.learner.has_class("lost")
        return
    assert model.learner.classes == 0
    model.apply(2, Event.learn(Instance(["f"]), ["a"]))
    model.apply(3, Event.learn(Instance({"f": -1e-31}), ["lost", "a"], "id"))
    assert not model.learner.has_class("lost")
    assert model.learner.class_("a")["learned"] == 2
    assert model.seen("id") == (3, 0)


def test_a_committee_with_frequency_ranks_a_class_without_features():
    model = Model(Options.of("committee", members="ff+frequency"))
    model.apply(1, Event.learn(Instance({}), ["found"]))
    assert [name for name, _ in model.rank(Instance({}), 1)] == ["found"]


def test_a_promotion_in_the_log_is_found_with_the_options_in_any_order():
    model = Model(ModelSet(Options(), (Options.parse("svm(C=2,replay=4)"),)))
    event = Event.promote("svm(replay=4,C=2)")
    model.check(event)
    model.apply(1, event)
    assert model.model_set.labels == ["svm(C=2,replay=4)", "ff"]
    with pytest.raises(UnknownName):
        model.check(Event.promote("svm(C_negative=2)"))


# --- analysis of texts ----------------------------------------------------------------------------


def test_the_analysis_of_texts_is_part_of_the_state():
    analysis = TextAnalysis.parse("words+symbols")
    model = Model(Options(), text=analysis)
    loaded = Model.load(model.dump())
    assert loaded.text == analysis
    assert loaded.digest() == model.digest() != Model(Options()).digest()


@pytest.mark.parametrize("named", ["words+letters", "", 5, None, ["words"]])
def test_a_state_with_another_analysis_is_refused(named):
    frozen = Model(Options()).freeze()
    frozen.facts["text"] = named
    with pytest.raises(SnapshotError, match="text in the header"):
        Model.load(frozen.pieces())

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import snapshot
from manyclass.core.errors import (
    EventConflict,
    EventError,
    InstanceError,
    OptionError,
    SnapshotError,
    UnknownName,
)
from manyclass.core.event import Event, Instance
from manyclass.core.index import Columns, Index
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import LEARNERS, Options
from manyclass.core.model import Model, ShadowOutcome
from manyclass.core.model_set import ModelSet
from tests.examples import examples

letters = st.sampled_from("abcdef")
learn = st.builds(
    lambda features, classes, event_id: Event.learn(Instance(features), classes, event_id),
    st.dictionaries(letters, st.floats(0.1, 9), min_size=1, max_size=4),
    st.lists(letters, min_size=1, max_size=2),
    st.none() | st.uuids().map(str),
)
events = st.one_of(
    learn,
    learn,
    learn,
    letters.map(Event.forget_class),
    letters.map(Event.forget_feature),
    st.sampled_from([0.0, 0.5]).map(lambda m: Event.configure({"margin_threshold": m})),
)
streams = st.lists(events, max_size=30)

model_sets = st.builds(
    lambda answering, shadows: ModelSet(
        answering, tuple(each for each in shadows if each != answering)
    ),
    st.sampled_from([Options(), Options(rating=0), Options.of("pa")]),
    st.lists(
        st.sampled_from([Options(), Options(rating=2), Options.of("pa", replay=2)]),
        max_size=3,
        unique=True,
    ),
)
changes = st.one_of(
    model_sets.map(lambda model_set: Event.configure(model_set.to_dict())),
    model_sets.map(lambda model_set: Event.promote(model_set.labels[-1])),
)
streams_with_shadows = st.lists(st.one_of(learn, learn, learn, events, changes), max_size=30)


def applied(stream, model=None):
    model = model or Model(Options())
    for event in stream:
        model.apply(model.seq + 1, event)
    return model


def taught(count=50, **options):
    model = Model(Options(margin_threshold=0.5, **options))
    for n in range(count):
        instance = Instance({f"f{n % 7}": 1, f"g{n % 5}": 2, "always": 1})
        model.apply(n + 1, Event.learn(instance, [f"c{n % 6}"], event_id=f"id{n}"))
    return model


@given(streams)
def test_same_events_same_digest_whatever_the_hash_seed(stream):
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


def test_what_cannot_be_applied_is_refused_beforehand():
    model = taught()
    model.check(Event.forget_class("c1"))
    model.check(Event.learn(Instance({}), ["anything"]))
    with pytest.raises(UnknownName, match="class"):
        model.check(Event.forget_class("nobody"))
    with pytest.raises(UnknownName, match="feature"):
        model.check(Event.forget_feature("nobody"))
    with pytest.raises(OptionError, match="min_weight"):
        model.check(Event.configure({"min_weight": 7}))
    with pytest.raises(OptionError, match="mystery"):
        model.check(Event.configure({"mystery": 7}))


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
    model.apply(model.seq + 1, Event.configure({"max_outdegree": 1}))
    assert len(model.rank(Instance({"always": 1}), 50)) == 1
    assert Model.load(model.dump()).options == Options(max_outdegree=1, sublinear=False)


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
    ("section", "change"),
    [
        ("edge_classes", lambda a: a + 100),
        ("edge_classes", lambda a: a * 0),
        ("edge_masses", lambda a: -a),
        ("edge_masses", lambda a: a * np.float32("nan")),
        ("edge_masses", lambda a: a[::-1]),
        ("edge_masses", lambda a: a[:-1]),
        ("feature_mass", lambda a: a * 0),
        ("feature_mass", lambda a: a.astype(np.float32)),
        ("outdegrees", lambda a: a + 1),
        ("outdegrees", lambda a: a * 0),
        ("feature_names", lambda a: a * 0 + 97),
        ("feature_name_sizes", lambda a: a + 1),
        ("feature_name_sizes", lambda a: a * 0),
        ("feature_free", lambda a: np.array([0], a.dtype)),
        ("class_free", lambda a: np.array([0], a.dtype)),
        ("class_name_sizes", lambda a: a[:-1]),
        ("progress_counts", lambda a: a[:-1]),
        ("progress_ranks", lambda a: a[:-1]),
        ("recent_events", lambda a: a[:, :3]),
    ],
)
def test_a_state_that_contradicts_itself_is_not_loaded(section, change):
    facts, arrays = snapshot.read(taught().dump())
    arrays[section] = change(arrays[section])
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize("missing", ["counts", "feature_mass", "progress_ranks", "recent_events"])
def test_a_state_with_a_part_missing_is_not_loaded(missing):
    facts, arrays = snapshot.read(taught().dump())
    del arrays[missing]
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize(
    "option",
    [
        {"margin_threshold": float("nan")},
        {"min_weight": 1},
        {"min_weight": -0.1},
        {"max_outdegree": 0},
        {"rating": -1},
        {"normalize": "l1"},
        {"retrieval_window": 0},
        {"feature_memory": 0.5},
        {"feature_memory": float("inf")},
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


@pytest.mark.parametrize("facts", [{}, {"seq": 1}, {"seq": "x", "options": {}, "restores": []}])
def test_a_header_that_makes_no_sense_is_not_loaded(facts):
    _, arrays = snapshot.read(taught().dump())
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


def test_threads_may_rank_while_one_learns():
    index, random = Index(Options(max_features=300)), np.random.default_rng(1)
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
            ids, scores = index.rank_csr(shared, indptr, indices, values, 5)
            assert (scores[ids >= 0] > 0).all()

    def learn():
        learning = Columns(names)
        for _ in range(20):
            index.learn_csr(learning, indptr, indices, values, classes, class_indptr, class_indices)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(rank), pool.submit(rank), pool.submit(learn), pool.submit(rank)]:
            done.result()
    assert index.learned == 20 * rows
    assert index.features <= 300


def test_columns_may_be_shared_by_threads_and_indexes():
    features, classes = Columns([f"f{n}" for n in range(50)]), Columns(["x", "y"])
    indptr, indices = np.arange(0, 51, 1), np.arange(50, dtype=np.int32)
    values, class_indices = np.ones(50, np.float32), np.arange(50, dtype=np.int32) % 2

    def work(_):
        index = Index(Options())
        for _ in range(100):
            index.learn_csr(features, indptr, indices, values, classes, indptr, class_indices)
            ids, _ = index.rank_csr(features, indptr, indices, values, 1)
            assert (ids[:, 0] == index.class_ids(classes)[class_indices]).all()
        return index.features

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [50] * 4


def test_an_index_takes_proper_names_only():
    index = Index(Options())
    for classes in ([], [""], ["x" * 5000], ["\ud800"]):
        with pytest.raises(InstanceError):
            index.learn(Instance({"a": 1}), classes)
    for name in ("", "x" * 5000, "\ud800"):
        with pytest.raises(InstanceError):
            Columns([name])
    assert index.learned == 0


# --- requests of a log that several processes share -----------------------------------------------


def lesson(name, event_id=None, fingerprint=0):
    return Event.learn(Instance([name]), [name], event_id, fingerprint)


def test_what_was_seen_before_is_told_apart_also_within_one_request():
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


def test_what_is_passed_over_counts_and_changes_nothing_else():
    one, other = Model(Options()), Model(Options())
    for model in (one, other):
        model.apply(1, lesson("a", "one", 5))
    one.pass_over(3)
    assert one.seq == 4
    assert one.digest() != other.digest()
    other.seq = 4
    assert one.digest() == other.digest()


# --- several learners -----------------------------------------------------------------------------

FF, PA, OTHER = Options(), Options.of("pa"), Options(rating=0)


def lessons(count, begin=0):
    return [
        Event.learn(Instance({f"f{n % 7}": 1, f"g{n % 5}": 2, "always": 1}), [f"c{n % 6}"])
        for n in range(begin, begin + count)
    ]


def state_of(enrolled):
    score = {**enrolled.progress.dump(), **enrolled.calibration.dump()}
    sections = {**enrolled.learner.dump(), **score}
    return {name: array.tobytes() for name, array in sections.items()}


def alone(options, stream):
    return state_of(applied(stream, Model(options)).answering)


@examples(50)
@given(model_sets, streams_with_shadows, streams_with_shadows)
def test_shadows_are_part_of_the_state(model_set, before, after):
    model = applied(before, Model(model_set))
    loaded = Model.load(model.dump(), hash_seed=5)
    assert loaded.digest() == model.digest()
    assert loaded.model_set == model.model_set
    again = [Event.from_bytes(bytes(event)) for event in after]
    assert applied(again, loaded).digest() == applied(after, model).digest()
    whole = applied([*before, *after], Model(model_set, 99))
    assert whole.digest() == model.digest()


def test_each_learner_learns_as_if_it_were_alone():
    stream = [
        *lessons(40),
        Event.forget_class("c1"),
        Event.forget_feature("f2"),
        *lessons(20, begin=40),
    ]
    model = applied(stream, Model(ModelSet(FF, (PA, OTHER))))
    assert [each.label for each in model.enrolled] == ["ff", "pa", "ff(rating=0)"]
    for each, options in zip(model.enrolled, (FF, PA, OTHER), strict=True):
        assert state_of(each) == alone(options, stream)


def test_an_outcome_tells_where_each_learner_had_the_class():
    model, clock = Model(ModelSet(FF, (PA, OTHER))), iter([0.5, 1.0, 2.0, 4.0])
    instance = Instance({"a": 1})
    first = model.apply(1, Event.learn(instance, ["x"]), lambda: next(clock))
    assert (first.label, first.rank, first.seconds) == ("ff", None, 0.5)
    assert first.shadows == (
        ShadowOutcome("pa", None, 1.0),
        ShadowOutcome("ff(rating=0)", None, 2.0),
    )
    second = model.apply(2, Event.learn(instance, ["x"]))
    assert second.rank == 1
    assert [shadow.rank for shadow in second.shadows] == [1, 1]
    assert [shadow.seconds for shadow in second.shadows] == [0, 0]
    assert model.apply(3, Event.forget_class("x")).shadows == ()
    assert [each.progress.examples for each in model.enrolled] == [2, 2, 2]


def test_only_the_one_that_answers_answers():
    model = Model(ModelSet(FF, (PA,)))
    for event in lessons(30):
        model.apply(model.seq + 1, event)
    instance = Instance({"f1": 1, "g1": 1})
    answers = {
        label: model_of.rank(instance)
        for label, model_of in (
            ("ff", applied(lessons(30), Model(FF))),
            ("pa", applied(lessons(30), Model(PA))),
        )
    }
    assert answers["ff"] != answers["pa"]
    assert model.rank(instance) == answers["ff"]
    outcome = model.apply(31, Event.promote("pa"))
    assert (outcome.label, outcome.rank, outcome.updated) == ("pa", None, False)
    assert model.rank(instance) == answers["pa"]
    assert model.explain(instance, ["c1"]) == model.learner.explain(instance, ["c1"])


def test_a_promoted_learner_changes_places_with_the_one_that_answered():
    stream = lessons(30)
    model = applied([*stream, Event.promote("pa"), *lessons(9)], Model(ModelSet(FF, (OTHER, PA))))
    assert model.model_set == ModelSet(PA, (OTHER, FF))
    assert model.progress is model.answering.progress
    for each, options in zip(model.enrolled, (PA, OTHER, FF), strict=True):
        assert state_of(each) == alone(options, [*stream, *lessons(9)])
    back = applied([Event.promote("ff")], model)
    assert back.model_set == ModelSet(FF, (OTHER, PA))


def test_to_promote_what_answers_or_is_not_there_any_more_changes_nothing():
    model = applied(lessons(9), Model(ModelSet(FF, (PA,))))
    model_set, states = model.model_set, [state_of(each) for each in model.enrolled]
    for event in (Event.promote("ff"), Event.promote("ema")):  # refused, but for a race
        model.apply(model.seq + 1, event)
    assert (model.seq, model.model_set) == (11, model_set)
    assert [state_of(each) for each in model.enrolled] == states


def test_other_learners_may_begin_as_long_as_nothing_was_learned():
    other = Event.configure(ModelSet(PA, (OTHER,)).to_dict())
    model = Model(ModelSet(FF))
    model.check(other)
    assert applied([other, *lessons(5)], model).model_set.labels == ["pa", "ff(rating=0)"]
    model = applied(lessons(1), Model(ModelSet(FF)))
    with pytest.raises(OptionError, match="cannot take the place"):
        model.check(other)
    assert applied([other], model).model_set.labels == ["ff"]


def test_what_is_learned_is_forgotten_by_every_learner():
    model = applied(lessons(30), Model(ModelSet(Options(max_classes=2), (PA,))))
    kept = [name for name, _ in model.learner.class_page("", "", 9)]
    evicted = next(f"c{n}" for n in range(6) if f"c{n}" not in kept)
    model.check(Event.forget_class(evicted))  # the shadow has it
    model.apply(31, Event.forget_class(evicted))
    with pytest.raises(UnknownName):
        model.check(Event.forget_class(evicted))
    _, arrays = snapshot.read(model.dump())
    for prefix in ("", "shadow1."):
        assert evicted.encode() not in arrays[prefix + "class_names"].tobytes()


def configured(model, model_set):
    event = Event.configure(model_set.to_dict())
    model.check(event)
    model.apply(model.seq + 1, event)
    return model


def test_a_new_shadow_begins_with_nothing_and_one_that_is_not_named_is_gone():
    model = applied(lessons(30), Model(ModelSet(FF, (PA,))))
    before = state_of(model.answering)
    configured(model, ModelSet(FF, (OTHER,)))
    assert model.model_set == ModelSet(FF, (OTHER,))
    assert state_of(model.answering) == before
    assert state_of(model.shadows["ff(rating=0)"]) == alone(OTHER, [])
    with pytest.raises(UnknownName, match="learner"):
        model.check(Event.promote("pa"))


def test_a_learner_with_other_options_goes_on_and_its_score_begins_anew():
    model = applied(lessons(30), Model(ModelSet(FF, (PA,))))
    states = [each.learner.dump()["edge_classes"].tolist() for each in model.enrolled]
    model_set = ModelSet(Options(max_outdegree=3), (Options.of("pa", rivals=2),))
    configured(model, model_set)
    assert model.model_set == model_set
    assert [each.label for each in model.enrolled] == ["ff(max_outdegree=3)", "pa(rivals=2)"]
    now = [each.learner.dump()["edge_classes"].tolist() for each in model.enrolled]
    assert now == states
    assert [each.progress.examples for each in model.enrolled] == [0, 0]


def test_other_limits_leave_the_score_as_it_is():
    model = applied(lessons(30), Model(ModelSet(FF, (PA,))))
    limits = {"max_features": 3, "max_classes": 2}
    configured(model, ModelSet(Options(**limits), (Options.of("pa", **limits),)))
    assert [each.progress.examples for each in model.enrolled] == [30, 30]
    assert [options.max_features for options in model.model_set.learners] == [3, 3]


def test_options_from_before_there_were_shadows_leave_one_learner():
    model = applied(lessons(30), Model(ModelSet(FF, (PA,))))
    event = Event.configure({"learner": "ff", "rating": 3})
    model.check(event)
    model.apply(31, event)
    assert model.model_set == ModelSet(Options(rating=3, sublinear=False))


def test_no_other_learner_takes_the_place_of_the_one_that_answers():
    model = applied(lessons(30), Model(ModelSet(FF, (OTHER,))))
    digest_of = [state_of(each) for each in model.enrolled]
    event = Event.configure(ModelSet(PA).to_dict())
    with pytest.raises(OptionError, match="add 'pa' to the shadows, and promote it"):
        model.check(event)
    model.apply(31, event)  # passed its check before another learner was promoted
    assert [state_of(each) for each in model.enrolled] == digest_of


def test_a_lineup_that_names_the_one_that_answers_as_a_shadow_leaves_it_in_its_place():
    model = applied([*lessons(30), Event.promote("pa")], Model(ModelSet(FF, (PA,))))
    configured(model, ModelSet(FF, (PA, OTHER)))
    assert model.model_set == ModelSet(PA, (FF, OTHER))
    assert [each.progress.examples for each in model.enrolled] == [30, 30, 0]


def test_a_snapshot_without_shadows_of_an_older_release_is_read():
    model = taught(sublinear=False)
    facts, arrays = snapshot.read(model.dump())
    options = facts.pop("lineup")["answering"]
    known_then = ("learner", "margin_threshold", "max_outdegree", "max_bytes")
    older = facts | {"options": {name: options[name] for name in known_then}}
    assert Model.load(snapshot.write(older, arrays)).digest() == model.digest()


@pytest.mark.parametrize("missing", ["shadow1.counts", "shadow1.progress_ranks"])
def test_a_state_without_that_of_a_shadow_is_not_loaded(missing):
    facts, arrays = snapshot.read(applied(lessons(9), Model(ModelSet(FF, (PA,)))).dump())
    del arrays[missing]
    with pytest.raises(SnapshotError):
        Model.load(snapshot.write(facts, arrays))


def test_a_model_of_a_learner_that_was_taught_elsewhere():
    learner = make(PA)
    for event in lessons(30):
        learner.apply(event)
    model = Model.of(learner, 30)
    assert (model.seq, model.model_set, model.progress.examples) == (30, ModelSet(PA), 0)
    assert model.rank(Instance({"f1": 1})) == learner.rank(Instance({"f1": 1}))
    assert Model.load(model.dump()).digest() == model.digest()


def test_as_many_learners_as_there_may_be_fit_into_a_snapshot():
    members = "+".join(f"ff(seed={n})" for n in range(64))
    committee = Options.of("committee", members=members)
    shadows = tuple(Options(rating=n) for n in range(15))
    small = applied(lessons(9), Model(ModelSet(committee, shadows)))
    assert Model.load(small.dump()).digest() == small.digest()


# --- confidence -----------------------------------------------------------------------------------


def test_an_answer_is_the_ranking_and_what_its_learner_makes_of_the_two_best_scores():
    model = applied(lessons(200), Model(ModelSet(FF, (PA,))))
    instance = Instance({"f1": 1, "always": 1})
    (_, first), (_, second) = model.rank(instance, 2)
    sure = model.answering.calibration.confidence(first, second)

    assert 0 < sure < 1
    for k in (1, 2, 5):
        assert model.answer(instance, k) == (model.rank(instance, k), sure)
    assert model.answer(instance, 5, second) == (model.rank(instance, 5, second), sure)
    assert model.answer(instance, 5, 1e9) == ([], sure)
    assert model.answer(Instance({"never seen": 1})) == ([], None)


def test_each_learner_has_a_calibration_of_its_own_which_a_promotion_keeps():
    model = applied(lessons(200), Model(ModelSet(FF, (PA,))))
    ff, pa = (each.calibration for each in model.enrolled)
    assert ff.dump()["calibration_numbers"].tolist() != pa.dump()["calibration_numbers"].tolist()

    model.apply(201, Event.promote("pa"))
    assert [each.calibration for each in model.enrolled] == [pa, ff]


def test_a_calibration_begins_anew_where_the_score_does():
    model = applied(lessons(200), Model(ModelSet(FF, (PA,))))
    applied([Event.configure(ModelSet(OTHER, (PA,)).to_dict())], model)

    assert [each.progress.examples for each in model.enrolled] == [0, 200]
    assert [each.calibration.outcomes > 0 for each in model.enrolled] == [False, True]


def test_a_snapshot_of_a_release_without_calibration_is_read():
    model = applied(lessons(150), Model(ModelSet(FF, (PA,))))
    facts, arrays = snapshot.read(model.dump())
    older = {name: array for name, array in arrays.items() if "calibration_" not in name}
    loaded = Model.load(snapshot.write(facts, older))

    assert [each.calibration.outcomes for each in loaded.enrolled] == [0, 0]
    assert [each.progress.examples for each in loaded.enrolled] == [150, 150]
    del arrays["shadow1.calibration_right"]
    with pytest.raises(SnapshotError, match="calibration_right"):
        Model.load(snapshot.write(facts, arrays))


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_event_without_features_makes_no_new_class(learner):
    members = {"members": "ff+iplt"} if learner == "committee" else {}
    model = Model(Options.of(learner, **members))
    model.apply(1, Event.learn(Instance({}), ["lost"]))
    assert model.seq == 1
    if learner == "frequency":  # which knows no features, so that the class is ranked
        assert model.learner.has_class("lost")
        return
    assert model.learner.classes == 0
    model.apply(2, Event.learn(Instance(["f"]), ["a"]))
    model.apply(3, Event.learn(Instance({"f": -1}), ["lost", "a"], "id"))
    assert not model.learner.has_class("lost")
    assert model.learner.class_("a")["learned"] == 2
    assert model.seen("id") == (3, 0)


def test_a_committee_with_frequency_ranks_a_class_without_features():
    model = Model(Options.of("committee", members="ff+frequency"))
    model.apply(1, Event.learn(Instance({}), ["found"]))
    assert [name for name, _ in model.rank(Instance({}), 1)] == ["found"]

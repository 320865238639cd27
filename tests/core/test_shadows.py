"""A model with several learners: each learns every event, one answers, and any may be promoted."""

import numpy as np
import pytest
from hypothesis import given

from manyclass.core import snapshot
from manyclass.core.errors import OptionError, SnapshotError, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.model_state import of_primary
from manyclass.core.outcome import ShadowOutcome
from tests.core.streams import applied, lessons, model_sets, streams_with_shadows
from tests.hypothesis_examples import examples

FF, PA, OTHER = Options(), Options.of("pa"), Options(rating=0)


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


def adding(options):
    return Event.configure({"added": options.to_dict()})


def removing(label):
    return Event.configure({"removed": label})


def test_an_added_shadow_learns_what_comes_and_the_others_go_on():
    model = applied([*lessons(20), adding(PA), *lessons(9)], Model(FF))
    assert model.model_set == ModelSet(FF, (PA,))
    assert model.chosen == ModelSet(FF)
    assert [each.learner.learned for each in model.enrolled] == [29, 9]
    assert state_of(model.enrolled[0]) == alone(FF, [*lessons(20), *lessons(9)])
    states = [state_of(each) for each in model.enrolled]
    applied([adding(PA), adding(FF)], model)  # both are there
    assert (model.model_set, model.chosen) == (ModelSet(FF, (PA,)), ModelSet(FF))
    assert [state_of(each) for each in model.enrolled] == states
    applied([removing("pa"), adding(PA)], model)
    assert [each.learner.learned for each in model.enrolled] == [29, 0]


def test_learners_chosen_by_the_settings_are_remembered_until_they_choose_others():
    model = applied([adding(PA), removing("pa"), adding(OTHER)], Model(FF))
    assert (model.model_set, model.chosen) == (ModelSet(FF, (OTHER,)), ModelSet(FF))
    loaded = Model.load(model.dump())
    assert (loaded.chosen, loaded.digest()) == (ModelSet(FF), model.digest())
    other = Model(ModelSet(FF, (OTHER,)))
    other.pass_over(3)
    assert other.digest() != model.digest()
    applied([Event.configure(model.model_set.to_dict())], model)
    assert model.chosen is None
    chosen = {**model.model_set.to_dict(), "chosen": ModelSet(PA).to_dict()}  # by a restore
    assert applied([Event.configure(chosen)], model).chosen == ModelSet(PA)


def test_learners_that_cannot_be_added_or_removed_are_refused_and_without_effect():
    most = tuple(Options.of("pa", replay=n) for n in range(1, 16))
    model = applied(lessons(3), Model(ModelSet(FF, most)))
    before = model.model_set
    for event, error in (
        (adding(OTHER), OptionError),
        (removing("ff"), OptionError),
        (removing("ema"), UnknownName),
    ):
        with pytest.raises(error):
            model.check(event)
        applied([event], model)  # another event came between
    assert (model.model_set, model.chosen) == (before, None)


def test_other_learners_may_begin_as_long_as_nothing_was_learned():
    other = Event.configure(ModelSet(PA, (OTHER,)).to_dict())
    model = Model(ModelSet(FF))
    model.check(other)
    assert applied([other, *lessons(5)], model).model_set.labels == ["pa", "ff(rating=0)"]
    model = applied(lessons(1), Model(ModelSet(FF)))
    with pytest.raises(OptionError, match="cannot take the place"):
        model.check(other)
    assert applied([other], model).model_set.labels == ["ff"]


def test_a_class_is_forgotten_by_every_learner():
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
    model_set = ModelSet(Options(max_outdegree=3), (Options.of("pa", negatives=2),))
    configured(model, model_set)
    assert model.model_set == model_set
    assert [each.label for each in model.enrolled] == ["ff(max_outdegree=3)", "pa(negatives=2)"]
    now = [each.learner.dump()["edge_classes"].tolist() for each in model.enrolled]
    assert now == states
    assert [each.progress.examples for each in model.enrolled] == [0, 0]


def test_other_limits_leave_the_score_as_it_is():
    model = applied(lessons(30), Model(ModelSet(FF, (PA,))))
    limits = {"max_features": 3, "max_classes": 2}
    configured(model, ModelSet(Options(**limits), (Options.of("pa", **limits),)))
    assert [each.progress.examples for each in model.enrolled] == [30, 30]
    assert [options.max_features for options in model.model_set.learners] == [3, 3]


def test_no_other_learner_takes_the_place_of_the_one_that_answers():
    model = applied(lessons(30), Model(ModelSet(FF, (OTHER,))))
    digest_of = [state_of(each) for each in model.enrolled]
    event = Event.configure(ModelSet(PA).to_dict())
    with pytest.raises(OptionError, match="add 'pa' to the shadows, and promote it"):
        model.check(event)
    model.apply(31, event)  # passed its check before another learner was promoted
    assert [state_of(each) for each in model.enrolled] == digest_of


def test_a_model_set_that_names_the_primary_as_a_shadow_leaves_it_in_its_place():
    model = applied([*lessons(30), Event.promote("pa")], Model(ModelSet(FF, (PA,))))
    configured(model, ModelSet(FF, (PA, OTHER)))
    assert model.model_set == ModelSet(PA, (FF, OTHER))
    assert [each.progress.examples for each in model.enrolled] == [30, 30, 0]


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


def test_a_section_of_the_primary_may_begin_like_the_prefix_of_a_shadow():
    names = ["counts", "shadow", "shadow_masses", "shadows.", "shadow1.counts", "shadow12.edges"]
    arrays = {name: np.zeros(1) for name in names}
    assert list(of_primary(arrays)) == names[:4]


# --- confidence -----------------------------------------------------------------------------------


def test_an_answer_is_the_ranking_and_what_its_learner_makes_of_the_two_best_scores():
    model = applied(lessons(200), Model(ModelSet(FF, (PA,))))
    instance = Instance({"f1": 1, "always": 1})
    (_, first), (_, second) = model.rank(instance, 2)
    sure = model.answering.calibration.confidence(first, second)

    assert 0 < sure < 1
    for k in (1, 2, 5):
        assert model.answer(instance, k) == (model.rank(instance, k), sure, ())
    assert model.answer(instance, 5, second) == (model.rank(instance, 5, second), sure, ())
    assert model.answer(instance, 5, 1e9) == ([], sure, ())
    assert model.answer(Instance({"never seen": 1})) == ([], None, ())


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


def test_a_snapshot_without_a_calibration_is_refused():
    model = applied(lessons(150), Model(ModelSet(FF, (PA,))))
    facts, arrays = snapshot.read(model.dump())
    del arrays["shadow1.calibration_right"]
    with pytest.raises(SnapshotError, match="calibration_right"):
        Model.load(snapshot.write(facts, arrays))

"""EventBatch: the same bytes, outcomes and states as of the events one by one."""

import random
from itertools import pairwise

import pytest

from manyclass.core.errors import InstanceError, RulesDiffer
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.published_learner import PublishedLearner
from manyclass.core.text import DEFAULT_TEXT, Reading
from tests.core.specifications import SPECIFICATIONS
from tests.core.streams import lessons


def batch_of(events):
    batch = EventBatch()
    for event in events:
        batch.add(
            event.instance,
            event.classes,
            event.source,
            event.text,
            event.reading,
            event.reviewer,
            event.batch,
        )
    return batch


def drawn(count, seed=0):
    """Return events of many features and few classes, some of several classes."""
    chance = random.Random(seed)
    events = []
    for _ in range(count):
        of = chance.sample(range(8), chance.choice([1, 1, 2]))
        names = [f"f{chance.randrange(40)}" for _ in range(4)] + [f"of {n}" for n in of]
        features = {name: chance.choice([0.5, 1.0, 3.0]) for name in names}
        source = chance.choice([None, "web", "a file"])
        origin = {
            "source": source,
            "reviewer": chance.choice([None, "anna"]),
            "batch": chance.choice([None, "letters.xlsx"]),
        }
        text = chance.choice([None, "Größe", {"title": "é", "body": ""}])
        classes = [f"c{n}" for n in of]
        by = None if text is None else Reading(DEFAULT_TEXT, 1000)
        events.append(Event.learn(Instance(features), classes, text=text, reading=by, **origin))
    return events


def apply_all(model, batch, seconds=1.0):
    batch.begin(model.seq + 1)
    counts = [0]
    while batch.learned < len(batch):
        model.apply_batch(batch, seconds)
        counts.append(batch.learned)
    return counts


def test_payloads_and_events_are_those_of_events_by_themselves():
    events = [*drawn(20), Event.learn(Instance({"é": 2.5}), ["Ω", "x", "Ω"], source="Größe")]
    batch = batch_of(events[:-1])
    batch.add(Instance({"é": 2.5}), ["Ω", "x", "Ω"], "Größe")
    assert batch.payloads() == [bytes(event) for event in events]
    assert batch.events() == events
    assert [event.classes for event in batch.events()] == [event.classes for event in events]
    for name in ("source", "reviewer", "batch"):
        assert [getattr(each, name) for each in batch.events()] == [
            getattr(each, name) for each in events
        ]
    assert [event.text for event in batch.events()] == [event.text for event in events]
    assert [event.reading for event in batch.events()] == [event.reading for event in events]
    assert len(batch.events()[-1].instance) == 1
    assert (len(batch), batch.size) == (21, sum(len(bytes(event)) for event in events))


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_the_state_and_the_outcomes_are_equal_bit_for_bit(specification):
    events = drawn(150)
    one_by_one, together = (Model(Options.parse(specification)) for _ in range(2))
    assert together.can_apply(EventBatch())
    outcomes = [one_by_one.apply(seq, event) for seq, event in enumerate(events, 1)]
    for begin in range(0, len(events), 40):
        batch = batch_of(events[begin : begin + 40])
        apply_all(together, batch)
        expected = outcomes[begin : begin + 40]
        assert batch.first_seq == expected[0].seq
        assert batch.ranks() == [outcome.rank or 0 for outcome in expected]
        assert batch.updated() == [outcome.updated for outcome in expected]
        assert all(seconds > 0 for seconds in batch.seconds())
        assert together.seq == expected[-1].seq
    assert together.digest() == one_by_one.digest()
    assert together.progress.windows() == one_by_one.progress.windows()
    learners = (together.learner, one_by_one.learner)
    assert len({each.active_features_ranked for each in learners}) == 1
    assert len({each.edges_touched for each in learners}) == 1


def varied(count):
    """Return events of which some are not plain, with ids, sources, weights, no features."""
    chance = random.Random(5)
    events = []
    for number, event in enumerate(drawn(count)):
        rejected = ["c8"] if chance.random() < 0.2 else []
        events.append(
            Event.learn(
                event.instance if chance.random() < 0.9 else Instance({}),
                event.classes if chance.random() < 0.9 or not rejected else [],
                f"e{number}" if chance.random() < 0.5 else None,
                number,
                rejected=rejected,
                weight=chance.choice([1, 1, 1, 2.5]),
                source=chance.choice([None, "web"]),
            )
        )
    return events


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_an_event_by_itself_changes_the_same_as_learning_and_counting_in_steps(specification):
    model, in_steps = (Model(Options.parse(specification)) for _ in range(2))
    enrolled = in_steps.answering
    for seq, event in enumerate(varied(200), 1):
        outcome = model.apply(seq, event)
        learned = enrolled.apply(event)
        assert outcome == (seq, learned.rank or None, learned.updated, enrolled.label, (), 0)
        if event.event_id is not None:
            in_steps.recent.add(event.event_id, seq, event.fingerprint)
        in_steps.seq = seq
    assert model.progress.examples > 150
    assert model.digest() == in_steps.digest()


def test_without_a_learner_no_batch_is_learned():
    batch = batch_of(drawn(2))
    with pytest.raises(ValueError, match="no learner is published"):
        batch.learn(PublishedLearner(), 1.0)
    assert batch.learned == 0


def test_the_clock_measures_learning():
    model, clock = Model(Options()), iter([1.0, 1.5])
    outcome = model.apply(1, drawn(1)[0], lambda: next(clock))
    assert outcome.seconds == 0.5


def test_more_outcomes_than_are_kept():
    events = lessons(10_050)
    one_by_one, together = Model(Options()), Model(Options())
    for seq, event in enumerate(events, 1):
        one_by_one.apply(seq, event)
    apply_all(together, batch_of(events))
    assert together.digest() == one_by_one.digest()


def test_without_time_each_call_learns_one_event():
    one_by_one, model = Model(Options()), Model(Options())
    for seq, event in enumerate(drawn(20), 1):
        one_by_one.apply(seq, event)
    batch = batch_of(drawn(20))
    counts = apply_all(model, batch, seconds=0.0)
    assert [after - before for before, after in pairwise(counts)] == [1] * 20
    assert batch.ranks(3) == batch.ranks()[3:]
    assert model.digest() == one_by_one.digest()


def test_names_of_others_may_stand_between_events():
    model = Model(Options())
    apply_all(model, batch_of(drawn(5)))
    model.apply(6, Event.forget_class("c1"))
    again = Model(Options())
    for seq, event in enumerate([*drawn(5), Event.forget_class("c1"), *drawn(5, 1)], 1):
        again.apply(seq, event)
    apply_all(model, batch_of(drawn(5, 1)))
    assert model.digest() == again.digest()


def test_a_model_with_a_shadow_learns_one_by_one():
    model = Model(ModelSet(Options(), (Options.of("pa"),)))
    assert not model.can_apply(EventBatch())


def test_a_model_with_a_taxonomy_learns_one_by_one():
    model = Model(Options())
    model.apply(1, Event.place({"c1": "sports"}))
    assert not model.can_apply(EventBatch())


def test_other_rules_refuse_a_batch_before_any_change():
    model = Model(Options())
    model.rules -= 1
    batch = batch_of(drawn(3))
    with pytest.raises(RulesDiffer):
        apply_all(model, batch)
    assert (model.seq, model.learner.learned, batch.learned) == (0, 0, 0)


def test_outcomes_that_came_by_other_means():
    batch = batch_of(drawn(2))
    batch.note(3, True)
    assert (batch.ranks(), batch.updated(), batch.learned) == ([3], [True], 1)
    batch.note(0, False)
    with pytest.raises(IndexError):
        batch.note(1, True)
    assert batch.ranks() == [3, 0]


@pytest.mark.parametrize(
    ("features", "classes", "error"),
    [
        ({"a": 1}, [], ValueError),
        ({}, ["x"], ValueError),
        ({"a": 1}, [""], InstanceError),
        ({"a": 1}, ["x" * 5000], InstanceError),
        ({"a": 1}, ["\ud800"], InstanceError),
        ({"a": 1}, [1], TypeError),
        ({"a": 1}, ["x", b"y"], TypeError),
    ],
)
def test_other_events_are_refused(features, classes, error):
    batch = EventBatch()
    with pytest.raises(error):
        batch.add(Instance(features), classes)
    assert (len(batch), batch.size) == (0, 0)


def test_vectors_are_learned_as_of_events_one_by_one():
    chance = random.Random(1)
    events = []
    for each in drawn(60):
        vector = [chance.gauss(0, 1) for _ in range(chance.choice([4, 4, 4, 3]))]
        features = chance.choice([each.instance, Instance({})])
        events.append(Event.learn(features.with_vector(vector), each.classes))
    one_by_one, together = Model(Options()), Model(Options())
    outcomes = [one_by_one.apply(seq, event) for seq, event in enumerate(events, 1)]
    batch = batch_of(events)
    apply_all(together, batch)
    assert together.digest() == one_by_one.digest()
    assert [rank or None for rank in batch.ranks()] == [each.rank for each in outcomes]
    known = together.evidence.dimension
    assert batch.has_vectors_of(known) is False
    assert batch_of(each for each in events if each.instance.dimension == known).has_vectors_of(
        known
    )
    assert batch_of(drawn(3)).has_vectors_of(known)

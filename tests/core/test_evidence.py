"""Vectors and descriptions beside a learner: exact sums, the discriminant, and the mixture."""

import copy
import random
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from numpy.typing import NDArray

from manyclass.core.errors import DimensionConflict, InstanceError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.evidence import SECTIONS, SUMS, Evidence
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.references import discriminant
from tests.core.specifications import ONE_OF_EACH

CLASSES = ["north", "east", "south", "west"]
DIMENSION = 12


def drawn_vector(chance: random.Random, cls: str, spread: float = 0.6) -> list[float]:
    """Return a vector near one that belongs to the class."""
    centre = random.Random(cls)
    return [centre.gauss(0, 1) + chance.gauss(0, spread) for _ in range(DIMENSION)]


def drawn(count: int, seed: int = 0, words: bool = True) -> list[Event]:
    """Return events with vectors, some of two classes."""
    chance = random.Random(seed)
    events = []
    for _ in range(count):
        classes = chance.sample(CLASSES, chance.choice([1, 1, 1, 2]))
        features = [f"w{chance.randrange(30)}", f"of {classes[0]}"] if words else []
        events.append(Event.learn(Instance(features, drawn_vector(chance, classes[0])), classes))
    return events


def learned(events: Sequence[Event], specification: str = "svm") -> Model:
    """Return a model that has learned the events."""
    model = Model(Options.parse(specification))
    for event in events:
        model.apply(model.seq + 1, event)
    return model


def sums(model: Model) -> dict[str, bytes]:
    """Return the sums of vectors, without the numbers of events and what is read out of them."""
    arrays = model.evidence.dump()
    found = {name: arrays[name].tobytes() for name in SUMS if name in arrays}
    if found:
        found["vector_class_counts"] = arrays["vector_class_counts"][::3].tobytes()
    return found


def units(rows: Sequence[Event]) -> NDArray[np.float64]:
    """Return the vectors of events as rows of length 1."""
    return np.array([event.instance.vector for event in rows]) / 4096


# --- sums ---------------------------------------------------------------------------------------


def test_sums_do_not_depend_on_the_order_of_the_events() -> None:
    events = drawn(60)
    assert sums(learned(events)) == sums(learned(events[::-1]))


def test_sums_are_those_of_the_vectors() -> None:
    events = [event for event in drawn(60) if len(event.classes) == 1]
    arrays = learned(events).evidence.dump()
    vectors = np.array([event.instance.vector for event in events]).astype(np.int64)
    names = sorted({event.classes[0] for event in events})
    of_class = arrays["vector_class_sums"].view(np.int64).reshape(len(names), DIMENSION)
    for name, found in zip(names, of_class, strict=True):
        rows = vectors[[event.classes == [name] for event in events]]
        assert (found == 64 * rows.sum(0)).all()
    products = arrays["vector_products"].view(np.int64)
    assert (products == 64 * (vectors.T @ vectors)[np.tril_indices(DIMENSION)]).all()


@pytest.mark.parametrize("specification", ["svm", "ff(replay=2)", "committee(members=ff+pa)"])
def test_an_event_that_is_taken_back_leaves_the_sums_of_a_model_that_never_learned_it(
    specification: str,
) -> None:
    events = drawn(40)
    for position in (0, 17, 39):
        model = learned(events, specification)
        gone = events[position]
        model.apply(41, Event.amend(position + 1, gone.instance, [], gone.classes))
        assert sums(model) == sums(learned(events[:position] + events[position + 1 :]))


def test_without_its_only_event_a_model_has_the_digest_of_an_empty_one() -> None:
    model = learned([Event.learn(Instance(["a"], [1.0, 2.0]), ["x"])])
    model.apply(2, Event.amend(1, Instance(["a"], [1.0, 2.0]), [], ["x"]))
    assert model.evidence.dump() == {}
    assert model.evidence.dimension == 0
    model.apply(3, Event.learn(Instance(["a"], [1.0, 2.0, 3.0]), ["x"]))  # another dimension
    assert model.evidence.dimension == 3


def test_a_corrected_event_counts_for_its_new_classes() -> None:
    events = drawn(30)
    model = learned(events)
    wrong = events[4]
    model.apply(31, Event.amend(5, wrong.instance, ["new"], wrong.classes))
    right = Event.learn(wrong.instance, ["new"])
    assert sums(model) == sums(learned([*events[:4], right, *events[5:]]))


def test_weights_count_in_steps_of_a_64th() -> None:
    instance = Instance(["a"], [3.0, 4.0])
    model = learned([Event.learn(instance, ["x"], weight=weight) for weight in (2.5, 0.001, 1000)])
    assert model.evidence.events_of("x") == 2.5 + 1 / 64 + 1000
    model.apply(4, Event.amend(3, instance, [], ["x"], weight=1000))
    assert model.evidence.events_of("x") == 2.5 + 1 / 64


def test_a_merge_gives_the_sums_of_one_class() -> None:
    events = drawn(40)
    model = learned(events)
    model.apply(41, Event.rename("east", "west", merges=True))
    alone = [
        Event.learn(event.instance, [{"east": "west"}.get(name, name) for name in event.classes])
        for event in events
        if set(event.classes) != {"east", "west"}
    ]
    both = [event for event in events if set(event.classes) == {"east", "west"}]
    # an event of both classes counted twice, and goes on counting twice
    doubled = [Event.learn(event.instance, ["west"], weight=2) for event in both]
    assert sums(model) == sums(learned([*alone, *doubled]))


def test_a_renamed_class_keeps_its_sums() -> None:
    events = drawn(20)
    model = learned(events)
    model.apply(21, Event.rename("east", "orient"))
    named = [
        Event.learn(event.instance, [{"east": "orient"}.get(name, name) for name in event.classes])
        for event in events
    ]
    assert sums(model) == sums(learned(named))


def test_a_forgotten_class_is_not_ranked_and_an_old_event_of_it_takes_nothing_from_a_new_one() -> (
    None
):
    events = [event for event in drawn(60, words=False) if len(event.classes) == 1]
    model = learned(events)
    model.apply(len(events) + 1, Event.forget_class("north"))
    probe = Instance([], drawn_vector(random.Random(1), "north", 0))
    assert "north" not in dict(model.rank(probe, k=10))
    assert model.evidence.events_of("north") == 0
    again = Event.learn(probe, ["north"])
    model.apply(model.seq + 1, again)
    before = sums(model)
    old = next(seq for seq, event in enumerate(events, 1) if event.classes == ["north"])
    model.apply(model.seq + 1, Event.amend(old, events[old - 1].instance, [], ["north"]))
    assert sums(model) == before
    assert model.rank(probe, k=1)[0][0] == "north"


def test_beyond_a_limit_the_class_of_the_oldest_newest_vector_leaves() -> None:
    model = Model(Options.parse("svm").replace(max_classes=3))
    chance = random.Random(0)
    for cls in ["north", "east", "north", "south", "west"]:
        model.apply(model.seq + 1, Event.learn(Instance([cls], drawn_vector(chance, cls)), [cls]))
    kept = [cls for cls in CLASSES if model.evidence.events_of(cls)]
    assert kept == ["north", "south", "west"]
    assert Model.load(model.dump()).digest() == model.digest()


def test_a_described_class_without_vectors_has_no_memory_for_numbers() -> None:
    model = Model(Options.of("svm"))
    for number in range(3000):
        model.apply(model.seq + 1, Event.describe(f"c{number}", {"title": f"t{number}"}))
    before = model.evidence.resident_bytes
    model.apply(model.seq + 1, Event.learn(Instance([], np.arange(1.0, 1025.0)), ["c2999"]))
    assert model.evidence.resident_bytes - before < 5_000_000  # 4.2 of them for products
    model.apply(model.seq + 1, Event.forget_class("c2999"))
    assert model.evidence.resident_bytes - before < 300_000


def test_a_new_class_takes_the_memory_of_a_forgotten_one() -> None:
    chance = random.Random(0)
    model = learned(drawn(20))
    for number in range(300):
        vector = drawn_vector(chance, f"c{number}")
        model.apply(model.seq + 1, Event.learn(Instance([], vector), [f"c{number}"]))
        if number >= 30:
            model.apply(model.seq + 1, Event.forget_class(f"c{number - 30}"))
        if number == 60:
            before = model.evidence.resident_bytes
    assert model.evidence.resident_bytes - before < 3000
    assert_loads(model)


def test_vectors_of_another_dimension_are_refused_and_if_they_come_by_the_log_ignored() -> None:
    model = learned(drawn(5))
    other = Instance(["a"], [1.0, 2.0])
    for event in (Event.learn(other, ["x"]), Event.describe("x", {"vector": other})):
        with pytest.raises(DimensionConflict, match="has 2 numbers; all before have 12"):
            model.check(event)
    with pytest.raises(InstanceError, match="has 2 numbers"):
        model.check_vector(other)
    before = sums(model)
    model.apply(6, Event.learn(other, ["x"]))
    model.apply(7, Event.describe("x", {"title": "X", "vector": other}))
    assert sums(model) == before
    assert model.descriptions["x"].vector is None
    assert model.rank(other) == model.rank(Instance(["a"]))


def test_a_taken_description_has_no_vector_of_another_dimension_than_the_events() -> None:
    """A rebuild that learns an old event for another class may have one."""
    live = Model(Options.of("svm"))
    for name in ("a", "y"):
        live.apply(live.seq + 1, Event.describe(name, {"title": name, "vector": [1.0, 2.0, 3.0]}))
    rebuilt = learned([Event.learn(Instance(["a"], [1.0, 2.0]), ["x"])])
    rebuilt.take_descriptions(live)
    assert {name: each.vector for name, each in rebuilt.descriptions.items()} == {
        "a": None,
        "y": None,
    }
    rebuilt.apply(2, Event.amend(1, Instance(["a"], [1.0, 2.0]), [], ["x"]))
    loaded = Model.load(rebuilt.dump())
    assert loaded.evidence.dimension == rebuilt.evidence.dimension == 0


def test_descriptions_are_taken_whatever_dimension_the_former_ones_had() -> None:
    live = Model(Options.of("svm"))
    live.apply(1, Event.describe("a", {"vector": [1.0, 2.0, 3.0]}))
    other = Model(Options.of("svm"))
    for name in ("a", "b"):
        other.apply(other.seq + 1, Event.describe(name, {"vector": [1.0, 2.0]}))
    other.take_descriptions(live)
    assert other.evidence.dimension == 3
    assert [*other.descriptions] == ["a"]


# --- the discriminant -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 30, 400])
def test_scores_by_vectors_are_those_of_the_reference(count: int) -> None:
    events = [event for event in drawn(count, words=False) if len(event.classes) == 1]
    model = learned(events)
    extra = Event.learn(Instance([], drawn_vector(random.Random(5), "north")), ["north"])
    model.apply(model.seq + 1, extra)
    model.apply(model.seq + 1, Event.amend(model.seq, extra.instance, [], ["north"]))
    model.apply(model.seq + 1, events[0])  # after a deletion, the next event reads out all anew
    rows = [*events, events[0]]
    wanted = discriminant.weights(units(rows), [event.classes[0] for event in rows])
    chance = random.Random(9)
    for cls in CLASSES * 3:
        probe = Instance([], drawn_vector(chance, cls))
        ranked = model.rank(probe, k=10)
        scores = discriminant.scores(wanted, units([Event.learn(probe, ["x"])])[0])
        assert {name for name, _ in ranked} == set(scores)
        assert [name for name, _ in ranked] == sorted(scores, key=lambda name: -scores[name])
        # a score is a product with the weight and the usual spread; floors bound it from below
        above = [name for name, _ in ranked if scores[name] > max(0, min(scores.values()))]
        ratios = [dict(ranked)[name] / scores[name] for name in above]
        assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-3) if ratios else True


def test_scores_of_many_numbers_and_classes_are_those_of_the_reference() -> None:
    """More rows than are computed together, and classes than are weighed together."""
    chance = np.random.default_rng(0)
    names = [f"c{number}" for number in range(70)]
    centres = chance.normal(size=(len(names), 150))
    classes = [*names, *chance.choice(names, 300)]
    rows = [centres[names.index(name)] + chance.normal(size=150) for name in classes]
    events = [
        Event.learn(Instance([], row), [name]) for row, name in zip(rows, classes, strict=True)
    ]
    model = learned(events[:-1])
    gone = model.seq
    model.apply(gone + 1, Event.amend(gone, events[-2].instance, [], events[-2].classes))
    model.apply(gone + 2, events[-1])
    left = [*events[:-2], events[-1]]
    wanted = discriminant.weights(units(left), [event.classes[0] for event in left])
    for event in events[:40]:
        ranked = model.rank(event.instance, k=16)
        scores = discriminant.scores(wanted, units([event])[0])
        best = sorted(scores, key=lambda name: -scores[name])[:16]
        assert [name for name, _ in ranked] == best
        ratios = [score / scores[name] for name, score in ranked[:-1]]
        assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-3)
    assert Model.load(model.dump(), hash_seed=3).rank(events[0].instance) == model.rank(
        events[0].instance
    )


@pytest.mark.slow
def test_the_covariance_of_many_numbers_takes_a_second() -> None:
    chance = np.random.default_rng(0)
    model = learned([Event.learn(Instance([], chance.normal(size=2560)), ["x"])])
    event = Event.learn(Instance([], chance.normal(size=2560)), ["x"])
    began = time.thread_time()
    model.apply(2, event)
    assert time.thread_time() - began < 2  # it took 7 s by rows of the matrix, now 0.3


def test_a_class_is_ranked_by_the_vector_of_its_description_before_its_first_event() -> None:
    model = Model(Options.of("svm"))
    for cls in CLASSES:
        vector = drawn_vector(random.Random(0), cls, 0)
        model.apply(model.seq + 1, Event.describe(cls, {"vector": vector}))
    chance = random.Random(3)
    for cls in CLASSES:
        assert model.rank(Instance([], drawn_vector(chance, cls, 0.2)), k=1)[0][0] == cls
        assert model.rank(Instance(["word"], drawn_vector(chance, cls, 0.2)), k=1)[0][0] == cls


# --- descriptions ---------------------------------------------------------------------------------


def described(titles: dict[str, str]) -> Model:
    model = Model(Options.of("svm"))
    for name, title in titles.items():
        model.apply(model.seq + 1, Event.describe(name, {"title": title}))
    return model


TITLES = {
    "card_lost": "Lost or stolen card",
    "card_new": "Order a new card",
    "limit": "Change the limit of payments",
}


def test_classes_are_ranked_by_their_titles_before_any_event() -> None:
    model = described(TITLES)

    def first(text: str) -> str:
        return model.rank(model.text.instance_of(text, 1000).instance, k=1)[0][0]

    assert first("i lost it and it was stolen") == "card_lost"
    assert first("how do i order a new one") == "card_new"
    assert first("raise my payment limits") == "limit"
    assert model.rank(model.text.instance_of("zzz qqq", 1000).instance) == []


def test_a_class_that_was_never_learned_can_be_the_right_one_of_its_first_event() -> None:
    model = described(TITLES)
    instance = model.text.instance_of("it was stolen", 1000).instance
    outcome = model.apply(4, Event.learn(instance, ["card_lost"]))
    assert outcome.rank == 1
    assert model.progress.examples == 1


def test_a_removed_title_ranks_no_class_any_more() -> None:
    model = described(TITLES)
    model.apply(4, Event.describe("card_lost", {"title": None}))
    instance = model.text.instance_of("lost and stolen", 1000).instance
    assert "card_lost" not in dict(model.rank(instance))
    for seq, name in enumerate(("card_new", "limit"), 5):
        model.apply(seq, Event.describe(name, {"title": None}))
    assert not model.evidence


def test_a_change_of_the_text_analysis_reads_descriptions_again() -> None:
    model = described(TITLES)
    words = type(model.text)()
    model.text = words
    instance = words.instance_of("stolen", 1000).instance
    assert model.rank(instance, k=1)[0][0] == "card_lost"


def test_the_parts_of_an_explanation_add_up_to_the_score() -> None:
    model = described(TITLES)
    chance = random.Random(0)
    for seq in range(4, 30):
        name = chance.choice([*TITLES])
        text = f"{TITLES[name]} {chance.choice(['please', 'now', 'today'])}"
        instance = model.text.instance_of(text, 1000).instance
        model.apply(seq, Event.learn(instance.with_vector(drawn_vector(chance, name)), [name]))
    probe = model.text.instance_of("stolen card limit", 1000).instance
    probe = probe.with_vector(drawn_vector(chance, "limit"))
    ranked = model.rank(probe, k=3)
    parts = model.explain_parts(probe, [name for name, _ in ranked])
    assert parts is not None
    for (_, score), part in zip(ranked, parts, strict=True):
        assert part.words + part.names + part.vectors == pytest.approx(score)
    assert "stolen" in dict(parts[[name for name, _ in ranked].index("card_lost")].description)
    assert model.explain_parts(Instance(["a"]), ["limit"]) is not None
    assert (
        learned([Event.learn(Instance(["a"]), ["x"])]).explain_parts(Instance(["a"]), ["x"]) is None
    )


# --- all learners, all ways -----------------------------------------------------------------------


@pytest.mark.parametrize("specification", ONE_OF_EACH)
def test_every_learner_ranks_by_vectors_and_titles(specification: str) -> None:
    model = Model(Options.parse(specification))
    for cls in CLASSES:
        model.apply(model.seq + 1, Event.describe(cls, {"title": f"the {cls} side"}))
    for event in drawn(60):
        model.apply(model.seq + 1, event)
    chance = random.Random(4)
    hits = 0
    for cls in CLASSES * 5:
        probe = Instance(["unknown"], drawn_vector(chance, cls))
        ranked = model.rank(probe, k=4)
        hits += ranked[0][0] == cls
        assert ranked == sorted(ranked, key=lambda each: -each[1])
        among = model.rank(probe, k=4, among=["west", "north"])
        assert [name for name, _ in ranked if name in ("west", "north")] == [n for n, _ in among]
        assert model.explain(probe, ["north"])
    assert hits >= 16
    loaded = Model.load(model.dump())
    assert loaded.digest() == model.digest()
    for event in drawn(30, seed=7):
        assert model.apply(model.seq + 1, event) == loaded.apply(loaded.seq + 1, event)
    assert loaded.digest() == model.digest()


def test_shadows_learn_the_same_vectors_and_a_batch_gives_the_state_of_single_events() -> None:
    events = drawn(80)
    one = learned(events)
    batch = EventBatch()
    for event in events:
        batch.add(event.instance, event.classes)
    many = Model(Options.of("svm"))
    batch.begin(1)
    while batch.learned < len(batch):
        many.apply_batch(batch, 0.0)
    assert many.digest() == one.digest()
    assert batch.ranks() == [
        outcome.rank or 0
        for outcome in map(
            copy.copy(Model(Options.of("svm"))).apply, *zip(*enumerate(events, 1), strict=True)
        )
    ]
    shadowed = Model(ModelSet(Options.of("svm"), (Options.of("ff"),)))
    for event in events:
        shadowed.apply(shadowed.seq + 1, event)
    assert sums(shadowed) == sums(one)
    probe = events[0].instance
    assert shadowed.rank(probe) == one.rank(probe)
    shadow = shadowed.shadows["ff"].learner
    assert shadow.rank(probe, k=1)[0][0] == learned(events, "ff").rank(probe, k=1)[0][0]


def test_without_vectors_and_descriptions_there_is_no_section_more() -> None:
    events = [Event.learn(event.instance.with_vector(None), event.classes) for event in drawn(20)]
    names = set(learned(events).freeze().arrays)
    assert not names & {*SECTIONS, "mixture", "descriptions"}
    assert {*SECTIONS, "mixture"} <= set(learned(drawn(20)).freeze().arrays)


def test_useless_vectors_lose_their_weight() -> None:
    chance = random.Random(0)
    model = Model(Options.of("svm"))
    for _ in range(1500):
        cls = chance.choice(CLASSES)
        vector = [chance.gauss(0, 1) for _ in range(DIMENSION)]
        instance = Instance([f"of {cls}", f"w{chance.randrange(50)}"], vector)
        model.apply(model.seq + 1, Event.learn(instance, [cls]))
    assert model.learner.mixture is not None
    assert model.learner.mixture.vectors <= 2
    hits = sum(
        model.rank(Instance([f"of {cls}"], [chance.gauss(0, 1) for _ in range(DIMENSION)]))[0][0]
        == cls
        for cls in CLASSES * 25
    )
    assert hits >= 95


def test_the_state_has_choices_of_those_parts_alone_that_outcomes_judge() -> None:
    model = described({cls: f"the {cls} side" for cls in CLASSES})
    for event in drawn(60):
        instance = Instance([*event.classes, "side"], event.instance.vector)
        model.apply(model.seq + 1, Event.learn(instance, event.classes))
    numbers = model.freeze().arrays["mixture"].view(np.float64)
    spreads, choices = numbers[:6], numbers[6:].reshape(2, -1)
    assert (spreads > 0).all()
    assert choices.any(axis=1).all()
    assert_loads(model)


# --- damaged snapshots ----------------------------------------------------------------------------


def with_older_event() -> Model:
    """Return a model in which an event from before a class was forgotten counts for it again."""
    events = drawn(30)
    model = learned(events)
    model.apply(31, Event.forget_class("north"))
    model.apply(32, Event.amend(1, events[0].instance, ["north"], events[0].classes))
    return model


def test_an_event_that_was_corrected_to_a_class_that_had_been_forgotten_can_be_taken_back() -> None:
    model = with_older_event()
    assert model.evidence.events_of("north") == 1
    loaded = Model.load(model.dump())
    assert loaded.digest() == model.digest()
    for each in (model, loaded):
        each.apply(33, Event.amend(2, drawn(30)[1].instance, [], ["north"]))  # forgotten since
        assert each.evidence.events_of("north") == 1
        each.apply(34, Event.amend(1, drawn(30)[0].instance, [], ["north"]))
        assert each.evidence.events_of("north") == 0
    assert loaded.digest() == model.digest()


def assert_loads(model: Model) -> None:
    """Assert that the model and its loaded snapshot stay equal, also after further events."""
    loaded = Model.load(model.dump(), hash_seed=7)
    assert loaded.digest() == model.digest()
    for seed, event in enumerate(drawn(12, seed=5)):
        probe = Instance([f"w{seed}"], event.instance.vector)
        assert loaded.rank(probe, k=50) == model.rank(probe, k=50)
        for each in (model, loaded):
            each.apply(each.seq + 1, event)
    assert loaded.digest() == model.digest()


def test_a_first_event_of_a_small_weight_can_be_loaded() -> None:
    first = drawn(1)[0]
    assert_loads(learned([Event.learn(first.instance, first.classes, weight=0.5)]))


def test_a_corrected_class_that_is_merged_can_be_loaded() -> None:
    events = [
        Event.learn(event.instance, [name]) for event, name in zip(drawn(2), "ac", strict=True)
    ]
    model = learned(events)
    model.apply(3, Event.amend(2, events[1].instance, ["b"], ["c"]))
    model.apply(4, Event.rename("a", "b", merges=True))
    assert model.evidence.events_of("b") == 2
    assert_loads(model)


def test_a_merge_brings_no_forgotten_event_back() -> None:
    events = [
        Event.learn(event.instance, [name]) for event, name in zip(drawn(3), "abb", strict=True)
    ]
    model = learned(events[:2])
    model.apply(3, Event.forget_class("b"))
    model.apply(4, events[2])
    model.apply(5, Event.rename("a", "b", merges=True))
    model.apply(6, Event.amend(2, events[1].instance, [], ["b"]))  # it was forgotten
    assert model.evidence.events_of("b") == 2
    assert_loads(model)


def test_huge_scores_can_be_loaded() -> None:
    events = [
        Event.learn(Instance({"a": 1e30, "b": 1e30}, event.instance.vector), event.classes)
        for event in drawn(20)
    ]
    assert_loads(learned(events, "mmp(normalize=none)"))


def test_when_the_last_class_with_events_leaves_described_ones_are_weighed_anew() -> None:
    model = Model(Options.of("svm"))
    for cls in ("d1", "d2"):
        vector = drawn_vector(random.Random(0), cls, 0)
        model.apply(model.seq + 1, Event.describe(cls, {"vector": vector}))
    for event in drawn(60):
        model.apply(model.seq + 1, event)
    for cls in CLASSES:
        model.apply(model.seq + 1, Event.forget_class(cls))
    assert_loads(model)


def test_the_age_of_a_description_is_the_same_after_a_snapshot() -> None:
    model = Model(Options.of("svm"))
    for number in range(20):
        model.apply(model.seq + 1, Event.describe(f"t{number}", {"title": f"w{number} side"}))
    model.apply(model.seq + 1, Event.describe("q", {"title": "!"}))
    for event in drawn(30):
        model.apply(model.seq + 1, event)
    probe = Instance(["w1"], drawn_vector(random.Random(0), "north"))
    model.apply(model.seq + 1, Event.learn(probe, ["q"]))
    model.apply(model.seq + 1, Event.describe("q", {"title": "?"}))
    model.apply(model.seq + 1, Event.forget_class("q"))
    model.apply(model.seq + 1, Event.learn(probe, ["r"]))
    assert_loads(model)


def test_a_class_of_vectors_alone_can_be_forgotten_and_renamed() -> None:
    model = learned([Event.learn(Instance([], [1.0, 2.0]), ["x"])])
    assert model.has_class("x")
    model.check(Event.rename("x", "y"))
    model.apply(2, Event.rename("x", "y"))
    assert model.evidence.events_of("y") == 1
    model.check(Event.forget_class("y"))
    model.apply(3, Event.forget_class("y"))
    assert model.evidence.events_of("y") == 0


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("fault", ["missing", "short", "large"])
def test_damaged_sections_are_refused(name: str, fault: str) -> None:
    arrays = with_older_event().evidence.dump()
    if fault == "missing":
        del arrays[name]
    elif fault == "short":
        arrays[name] = arrays[name][:-1]
    elif name == "vector_class_names":
        return  # any number can be right
    else:
        arrays[name] = arrays[name].copy()
        arrays[name].view(np.uint8)[...] = 0x7F
    with pytest.raises(SnapshotError):
        Evidence.load(arrays)


def test_almost_equal_vectors_of_a_forgotten_class_leave_a_covariance() -> None:
    """Their scatter is left as rounded numbers, which may be none of a covariance."""
    chance = random.Random(9)
    dimension = 24
    base = np.array([chance.gauss(0, 1) for _ in range(dimension)])
    base = np.rint(base / np.linalg.norm(base) * 4096)
    model = Model(Options.of("svm"))

    def learn(cls: str, vector: NDArray[np.float64]) -> None:
        model.apply(model.seq + 1, Event.learn(Instance([], vector), [cls]))

    for cls in CLASSES:
        learn(cls, np.array([chance.gauss(0, 1) for _ in range(dimension)]))
    for _ in range(5):
        for _ in range(1000):
            vector = base.copy()
            if chance.random() < 0.001:
                for _ in range(chance.choice([2, 3, dimension])):
                    vector[chance.randrange(dimension)] += chance.choice([-1, 1])
            learn("gone", vector / 4096)
        model.apply(model.seq + 1, Event.forget_class("gone"))
    learn("new", base)
    model.apply(model.seq + 1, Event.amend(model.seq, Instance([], base), [], ["new"]))
    learn("new", base)
    factor = model.evidence.dump()["vector_factor"]
    assert factor.size == 0 or np.abs(factor).max() <= 5  # the root of the dimension
    assert Model.load(model.dump()).digest() == model.digest()


def test_scores_by_the_factor_of_a_crafted_snapshot_are_finite() -> None:
    model = learned(drawn(30))
    arrays = model.evidence.dump()
    factor = np.full(arrays["vector_factor"].size, 65, np.float32)
    rows = np.arange(DIMENSION)
    factor[rows * (rows + 3) // 2] = 1e-4
    evidence = Evidence.load({**arrays, "vector_factor": factor})
    learner = make(model.options, 0, model.taxonomy, evidence)
    for event in drawn(30):
        ranked = dict(learner.rank(event.instance, k=10))
        assert ranked.keys() == {*CLASSES}
        assert np.isfinite([*ranked.values()]).all()


def test_beyond_the_most_events_no_class_is_added() -> None:
    model = learned(drawn(30))
    arrays = model.evidence.dump()
    counts = arrays["vector_class_counts"].copy()
    counts[0] += 2**38 - counts[::3].sum()
    evidence = Evidence.load({**arrays, "vector_class_counts": counts})
    evidence.learn(Event.learn(drawn(1)[0].instance, ["new"]), 31)
    assert "new" not in evidence
    assert evidence.sizes()["classes"] == len(CLASSES)


# --- the same at every step -----------------------------------------------------------------------


class Replicas(RuleBasedStateMachine):
    """Three models that take the same events, of which one is loaded from its snapshot again and
    again, and one takes batches; and the events that a model without the erased ones has learned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.models = [Model(Options.of("svm")) for _ in range(3)]
        self.learned: dict[int, Event] = {}  # by seq
        self.chance = random.Random(0)

    def apply(self, event: Event) -> None:
        seq = self.models[0].seq + 1
        for model in self.models:
            model.apply(seq, event)

    @rule(cls=st.sampled_from(CLASSES), words=st.booleans(), more=st.booleans())
    def learn(self, cls: str, words: bool, more: bool) -> None:
        vector = drawn_vector(self.chance, cls)
        classes = list(dict.fromkeys([cls, *([self.chance.choice(CLASSES)] if more else [])]))
        instance = Instance([f"of {cls}"] if words else [], vector)
        self.learned[self.models[0].seq + 1] = event = Event.learn(instance, classes)
        self.apply(event)

    @precondition(lambda self: self.learned)
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        seq = data.draw(st.sampled_from([*self.learned]))
        gone = self.learned.pop(seq)
        self.apply(Event.amend(seq, gone.instance, [], gone.classes))
        never = learned([*self.learned.values()])
        assert sums(self.models[0]) == sums(never)

    @precondition(lambda self: self.learned)
    @rule(data=st.data(), cls=st.sampled_from(CLASSES))
    def correct(self, data: st.DataObject, cls: str) -> None:
        seq = data.draw(st.sampled_from([*self.learned]))
        wrong = self.learned[seq]
        self.apply(Event.amend(seq, wrong.instance, [cls], wrong.classes))
        self.learned[seq] = Event.learn(wrong.instance, [cls])

    @rule(cls=st.sampled_from(CLASSES), title=st.sampled_from(["north side", "a w1 west", None]))
    def describe(self, cls: str, title: str | None) -> None:
        self.apply(Event.describe(cls, {"title": title}))

    @rule()
    def load(self) -> None:
        self.models[1] = Model.load(self.models[1].dump(), hash_seed=self.chance.randrange(99))

    @rule(cls=st.sampled_from(CLASSES))
    def rank(self, cls: str) -> None:
        probe = Instance(["of north", "side"], drawn_vector(self.chance, cls))
        ranked = self.models[0].rank(probe, k=3)
        assert all(model.rank(probe, k=3) == ranked for model in self.models)

    @invariant()
    def states_are_equal(self) -> None:
        assert len({model.digest() for model in self.models}) == 1


TestReplicas = Replicas.TestCase
TestReplicas.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


def test_a_class_of_vectors_alone_is_a_class_when_a_parent_is_merged_into_it() -> None:
    model = Model(Options())
    model.apply(1, Event.learn(Instance({}, [1.0, 2.0]), ["y"]))
    model.apply(2, Event.place({"c": "top"}))
    model.apply(3, Event.rename("top", "y", merges=True))
    assert model.taxonomy.is_class("y")
    model.apply(4, Event.forget_class("c"))
    assert "y" in model.taxonomy

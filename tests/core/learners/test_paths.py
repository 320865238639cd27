"""Learners along the paths of the taxonomy: without one, over many classes, and in whole models."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from manyclass.core.errors import OptionError, RequestConflict, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.both import MANY_CLASSES, MANY_FEATURES, Both, lessons
from tests.core.dumps import assert_same_state
from tests.hypothesis_examples import examples

MOST = 1000
MOST_UNSCORED = 16  # classes that rank with one family
COMMON = "replay=2,neighbors=3,budget=4,budget_floor=0,max_outdegree=20,rating=2"


# --- without a taxonomy ---------------------------------------------------------------------------


@pytest.mark.parametrize("family_rate", [0, 0.5, 1])
@pytest.mark.parametrize(
    ("on_paths", "flat", "options"),
    [
        ("path", "svm", "C_negative=0.2,constraints=pairs"),
        ("path", "svm", "C_negative=0.2,constraints=auto,bias=0.3"),
        ("path", "svm", "C_negative=0.2,constraints=each,bias=0.3"),
        ("hieron", "pa", "margin_threshold=1,sublinear=yes,tfidf=yes"),
    ],
)
def test_without_a_taxonomy_paths_change_nothing(on_paths, flat, options, family_rate):
    options = f"{COMMON},C=1,{options}"
    first = Learner(Options.parse(f"{on_paths}(cost=none,family_rate={family_rate},{options})"))
    other = Learner(Options.parse(f"{flat}(cost=none,{options})"))
    random = np.random.default_rng(5)
    for number, (words, classes) in enumerate(lessons(3, 3000, MANY_FEATURES, MANY_CLASSES)):
        instance = Instance(words)
        rejected = [f"class {random.integers(150)}"] if number % 4 == 0 else []
        rejected = [name for name in rejected if name not in classes]
        each_learned = [each.learn(instance, classes, 0, rejected) for each in (first, other)]
        Both.assert_alike(*each_learned)
        if number % 50 == 0:
            assert first.rank(instance, MOST) == other.rank(instance, MOST)
        if number % 200 == 0:
            for each in (first, other):
                each.forget_class(MANY_CLASSES[number // 200])
    assert first.edges > 0
    assert_same_state(first, other)


# --- nodes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("parent", [None, "top"])
def test_an_event_moves_a_class_below_a_new_parent_and_the_parent_below_its_old_child(parent):
    model = Model(Options.parse("path"))
    model.apply(1, Event.place({"old": parent, "child": "old"}))
    parents = {"old": "new", "child": parent, "new": "child"}
    model.apply(2, Event.place(parents, moves=True))
    model.apply(3, Event.learn(Instance({"word": 1}), ["old"]))
    reloaded = Model.load(model.dump())
    above = [] if parent is None else [parent]
    for each in (model, reloaded):
        [path] = each.paths(Instance({"word": 1}), ["old"])
        assert [node.name for node in path] == [*above, "child", "new", "old"]
    assert_equal_models(model, reloaded, Instance({"word": 1}))


def test_a_class_of_an_event_that_was_not_learned_is_forgotten():
    """As a member of a committee leaves out events."""
    both = Both(Options.parse("path"), ["word"], ["top", "left", "right"])
    for name in ("left", "right"):
        both.place(name, "top")
    both.learn({"word": 1}, ["left"])
    noted = both.note_classes(["top"])
    both.placed(noted, before_learning=True)  # and not learned
    both.placed(noted)
    both.rank({"word": 1})
    both.forget_class("top")
    both.learn({"word": 1}, ["left"])
    both.rank({"word": 1})
    assert "top" not in dict(both.learner.rank(Instance({"word": 1})))


# --- many classes ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_placed_classes_and_few_edges():
    """Scores are then in a hash table: more than 8 classes an edge, counted with their families."""
    classes = [f"class {number}" for number in range(20_000)]
    both = Both(Options.parse("path(replay=1,negatives=2)"), MANY_FEATURES, classes)
    for number in range(1, len(classes)):
        both.place(classes[number], classes[number // 7])
    stream = [*lessons(2, 60, MANY_FEATURES, classes)]
    for number, (instance, true) in enumerate(stream):
        both.learn(instance, true)
        both.rank(instance, MOST)
        if number % 20 == 10:
            both.forget_class(true[0])
            both.place(true[-1], classes[number], moves=True)
            both.reload(number)
    both.rank_csr([instance for instance, _ in stream[:10]], 200)
    both.compare()


# --- whole models ---------------------------------------------------------------------------------

MODEL_SETS = [
    ["path", "hieron", "svm(cost=sqrt)", "committee(members=path+hieron(negatives=2),vote=score)"],
    ["hieron(family_rate=1,negatives=2)", "path(constraints=each,replay=0,family_rate=0.2)"],
    ["path(neighbors=3,replay_size=20,rating=2)", "hieron(budget=2,budget_floor=0,rating=3)"],
    ["path(max_classes=5,replay_size=30)", "hieron(max_classes=7,max_features=6)"],
    ["committee(members=path(max_classes=5)+svm(cost=linear),vote=rarest)", "path(max_classes=2)"],
]


def model_set_of(specifications):
    primary, *shadows = (Options.parse(each) for each in specifications)
    return ModelSet(primary, tuple(shadows))


class Stream:
    """Random events over names that come again; some are refused."""

    def __init__(self, seed, classes):
        self.random = np.random.default_rng(seed)
        self.classes = [f"class {number}" for number in range(classes)]
        self.nodes = [*self.classes, "inner", "another inner"]

    def chosen(self, names, most=1):
        count = self.random.integers(1, most + 1)
        return [names[place] for place in self.random.permutation(len(names))[:count]]

    def parents(self, to_root=(None, None)):
        names = self.chosen(self.classes, most=3)
        parents = [*self.nodes, *to_root]
        return {name: self.chosen(parents)[0] for name in names}

    def instance(self):
        words = self.chosen([f"word {number}" for number in range(12)], most=5)
        return Instance({word: float(self.random.choice([1, 2, 0.5])) for word in words})

    def learned(self):
        classes, rejected = self.chosen(self.classes, most=2), self.chosen(self.classes, most=2)
        said = [name for name in rejected if name not in classes]
        parents = self.parents(()) if self.random.random() < 0.2 else None
        if self.random.random() < 0.1 and said:
            classes = []
        return Event.learn(self.instance(), classes, rejected=said, parents=parents)

    def event(self, model_set):
        drawn = self.random.random()
        if drawn < 0.6:
            return self.learned()
        if drawn < 0.85:
            return Event.place(self.parents(), moves=self.random.random() < 0.6)
        if drawn < 0.93:
            return Event.forget_class(self.chosen(self.nodes)[0])
        if drawn < 0.97:
            return Event.forget_feature(f"word {self.random.integers(12)}")
        primary = model_set.primary
        if primary.spec.option("family_rate"):
            primary = primary.replace(family_rate=float(self.random.random()), C=0.5)
        return Event.configure(ModelSet(primary, model_set.shadows).to_dict())


def accepted(model, event):
    with suppress(UnknownName, OptionError, RequestConflict):
        model.check(event)
        return True
    return False


def learners(model):
    """Return the learners without members, by label."""
    each = {learner.label: learner.learner for learner in model.enrolled}
    return {label: learner for label, learner in each.items() if not learner.members}


def counts_as_before(learner):
    """Return whether the new features of an event do not change scores before it is learned.

    A bias counts by the length of the known part of an instance.
    """
    options = learner.options
    return options.rating == 0 and options.neighbors == 0 and options.constraints != "each"


def has_family_again(model, learner, event):
    """Return whether a class of the event is the first below another one, whose family has weights.

    They are of earlier classes, which were evicted, and count from this event on: its own rank does
    not tell how it was ranked before.
    """
    for name in event.classes:
        if learner.has_class(name) or name not in model.taxonomy:
            continue
        above = [node for node in model.taxonomy.path(name)[:-1] if learner.has_class(node)]
        if above and not any(map(learner.has_class, model.taxonomy.children(above[-1]))):
            return True
    return False


def ranks_of(model, outcome):
    ranks = {shadow.label: shadow.rank for shadow in outcome.shadows}
    return ranks | {model.answering.label: outcome.rank}


def check_rank(learner, ranked, evicted, event, rank):
    """Compare the rank of an outcome with the place of the best true class before the event."""
    if (learner.evicted_classes, learner.evicted_features) != evicted or not counts_as_before(
        learner
    ):
        return
    names = [name for name, _ in ranked]
    places = [names.index(name) + 1 for name in event.classes if name in names]
    assert rank == min(places, default=None)


def check_rankings(learner, instance, classes, all_are_ranked):
    """Compare the rankings of several lengths, and of some classes, with the whole one."""
    ranked = learner.rank(instance, MOST)
    for k in range(len(ranked) + 1):
        assert learner.rank(instance, k) == ranked[:k]
    among = learner.rank(instance, MOST, among=classes)
    filtered = [each for each in ranked if each[0] in classes]
    if all_are_ranked:
        assert among == filtered
    else:
        assert [each for each in among if each in filtered] == filtered
        assert len(filtered) == len(among) or len(ranked) >= MOST_UNSCORED


def assert_equal_models(model, other, instance):
    assert other.digest() == model.digest()
    for ours, others in zip(model.enrolled, other.enrolled, strict=True):
        assert ours.learner.rank(instance, MOST) == others.learner.rank(instance, MOST)


@pytest.mark.parametrize("specifications", MODEL_SETS)
@pytest.mark.parametrize("classes", [10, 40])
@examples(15, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # no seed is simpler
@given(st.integers(0, 2**32 - 1))
def test_models(specifications, classes, seed):
    stream = Stream(seed, classes)
    model = Model(model_set_of(specifications))
    reloaded = Model.load(model.dump(), hash_seed=1)
    ranked, evicted = {}, {}
    for number in range(60):
        event = stream.event(model.model_set)
        if not accepted(model, event):
            continue
        learns = event.kind == "learn" and not event.parents
        if learns:
            ranked.clear()
            for label, learner in learners(model).items():
                if has_family_again(model, learner, event):
                    continue
                ranked[label] = learner.rank(event.instance, MOST)
                evicted[label] = learner.evicted_classes, learner.evicted_features
        outcome = model.apply(model.seq + 1, event)
        again = reloaded.apply(reloaded.seq + 1, event)
        assert (again.rank, again.updated) == (outcome.rank, outcome.updated)
        if learns:
            for label, rank in ranks_of(model, outcome).items():
                if label in ranked:
                    learner = learners(model)[label]
                    check_rank(learner, ranked[label], evicted[label], event, rank)
        instance = stream.instance()
        if number % 4 == 0:
            assert_equal_models(model, reloaded, instance)
            reloaded = Model.load(model.dump(), hash_seed=number)
            assert_equal_models(model, reloaded, instance)
        if number % 6 == 0:
            some = [*stream.classes[::2], "inner", "unknown"]
            for learner in learners(model).values():
                check_rankings(learner, instance, some, classes < MOST_UNSCORED)
    assert_equal_models(model, reloaded, stream.instance())

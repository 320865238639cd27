import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model as State
from manyclass.training.klr import index
from manyclass.training.klr.fit import Fitting, Plan, classes_with_rows
from manyclass.training.klr.index import convert, options_of
from manyclass.training.klr.model import Model, ModelFault
from manyclass.training.klr.tree import SHARINGS, tree_of
from manyclass.training.rows import Rows
from tests.training.klr.problems import parents
from tests.training.klr.test_fit import labelled

EVERY_EDGE = "path(budget=0,max_outdegree=65535)"


def fitted(rows, sharing="H1", **plan):
    classes = classes_with_rows(rows)
    tree = tree_of(classes, parents, sharing)
    return Fitting(rows, classes, tree, Plan(folds=3, evaluations=2, **plan)).run().model


@pytest.fixture(scope="module")
def rows():
    return Rows.of(
        ({name: 1.0 + n % 3 for n, name in enumerate(instance)}, classes)
        for instance, classes in labelled(160)
    )


@pytest.fixture(scope="module")
def model(rows):
    return fitted(rows)


def ranked(model, rows):
    """Return the classes of each row, likeliest first, and their log-odds against the first."""
    p = np.concatenate([*model.probabilities(rows)]).astype(float)
    order = np.argsort(-p, axis=1, kind="stable")
    names = [[model.classes[c] for c in row] for row in order]
    return names, np.log(np.take_along_axis(p, order, 1) / p.max(1, keepdims=True))


@pytest.mark.parametrize("tfidf", [True, False])
@pytest.mark.parametrize("sharing", SHARINGS)
def test_the_learner_ranks_as_the_fit(rows, sharing, tfidf):
    assert_ranks_alike(fitted(rows, sharing, tfidf=tfidf), Rows.of(labelled(60, seed=1)))


def test_the_learner_ranks_rows_with_values_below_0_as_the_fit():
    def signed(count, seed=0):
        for instance, classes in labelled(count, seed=seed):
            yield {name: (-1.0) ** n * (1 + n % 3) for n, name in enumerate(instance)}, classes

    assert_ranks_alike(fitted(Rows.of(signed(160))), Rows.of(signed(60, seed=1)))


def assert_ranks_alike(model, tested):
    made = convert(model, options_of(model, EVERY_EDGE))
    # Words that the fit does not know make the learner's values smaller, by a factor for each row.
    tested = Rows.of(
        (
            {name: value for name, value in instance.items() if name in model.features.names},
            classes,
        )
        for instance, classes in tested
    )
    names, odds = ranked(model, tested)
    for (instance, _), by_fit, odds_of_row in zip(tested, names, odds, strict=True):
        by_learner = made.learner.rank(instance, len(by_fit))
        assert [name for name, _ in by_learner] == by_fit
        scores = np.array([score for _, score in by_learner])
        assert np.allclose((scores - scores[0]) / made.scale, odds_of_row, atol=1e-3)


def test_inner_nodes_are_families_and_leaves_the_classes_own(model):
    made = convert(model, options_of(model, EVERY_EDGE))
    dumped = made.learner.dump()
    families = dumped["edge_classes"] >= index.FAMILY
    assert families.any()
    assert not families.all()
    weights = dict(model.heaviest(100))
    edges = dict(made.learner.feature("of a")["edges"])  # the classes' own
    own = {model.tree.names[node]: w for node, w in weights["of a"] if node in model.tree.leaves}
    assert edges.keys() == own.keys()
    assert all(edges[name] == pytest.approx(own[name] * made.scale) for name in own)


def test_counters_are_those_of_rows_learned_once(rows, model):
    made = convert(model, options_of(model))
    by_events = index.make(options_of(model))
    by_events.learn_csr(*rows.labelled(Columns(rows.features), Columns(rows.classes)))
    assert made.learner.learned == by_events.learned == made.rows == len(rows)
    for name in rows.classes:
        assert made.learner.class_(name)["learned"] == by_events.class_(name)["learned"]
    for name in rows.features:
        assert made.learner.feature(name)["times_seen"] == by_events.feature(name)["times_seen"]
    last = dict(zip(rows.features, by_events.dump()["feature_last_seen"].tolist(), strict=True))
    seen = made.learner.dump()["feature_last_seen"].tolist()
    assert dict(zip(model.features.names, seen, strict=True)) == last


def test_the_taxonomy_of_the_fit_is_placed_also_of_a_flat_one(rows):
    for sharing in ("F1", "H1"):
        model = fitted(rows, sharing)
        taxonomy = convert(model, options_of(model)).learner.taxonomy
        assert taxonomy.path("a1") == ["top", "a", "a1"]
        assert taxonomy.is_class("a")
        assert taxonomy.is_class("b1")
        assert not taxonomy.is_class("b")
        assert not taxonomy.is_class("top")
        assert "c" not in taxonomy


def test_a_budget_keeps_the_edges_that_move_scores_most(model):
    every = convert(model, options_of(model, EVERY_EDGE)).learner
    few = convert(model, options_of(model, "path(budget=3,budget_floor=0)"))
    features = model.x.features
    assert few.learner.edges == 3 * features < every.edges <= few.weights
    kept, rarity = {}, dict(zip(model.features.names, model.features.rarity, strict=True))
    for name in model.features.names:
        for cls, weight in few.learner.feature(name)["edges"]:
            kept[name, cls] = abs(weight) * rarity[name]
    left_out = [
        abs(weight) * rarity[name]
        for name in model.features.names
        for cls, weight in every.feature(name)["edges"]
        if (name, cls) not in kept
    ]
    assert max(left_out) <= min(kept.values()) * (1 + 1e-6)
    two = convert(model, options_of(model, "path(budget=0,max_outdegree=2)")).learner
    assert two.outdegrees()[3:].sum() == 0


def test_blocks_of_features_and_a_budget_beyond_them(model, monkeypatch):
    options = options_of(model, "path(budget=2,budget_floor=0)")
    whole = convert(model, options).learner.dump()
    monkeypatch.setattr("manyclass.training.klr.model.NUMBERS_AT_ONCE", 3 * model.tree.nodes)
    parts = convert(model, options).learner.dump()
    assert all((whole[name] == parts[name]).all() for name in whole)


def test_the_confidence_is_that_of_held_out_rows(rows):
    model = fitted(Rows.of(labelled(700)))
    tested = Rows.of(labelled(700, seed=2))
    made = convert(model, options_of(model, EVERY_EDGE))
    assert made.calibration.outcomes == 700
    confidences, right = [], []
    for instance, [name] in tested:
        (first, score), (_, second) = made.learner.rank(instance, 2)
        confidences.append(made.calibration.confidence(score, second))
        right.append(first == name)
    assert 0.5 < np.mean(right) < 0.95
    assert abs(np.mean(confidences) - np.mean(right)) < 0.05


def test_outcomes_are_of_fits_without_the_row(model):
    assert len(model.outcomes.right) == model.x.height
    p = np.concatenate([*model.probabilities(Rows.of(labelled(160)))])
    assert model.outcomes.right.mean() < 0.9
    assert (model.outcomes.top_two[:, 0] >= model.outcomes.top_two[:, 1]).all()
    assert p.max(1).mean() > 0.5


def test_the_state_loads_and_goes_on_learning(rows, model):
    made = convert(model, options_of(model))
    state = State.of(made.learner, made.rows, made.calibration)
    again = State.load(state.dump())
    assert again.digest() == state.digest()
    right = 0
    for instance, classes in Rows.of(labelled(100, seed=3)):
        event = Event.learn(Instance(instance), classes)
        right += again.apply(again.seq + 1, event).rank == 1
        state.apply(state.seq + 1, event)
    assert right > 60
    assert again.digest() == state.digest()
    assert State.load(again.dump()).digest() == again.digest()


@pytest.mark.parametrize(
    ("specification", "option"),
    [
        ("svm", "learner"),
        ("path(normalize=none)", "normalize"),
        ("path(binarize=yes)", "binarize"),
        ("path(tfidf=no)", "tfidf"),
        ("path(rating=3)", "rating"),
        ("path(margin_threshold=0)", "margin_threshold"),
        ("path(max_features=3)", "max_features"),
        ("path(max_classes=3)", "max_classes"),
        ("path(no=1)", "no"),
    ],
)
def test_options_that_the_fit_cannot_have_are_refused(model, specification, option):
    with pytest.raises(OptionError) as refused:
        options_of(model, specification)
    assert refused.value.option == option


def test_too_little_memory_is_refused(model, monkeypatch):
    monkeypatch.setattr(index, "Learner", Large)
    with pytest.raises(OptionError, match="budget lower"):
        convert(model, options_of(model))


class Large:
    bytes = 1 << 40

    @classmethod
    def load(cls, *_, **__):
        return cls()


def test_a_model_with_constants_is_refused(rows):
    model = fitted(rows, bias=0.5)
    with pytest.raises(ModelFault, match="without --bias"):
        convert(model, options_of(model))


def test_options_have_the_preprocessing_of_the_fit(rows, model):
    assert options_of(model) == Options.parse("path(sublinear=no)")
    plain = fitted(rows, tfidf=False)
    assert options_of(plain) == Options.parse("path(sublinear=no,tfidf=no)")
    other = Model.of_arrays(model.arrays() | {"rarity": model.features.rarity * 2})
    with pytest.raises(ModelFault, match="do not follow"):
        options_of(other)

"""Rankings by expected taxonomic loss: against sums over pairs, and the fitted temperature."""

from math import exp
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import enrolled
from manyclass.core.errors import SnapshotError, TaxonomyMissing
from manyclass.core.event import Event
from manyclass.core.expected_loss import CANDIDATES, ExpectedLoss
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.taxonomy import Taxonomy
from manyclass.training.klr.decoding import Decoder

TEMPERATURES = 32
NAMES = "abcdefghijkl"

PLACES = st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(NAMES)), max_size=9)
SCORES = st.floats(-2, 2).map(lambda score: round(score, 3))


@st.composite
def rankings(draw):
    """Return a ranking, best first, also of classes without a node."""
    names = draw(st.lists(st.sampled_from([*NAMES, "new", "other"]), unique=True, max_size=14))
    scores = sorted((draw(SCORES) for _ in names), reverse=True)
    return list(zip(names, scores, strict=True))


def tree(places):
    taxonomy = Taxonomy()
    for name, parent in places:
        taxonomy.place(name, parent)
    return taxonomy


def probabilities(ranked, temperature):
    first, last = ranked[0][1], ranked[-1][1]
    usual = abs(first) or abs(last) or 1
    weights = [exp(max((score - first) / usual / temperature, -700)) for _, score in ranked]
    return [weight / sum(weights) for weight in weights]


def pairwise(taxonomy, ranked, temperature):
    """Return the expected losses as sums over all pairs of classes."""
    masses = probabilities(ranked, temperature)
    return [
        sum(
            mass * taxonomy.distance(name, other) / 2
            for (other, _), mass in zip(ranked, masses, strict=True)
        )
        for name, _ in ranked
    ]


@given(PLACES, rankings())
def test_the_losses_are_the_sums_over_pairs(places, ranked):
    taxonomy, loss = tree(places), ExpectedLoss()
    assert loss.temperature == pytest.approx(2 ** (-9 / 4))
    found = loss.of(taxonomy, ranked)
    assert min(found, default=0) >= 0
    assert found == pytest.approx(
        pairwise(taxonomy, ranked, loss.temperature) if ranked else [], abs=1e-9
    )


@given(PLACES, rankings().filter(len))
def test_the_least_loss_is_that_of_the_offline_fit(places, ranked):
    taxonomy, loss = tree(places), ExpectedLoss()
    decoder = Decoder.of([name for name, _ in ranked], lambda name: [taxonomy.parent(name) or ""])
    masses = np.array([probabilities(ranked, loss.temperature)])
    [chosen] = decoder.least_taxo_loss(masses).tolist()
    losses = loss.of(taxonomy, ranked)
    assert losses[chosen] == pytest.approx(min(losses), abs=1e-9)


class SlowSums:
    """The sums of the fit, by losses over pairs."""

    def __init__(self):
        self.sums = [0] * TEMPERATURES

    def add(self, taxonomy, ranked, classes):
        for i in range(TEMPERATURES):
            losses = pairwise(taxonomy, ranked, 2 ** (-i / 4))
            least = min(losses)
            # equal up to rounding: the first
            chosen = next(at for at, each in enumerate(losses) if each <= least + 1e-13)
            edges = min(taxonomy.distance(ranked[chosen][0], name) for name in classes)
            self.sums[i] += (edges << 16) - self.sums[i] // 4096


@given(st.lists(st.permutations(range(8)), min_size=1, max_size=12), st.integers(0))
def test_the_sums_are_those_of_a_slow_fit(orders, seed):
    random = Random(seed)
    taxonomy = tree([("a", "b"), ("c", "b"), ("d", "e"), ("b", "f"), ("e", "f"), ("g", None)])
    loss, slow = ExpectedLoss(), SlowSums()
    for order in orders:
        scores = sorted((random.uniform(0.8, 1) for _ in order), reverse=True)
        ranked = list(zip((NAMES[at] for at in order), scores, strict=True))
        true = random.sample(NAMES, random.choice((1, 1, 2)))
        loss.add(taxonomy, ranked, true)
        slow.add(taxonomy, ranked, true)
    dumped = loss.dump().get("expected_loss_sums", np.zeros(TEMPERATURES, int))
    assert dumped.tolist() == slow.sums


def test_an_empty_ranking_counts_for_nothing():
    loss = ExpectedLoss()
    loss.add(tree([("a", "b")]), [], ["a"])
    assert loss.dump() == {}
    assert loss.of(tree([]), []) == []
    with pytest.raises(ValueError, match="true class"):
        loss.add(tree([]), [("a", 1.0)], [])


def test_the_temperature_follows_the_outcomes():
    # It falls while the first class is right, and rises while the others are.
    taxonomy = tree([("a", None), ("b", "f"), ("c", "f"), ("d", "f")])
    ranked = [("a", 1.0), ("b", 0.95), ("c", 0.95), ("d", 0.95)]
    loss = ExpectedLoss()
    before = loss.temperature
    for _ in range(300):
        loss.add(taxonomy, ranked, ["a"])
    low = loss.temperature
    assert low < before
    assert loss.of(taxonomy, ranked)[0] == min(loss.of(taxonomy, ranked))
    for _ in range(9000):
        loss.add(taxonomy, ranked, ["b"])
    assert loss.temperature > low
    assert loss.of(taxonomy, ranked)[1] == min(loss.of(taxonomy, ranked))


def test_equal_scores_and_scores_of_zero_have_equal_probabilities():
    taxonomy = tree([("a", "x"), ("b", "x"), ("c", "y")])
    for score in (0.0, 1.0, -1.0, 1e-300, 1e300):
        losses = ExpectedLoss().of(taxonomy, [("a", score), ("b", score), ("c", score)])
        assert losses == pytest.approx([(0 + 1 + 2) / 3, (0 + 1 + 2) / 3, (2 + 2 + 0) / 3])


@pytest.mark.parametrize(
    "sums",
    [
        np.zeros(31, "<u8"),
        np.zeros(32, "<u4"),
        np.full(32, 2**63, "<u8"),
        np.zeros((32, 1), "<u8"),
    ],
)
def test_sums_that_no_losses_lead_to_are_refused(sums):
    with pytest.raises(SnapshotError, match="expected_loss_sums"):
        ExpectedLoss.load({"expected_loss_sums": sums})


def test_the_largest_sums_can_be_loaded():
    deep = Taxonomy()
    for name, parent in [("0", None), *((str(n), str(n - 1)) for n in range(1, 32))]:
        deep.place(name, parent)
    deep.place("far", None)
    for n in range(31):
        deep.place(f"far{n}", f"far{n - 1}" if n else "far")
    loss = ExpectedLoss()
    for _ in range(60_000):
        loss.add(deep, [("31", 1.0)], ["far30"])
    assert ExpectedLoss.load(loss.dump()).dump()["expected_loss_sums"].tolist() == (
        loss.dump()["expected_loss_sums"].tolist()
    )


# --- in a model -----------------------------------------------------------------------------------

LEARNERS = ("svm", "ff", "oplt", "committee(members=svm+ff)", "frequency")
INSTANCE = Instance({"w": 1.0})


def learned(learner, events=60, seed=0, places=True):
    random = np.random.default_rng(seed)
    model = Model(ModelSet(Options.parse(learner), (Options.parse("pa"),)))
    if places:
        parents = {NAMES[at]: NAMES[at // 3] for at in range(3, 12)}
        model.apply(model.seq + 1, Event.place(parents))
    for _ in range(events):
        model.apply(model.seq + 1, event(random))
    return model


def event(random):
    at = int(random.integers(12))
    features = {f"f{at}": 1.0, f"f{at // 3}": 1.0, f"n{random.integers(5)}": 2.0, "w": 1.0}
    return Event.learn(Instance(features), [NAMES[at]])


def loaded(model):
    return Model.load([b"".join(map(bytes, model.dump()))])


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_decoded_ranking_has_the_classes_by_expected_loss(learner):
    model = learned(learner)
    ranked = model.rank(INSTANCE, CANDIDATES)
    losses = dict(
        zip(
            (name for name, _ in ranked),
            pairwise(model.taxonomy, ranked, model.answering.expected_loss.temperature),
            strict=True,
        )
    )
    decoded = model.decode(INSTANCE, 1000)
    assert {(name, score) for name, score, _ in decoded.ranked} == {*ranked}
    assert [loss for *_, loss in decoded.ranked] == sorted(loss for *_, loss in decoded.ranked)
    for name, _, loss in decoded.ranked:
        assert loss == pytest.approx(losses[name], abs=1e-9)
    assert decoded.confidence == model.answer(INSTANCE).confidence
    assert model.decode(INSTANCE, 3).ranked == decoded.ranked[:3]
    least = ranked[2][1]
    kept = [each for each in decoded.ranked if each[1] > least]
    assert model.decode(INSTANCE, 5, least).ranked == kept[:5]


def test_given_classes_have_all_of_the_probability():
    model = learned("svm")
    ranked = model.rank(INSTANCE, 12, None, ["d", "l", "none"])
    decoded = model.decode(INSTANCE, 5, None, ["d", "l", "none"])
    assert decoded.confidence is None
    temperature = model.answering.expected_loss.temperature
    expected = pairwise(model.taxonomy, ranked, temperature)
    assert sorted(loss for *_, loss in decoded.ranked) == pytest.approx(sorted(expected))
    assert {name for name, *_ in decoded.ranked} == {"d", "l"}


def test_without_a_taxonomy_it_is_refused():
    model = learned("svm", places=False)
    with pytest.raises(TaxonomyMissing, match="place the classes"):
        model.decode(INSTANCE)
    assert not [name for name in model.freeze().arrays if "expected" in name or "parent" in name]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("cut", [0, 1, 30])
def test_a_loaded_model_goes_on_to_the_same_digest_and_the_same_rankings(learner, cut):
    model, random = learned(learner, cut), np.random.default_rng(7)
    other = loaded(model)
    for _ in range(40):
        following = event(random)
        for each in (model, other):
            each.apply(each.seq + 1, following)
    assert model.digest() == other.digest()
    assert model.decode(INSTANCE) == other.decode(INSTANCE)
    for one, another in zip(model.enrolled, other.enrolled, strict=True):
        assert one.expected_loss.dump()
        assert one.expected_loss.temperature == another.expected_loss.temperature
        assert one.progress.parent_accuracy.mean(10) == another.progress.parent_accuracy.mean(10)


def test_after_the_first_examples_one_in_four_is_fitted(monkeypatch):
    monkeypatch.setattr(enrolled, "ALL_FITTED", 10)
    counted = []

    class Watched:
        def add(self, taxonomy, ranked, classes):
            counted.append(model.progress.taxonomic_loss.examples - 1)

    model = learned("svm", 0)
    model.answering.expected_loss = Watched()
    random = np.random.default_rng(3)
    for _ in range(30):
        model.apply(model.seq + 1, event(random))
    assert counted == [*range(10), 12, 16, 20, 24, 28]


def test_a_promotion_keeps_the_temperatures():
    model = learned("svm")
    own = {each.label: each.expected_loss for each in model.enrolled}
    model.apply(model.seq + 1, Event.promote("pa"))
    assert model.answering.expected_loss is own["pa"]


def test_parents_are_counted():
    model = Model(Options.parse("svm"))
    model.apply(1, Event.place({"a": "x", "b": "x", "c": "y"}))
    for seq, (name, right) in enumerate((("a", 0), ("a", 1), ("b", 1), ("c", 0)), 2):
        counted = model.progress.parent_accuracy
        before = counted.total
        model.apply(seq, Event.learn(INSTANCE, [name]))
        assert counted.total - before == right  # nothing, a, a, then a or b are ranked first
    assert counted.mean(100) == 2 / 4
    assert counted.mean(2) == 1 / 2

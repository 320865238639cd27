"""The common part of all learners: names, counts, limits, preprocessing, ranking, replay.

An instance is a dict name -> value here. Rows and arithmetic follow docs/learners.md: weights are
float32, all else is double, and sums are made in the order of the instance's features.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import copysign, sqrt

from numpy import float32

from manyclass.core.outcome import Learned
from tests.core.references.arithmetic import SMALLEST_VALUE, damped, log, total
from tests.core.references.forgetting import Forgetting
from tests.core.references.neighbors import (
    INDEXED_EXAMPLE_BYTES,
    INDEXED_FEATURE_BYTES,
    INDEXED_VALUE_BYTES,
    Neighbors,
)
from tests.core.references.past import Past, StoredExample, is_gone
from tests.core.references.state import Class, Feature, Ids, dump, outdegrees
from tests.core.references.taxonomy import SlowTaxonomy

FEATURE_BYTES = 48  # of a feature in Learner.bytes, without its name
CLASS_BYTES = 60
EDGE_BYTES = 9
VARIANCE_BYTES = 4
BIRTH_BYTES = 8  # of a feature, when past instances are kept
PAST_SHARE = 4  # the replay buffer may take a quarter of max_bytes


@cache
def size_of(name):
    """Return the bytes of a name."""
    return len(name.encode())


@dataclass
class Standing:
    """The scores of the classes for an instance, before it changes anything."""

    scores: dict[str, float]  # of all retrieved classes
    positives: list[tuple[str, float]]  # the positives to learn: name, score
    negatives: list[tuple[str, float]]  # the best wrong classes, best first
    rejected: list[str]  # known classes that are said to be wrong

    @property
    def to_beat(self):
        """The best negative's score, b in the margin."""
        return max([0.0, *(score for _, score in self.negatives)])


def best_two(ranked):
    """Return the scores of the first and the second class, 0 for a missing one."""
    return [*(score for _, score in ranked), 0.0, 0.0][:2]


class Reference(Forgetting):
    signed = False  # true if weights can be negative
    has_variances = False
    has_edges = True

    def __init__(self, options):
        self.taxonomy = SlowTaxonomy()  # changed from outside
        self.rows = {}  # name -> Feature
        self.labels = {}  # name -> Class
        self.feature_ids = Ids()
        self.class_ids = Ids()
        self.past = Past(options.seed)
        self.neighbors = Neighbors()
        self.votes_learned = {}  # by the neighbors of the example that is being learned
        self.seed_at_first = options.seed
        self.learned = 0
        self.unlabelled = 0  # events without true classes
        self.counted = 0  # examples of a first pass
        self.born = 0
        self.evicted_features = 0
        self.evicted_classes = 0
        self.feature_hand = self.class_hand = 0
        self.retired = []  # forgotten classes that still have edges
        self.sweeping = 0  # of these, how many are free when all rows are swept
        self.swept = 0  # rows of this sweep so far
        self.active_features_ranked = 0
        self.edges_touched = 0
        self.configure(options)

    def configure(self, options):
        self.options = replace(options)
        self.neighbors.configure(options.neighbors)
        self.limit_past()

    def limit_past(self):
        is_indexed = self.options.neighbors > 0
        self.past.bytes_per_value = INDEXED_VALUE_BYTES if is_indexed else 0
        self.past.bytes_per_example = INDEXED_EXAMPLE_BYTES if is_indexed else 0
        self.past.limit(self.most_past(), self.options.max_bytes // PAST_SHARE)

    # --- overridden by learners -------------------------------------------------------------------

    def most_past(self):
        """Return the number of past instances to keep."""
        return self.options.replay_size if self.options.replay or self.options.neighbors else 0

    def change(self, values, standing, constraints):
        """Learn the true classes of the standing; return true if anything changed.

        `constraints` are the constraints of the instance, changed in place; only an SVM has any.
        """
        raise NotImplementedError

    def is_to_change(self, standing):
        return bool(standing.positives)

    def reject(self, values, rejected):
        """Learn that these classes are wrong, after `change`; return true if anything changed."""
        return False

    def margin_to_leave_alone(self):
        """Return the margin above which a true class is not learned."""
        return self.options.margin_threshold

    def score_within_reach(self, place, score):
        """Return the score of a true class at this place of the ranking when it is learned."""
        return score

    def voting(self, feature):
        """Return the edges that take part in ranking."""
        return feature.edges

    def vote_of_weight_one(self, feature, value):
        return self.rating(feature) * value

    def weight(self, feature, edge):
        return float(edge.mass)

    def filtered(self, ranked, among):
        """Return the ranking of these classes alone."""
        return [(name, score) for name, score in ranked if name in among]

    def scores_of(self, ranked):
        """Return the scores of all classes, but scores of 0."""
        return dict(ranked)

    def retrieved(self, ranked):
        """Return the part of a ranking that edges lead to."""
        return ranked

    def own_scores(self, ranked, votes):
        """Return the scores beside which votes are judged."""
        return dict(ranked)

    def placed(self, names, before_learning=False):
        """Note that the taxonomy has added, changed or removed the nodes of these names."""

    def with_bias(self, scores, values):
        """Return the scores of the classes retrieved for the values, with their biases."""
        return scores

    def mass_after_forgetting(self, feature, gone, kept):
        """Return the mass of a row, of whose edges some go and the others stay."""
        return feature.mass

    @staticmethod
    def mass_of_kept(feature, gone, kept):
        """Return the mass of a row without the edges that go, at least the sum of the others."""
        if not kept:
            return 0.0
        without = feature.mass
        for edge in gone:
            without -= float(edge.mass)
        return max(without, total(float(edge.mass) for edge in kept))

    # --- preprocessing ----------------------------------------------------------------------------

    def prepare(self, instance):
        """Return the preprocessed instance: values weighted and scaled by the options.

        Without signed weights, values below 0 are absent.
        """
        values = {
            name: value
            for name, value in instance.items()
            if (abs(value) if self.signed else value) >= SMALLEST_VALUE
        }
        if self.options.binarize:
            return {name: copysign(1.0, value) for name, value in values.items()}
        if self.options.sublinear:
            values = {name: damped(value) for name, value in values.items()}
        if self.options.tfidf:
            for name, value in values.items():
                times_seen = self.rows[name].times_seen if name in self.rows else 0
                values[name] = value * log((1 + self.counted) / (1 + times_seen)) + value
        if self.options.normalize == "l2" and values:
            scale = 1 / sqrt(total(value * value for value in values.values()))
            values = {name: value * scale for name, value in values.items()}
        return values

    def known(self, values):
        """Return (feature, value) for the features in the learner."""
        return [(self.rows[name], value) for name, value in values.items() if name in self.rows]

    # --- ranking ----------------------------------------------------------------------------------

    @property
    def mean_classes(self):
        """Return the mean number of true classes of events with some, of classes that remain."""
        named = sum(label.learned for label in self.labels.values())
        labelled = self.learned - self.unlabelled
        return named / labelled if labelled else 0.0

    def rating(self, feature):
        if self.options.rating == 0:
            return 1.0
        return min(1.0, feature.times_seen / self.options.rating)

    def votes(self, feature, value):
        """Return (class, vote) of each edge that takes part."""
        if not feature.edges:
            return []
        one = self.vote_of_weight_one(feature, value)
        return [(edge.to, one * float(edge.mass)) for edge in self.voting(feature)]

    def retrieve(self, values):
        """Return every class with a score, best first; the older class wins a tie."""
        scores = {}
        for feature, value in self.known(values):
            self.active_features_ranked += 1
            votes = self.votes(feature, value)
            self.edges_touched += len(votes)
            for name, vote in votes:
                if not is_gone(name):
                    scores[name] = scores.get(name, 0.0) + vote
        scored = {
            name: score
            for name, score in scores.items()
            if score > 0 or (self.signed and score < 0)
        }
        return self.ranked_of(
            {
                name: score
                for name, score in self.with_bias(scored, values).items()
                if score > 0 or (self.signed and score < 0)
            }
        )

    def ranked_of(self, scores):
        """Return the ranking of the classes with these scores."""
        return self.in_order(scores.items())

    def in_order(self, scored):
        return sorted(scored, key=lambda each: (-each[1], self.labels[each[0]].born))

    def rank(self, instance, k=5, threshold=None, among=None):
        values = self.prepare(instance)
        ranked = self.mixed(self.retrieve(values), self.votes_of_neighbors(values))
        if among is not None:
            ranked = self.filtered(ranked, among)
        if threshold is not None:
            ranked = [(name, score) for name, score in ranked if score > threshold]
        return ranked[:k]

    def votes_of_neighbors(self, values):
        """Return the votes of the neighbors of an instance, none while they do not count."""
        if self.neighbors.scale == 0:
            return {}
        return self.neighbors.votes(values, self.past.kept, self.options)

    def mixed(self, ranked, votes):
        """Return the ranking with the votes added to the scores."""
        if not votes or self.neighbors.scale == 0:
            return ranked
        scores = dict(ranked)
        for name, vote in votes.items():
            scores[name] = scores.get(name, 0.0) + self.neighbors.scale * vote
        return self.in_order(
            (name, score)
            for name, score in scores.items()
            if score > 0 or (self.signed and score < 0)
        )

    def explain(self, instance, classes, limit=10):
        values = self.prepare(instance)
        answer = []
        for wanted in classes:
            reasons = self.explain_own(values, wanted)
            of_neighbors = self.neighbors.explain(values, self.past.kept, self.options, wanted)
            reasons = [(name, vote + of_neighbors.pop(name, 0.0)) for name, vote in reasons]
            reasons += [(name, of_neighbors[name]) for name in values if name in of_neighbors]
            reasons.sort(key=lambda reason: -abs(reason[1]))
            answer.append(reasons[:limit])
        return answer

    def explain_own(self, values, wanted):
        """Return what each feature adds to the learner's own score of a class."""
        return [
            (name, vote)
            for name, value in values.items()
            if name in self.rows
            for to, vote in self.votes(self.rows[name], value)
            if to == wanted
        ]

    # --- learning ---------------------------------------------------------------------------------

    example_weight = 1.0  # of the example that is being learned
    is_replayed = False  # it was learned before
    unreached = frozenset[str]()  # its true classes that no edge leads to

    def learn(self, instance, classes, is_first_epoch=True, rejected=(), weight=1.0):
        said = {name: self.labels[name] for name in rejected if name in self.labels}
        values = prepared = self.prepare(instance)
        before = self.sizes
        self.learned += 1
        self.unlabelled += not classes
        self.counted += is_first_epoch
        values = self.meet_features(values, is_first_epoch)
        true = self.meet_classes(dict.fromkeys(classes))
        rejected = [  # unless it was evicted for a new one
            name for name, label in said.items() if self.labels.get(name) is label
        ]
        constraints = {}
        self.forget_retired(feature for feature, _ in self.known(values))
        self.votes_learned = {}
        if self.neighbors.is_due(self.learned, is_first_epoch):
            self.votes_learned = self.neighbors.votes(prepared, self.past.kept, self.options)
        ranked = self.before(values, true, is_first_epoch)
        first, second = best_two(ranked)
        rank = self.best_place(ranked, true)
        own = self.unworked(values) if self.votes_learned else []
        self.example_weight = float(float32(weight))
        outcome = Learned(rank, self.improve(values, true, constraints, rejected), first, second)
        if is_first_epoch and self.votes_learned:
            own = self.own_scores(own, self.votes_learned)
            self.neighbors.judge(self.votes_learned, own, self.in_order, true, self.learned)
        given = {name: float32(instance[name]) for name in values}
        self.keep(StoredExample(given, true, constraints, rejected, self.example_weight))
        self.keep_within_limits(before)
        self.sweep()
        return outcome

    def keep(self, example):
        if self.most_past():
            self.learn_again()
            self.past.offer(example)

    def unworked(self, values):
        """Return the ranking of the learner's own scores, as if nothing had been read for it."""
        work = self.active_features_ranked, self.edges_touched
        ranked = self.retrieve(values)
        self.active_features_ranked, self.edges_touched = work
        return ranked

    def before(self, values, true, counted):
        """Return the ranking from before the features were counted."""
        features = [feature for feature, _ in self.known(values)] if counted else []
        for feature in features:
            feature.times_seen -= 1
        ranked = self.mixed(self.unworked(values), self.votes_learned)
        for feature in features:
            feature.times_seen += 1
        return ranked

    def best_place(self, ranked, true):
        """Return the best place of a true class in the ranking, 0 if it has none."""
        return next((at for at, (name, _) in enumerate(ranked, start=1) if name in true), 0)

    def learn_again(self):
        for _ in range(self.options.replay):
            if self.past.kept:
                example = self.past.draw()
                if example is None:
                    continue
                values = {name: float(value) for name, value in example.values.items()}
                self.example_weight = example.weight
                self.is_replayed = True
                self.improve_again(self.prepare(values), example)
                self.is_replayed = False
                self.past.hold_bytes()  # its constraints may have become more

    def improve_again(self, values, example):
        self.improve(values, example.classes, example.constraints, example.rejected)

    def improve(self, values, true, constraints, rejected=()):
        """Update the classes that violate their margins; return whether anything changed."""
        self.forget_retired(feature for feature, _ in self.known(values))
        ranked = self.retrieve(values)
        places = {name: place for place, (name, _) in enumerate(ranked, start=1)}
        scores = self.scores_of(ranked)
        wrong = [(name, score) for name, score in self.retrieved(ranked) if name not in true]
        self.unreached = {*true} - {name for name, _ in self.retrieved(ranked)}
        standing = Standing(scores, [], self.negatives_of(wrong, true), [*rejected])
        for name in true:
            score = 0.0
            if name in scores:
                score = self.score_within_reach(places.get(name), scores[name])
            if self.is_to_learn(name, score, standing):
                standing.positives.append((name, score))
        changed = self.is_to_change(standing) and self.change(values, standing, constraints)
        return self.reject(values, rejected) or changed

    def is_to_learn(self, name, score, standing):
        return score - standing.to_beat <= self.margin_to_leave_alone()

    def negatives_of(self, wrong, true):
        return wrong[: self.most_negatives(true)]

    def most_negatives(self, true):
        return self.options.negatives

    def meet_features(self, values, is_first_epoch):
        """Count and stamp the active features; add unknown ones while there is room.

        Return the features with a row.
        """
        unknown = [name for name in values if name not in self.rows]
        for feature, _ in self.known(values):
            self.see(feature, is_first_epoch)
        for name in unknown:
            if len(self.rows) < self.options.max_features or self.evict_feature():
                self.rows[name] = Feature(self.feature_ids.take())
                self.see(self.rows[name])
        return {name: value for name, value in values.items() if name in self.rows}

    def see(self, feature, count=True):
        feature.last_seen = self.learned
        feature.times_seen += count

    def meet_classes(self, names):
        """Count and stamp the true classes likewise; return the known ones."""
        unknown = [name for name in names if name not in self.labels]
        for name in names:
            if name in self.labels:
                self.name_class(self.labels[name])
        for name in unknown:
            if name in self.labels:  # as a node above another of them
                self.name_class(self.labels[name])
            elif self.has_room_for_class():
                self.add_class(name)
        return [name for name in names if name in self.labels]

    def add_class(self, name):
        self.labels[name] = Class(self.class_ids.take(), self.born)
        self.born += 1
        Reference.name_class(self, self.labels[name])

    def name_class(self, label):
        label.learned += 1
        label.last_learned = self.learned

    # --- inspection -------------------------------------------------------------------------------

    tree = None  # of a learner that is one

    def paths(self, instance, classes, limit=10):
        return [[] for _ in classes]

    @property
    def features(self):
        return len(self.rows)

    @property
    def classes(self):
        return len(self.labels)

    @property
    def edges(self):
        return sum(len(feature.edges) for feature in self.rows.values())

    @property
    def bytes(self):
        edge_bytes = EDGE_BYTES + (VARIANCE_BYTES if self.has_variances else 0)
        return (
            self.feature_bytes * len(self.rows)
            + sum(map(size_of, self.rows))
            + self.class_bytes
            + edge_bytes * self.edges
            + self.past.bytes
        )

    @property
    def feature_bytes(self):
        indexed = INDEXED_FEATURE_BYTES if self.options.neighbors else 0
        return FEATURE_BYTES + (BIRTH_BYTES if self.most_past() else 0) + indexed

    @property
    def class_bytes(self):
        return CLASS_BYTES * len(self.labels) + sum(map(size_of, self.labels))

    def feature(self, name):
        feature = self.rows[name]
        edges = [
            (edge.to, self.weight(feature, edge))
            for edge in feature.edges
            if edge.to in self.labels
        ]
        return {
            "times_seen": feature.times_seen,
            "rating": self.rating(feature),
            "outdegree": len(edges),
            "mass": feature.mass,
            "edges": sorted(edges, key=lambda weighted: -abs(weighted[1])),
        }

    def class_(self, name, limit=100):
        weights = [
            (feature, self.weight(self.rows[feature], edge))
            for feature in self.rows
            for edge in self.rows[feature].edges
            if edge.to == name
        ]
        weights.sort(key=lambda weighted: (-abs(weighted[1]), self.rows[weighted[0]].id))
        return {"learned": self.labels[name].learned, "features": weights[:limit]}

    def class_page(self, prefix, after, limit):
        counts = {name: label.learned for name, label in self.labels.items()}
        return page(counts, prefix, after, limit)

    def feature_page(self, prefix, after, limit):
        counts = {name: feature.times_seen for name, feature in self.rows.items()}
        return page(counts, prefix, after, limit)

    def outdegrees(self):
        return outdegrees(self)

    def dump(self):
        arrays = dump(self)
        if self.options.neighbors:
            arrays["neighbor_weights"] = self.neighbors.state
        return arrays


def page(counts, prefix, after, limit):
    """Return the next names in the order of their UTF-8 bytes, with their counts."""
    names = [name for name in counts if name.startswith(prefix) and name.encode() > after.encode()]
    return [(name, counts[name]) for name in sorted(names, key=str.encode)[:limit]]

"""The index again, slow and plain: what core.index.Index must answer, score by score.

It is written from the definition of the learner, never from the native code, in dictionaries and
lists, and follows the same arithmetic: doubles, but for the masses of edges, which are float32.
An instance is a dict name -> value here.
"""

from dataclasses import dataclass, field, replace
from math import frexp, sqrt

import numpy as np
from numpy import float32

FEATURE_BYTES = 48  # what Index.bytes counts for a feature, its name apart
CLASS_BYTES = 60
EDGE_BYTES = 9
LONGEST_ROW = 65_535
SMALLEST_VALUE = 1e-30  # what is less is no value
SMALLEST_MASS = np.finfo(float32).tiny  # whether lighter ones exist is up to the processor
HEAVIEST_ROW = 2.0**16  # beyond it float32 sums would stall
EVICTED_SHARE = 64  # one in 64 goes when there is no room for one more


def log(x):
    """The natural logarithm by the index's own series: other ones differ in the last bit."""
    fraction, exponent = frexp(x)
    if fraction < 0.7071067811865476:
        fraction, exponent = fraction * 2, exponent - 1
    z = (fraction - 1) / (fraction + 1)
    total = 0.0
    for n in range(21, 0, -2):
        total = total * (z * z) + 1 / n
    return 2 * z * total + exponent * 0.6931471805599453


@dataclass
class Edge:
    to: str
    mass: float32


@dataclass
class Feature:
    id: int
    times_seen: int = 0
    last_seen: int = 0
    mass: float = 0.0
    edges: list[Edge] = field(default_factory=list)  # heaviest first


@dataclass
class Class:
    id: int
    born: int
    learned: int = 0
    last_learned: int = 0


class Ids:
    """Dense ids from 0; a freed one is given again, the last freed first."""

    def __init__(self):
        self.made = 0
        self.free = []

    def take(self):
        if self.free:
            return self.free.pop()
        self.made += 1
        return self.made - 1

    def give_back(self, id):
        self.free.append(id)


class Twin:
    def __init__(self, options):
        self.options = options
        self.rows = {}  # name -> Feature
        self.labels = {}  # name -> Class
        self.feature_ids = Ids()
        self.class_ids = Ids()
        self.learned = 0
        self.counted = 0  # those of a first pass
        self.born = 0
        self.evicted_features = 0
        self.evicted_classes = 0
        self.active_features_ranked = 0
        self.edges_touched = 0

    def configure(self, options):
        self.options = replace(options)

    # --- preparing an instance --------------------------------------------------------------------

    def prepare(self, instance):
        """The instance as it votes: positive values, weighted and scaled as the options say."""
        values = {name: value for name, value in instance.items() if value >= SMALLEST_VALUE}
        if self.options.boolean:
            return dict.fromkeys(values, 1.0)
        if self.options.tfidf:
            for name, value in values.items():
                times_seen = self.rows[name].times_seen if name in self.rows else 0
                values[name] = value * log((1 + self.counted) / (1 + times_seen)) + value
        if self.options.normalize == "l2":
            squares = 0.0
            for value in values.values():
                squares += value * value
            if values:
                scale = 1 / sqrt(squares)
                values = {name: value * scale for name, value in values.items()}
        return values

    # --- ranking ----------------------------------------------------------------------------------

    def rating(self, feature):
        if self.options.rating == 0:
            return 1.0
        return min(1.0, feature.times_seen / self.options.rating)

    def votes(self, values):
        """(feature, class, vote) for each edge that takes part, in the order they are added up."""
        for name, value in values.items():
            feature = self.rows.get(name)
            if feature is None or not feature.edges:
                continue
            coefficient = self.rating(feature) * value / feature.mass
            for edge in feature.edges[: self.options.max_outdegree]:
                yield name, edge.to, coefficient * float(edge.mass)

    def retrieve(self, values):
        """Every class with a positive score, best first; of equal ones the older class first."""
        known = [self.rows[name] for name in values if name in self.rows]
        self.active_features_ranked += len(known)
        self.edges_touched += sum(
            min(len(feature.edges), self.options.max_outdegree) for feature in known
        )
        scores = {}
        for _, to, vote in self.votes(values):
            scores[to] = scores.get(to, 0.0) + vote
        positive = [(name, score) for name, score in scores.items() if score > 0]
        return sorted(positive, key=lambda scored: (-scored[1], self.labels[scored[0]].born))

    def rank(self, instance, k=5, threshold=0.0):
        ranked = self.retrieve(self.prepare(instance))
        return [(name, score) for name, score in ranked if score > threshold][:k]

    def explain(self, instance, classes, limit=10):
        votes = list(self.votes(self.prepare(instance)))
        answer = []
        for wanted in classes:
            reasons = [(name, vote) for name, to, vote in votes if to == wanted and vote > 0]
            reasons.sort(key=lambda reason: -reason[1])
            answer.append(reasons[:limit])
        return answer

    # --- learning ---------------------------------------------------------------------------------

    def learn(self, instance, classes, first_pass=True):
        values = self.prepare(instance)
        self.learned += 1
        self.counted += first_pass
        values = self.meet_features(values, first_pass)
        true = self.meet_classes(dict.fromkeys(classes))
        ranked = self.retrieve(values)

        rank = 0
        for place, (name, _) in enumerate(ranked, start=1):
            if name in true:
                rank = place
                break
        within = dict(ranked[: self.options.retrieval_window])
        best_other = max((score for name, score in ranked if name not in true), default=0.0)
        updated = [
            name
            for name in true
            if within.get(name, 0.0) - best_other <= self.options.margin_threshold
        ]

        for name in updated:
            for feature, value in values.items():
                self.update(self.rows[feature], name, value)
        self.hold_bytes(values, true)
        return rank, bool(updated)

    def meet_features(self, values, first_pass):
        """Count and stamp the active features, making the unknown ones that there is room for."""
        unknown = [name for name in values if name not in self.rows]
        for name in values:
            if name in self.rows:
                self.see(self.rows[name], first_pass)
        for name in unknown:
            while len(self.rows) >= self.options.max_features:
                wanted = self.surplus(len(self.rows), self.options.max_features)
                if not self.evict_features(wanted, values):
                    break
            if len(self.rows) < self.options.max_features:
                self.rows[name] = Feature(self.feature_ids.take())
                self.see(self.rows[name])
        return {name: value for name, value in values.items() if name in self.rows}

    def see(self, feature, count=True):
        feature.last_seen = self.learned
        if count:
            feature.times_seen += 1

    def meet_classes(self, names):
        """The same for the true classes."""
        unknown = [name for name in names if name not in self.labels]
        for name in names:
            if name in self.labels:
                self.name_class(self.labels[name])
        for name in unknown:
            while len(self.labels) >= self.options.max_classes:
                wanted = self.surplus(len(self.labels), self.options.max_classes)
                if not self.evict_classes(wanted, names):
                    break
            if len(self.labels) < self.options.max_classes:
                self.labels[name] = Class(self.class_ids.take(), self.born)
                self.born += 1
                self.name_class(self.labels[name])
        return [name for name in names if name in self.labels]

    def name_class(self, label):
        label.learned += 1
        label.last_learned = self.learned

    def update(self, feature, name, value):
        """FSU: strengthen one edge, and with it weaken the others of its row."""
        added = float32(value)
        if added < SMALLEST_MASS:
            return
        row = feature.edges
        place = next((i for i, edge in enumerate(row) if edge.to == name), None)
        if place is None:
            if len(row) == LONGEST_ROW:
                self.drop_last(feature)
            row.append(Edge(name, float32(0)))
            place = len(row) - 1
        before = row[place].mass
        row[place].mass = float32(before + added)
        feature.mass += float(row[place].mass) - float(before)  # what the edge gained, rounded
        while place > 0 and row[place - 1].mass < row[place].mass:
            row[place - 1], row[place] = row[place], row[place - 1]
            place -= 1

        while row and self.too_light(row[-1], feature):
            self.drop_last(feature)
        memory = self.options.feature_memory or HEAVIEST_ROW
        while feature.mass > min(memory, HEAVIEST_ROW):
            feature.mass *= 0.5
            for edge in row:
                edge.mass = float32(edge.mass * float32(0.5))
        while row and row[-1].mass < SMALLEST_MASS:
            self.drop_last(feature)

    def too_light(self, edge, feature):
        return float(edge.mass) / feature.mass < self.options.min_weight

    def drop_last(self, feature):
        dropped = feature.edges.pop()
        if not self.options.leak:
            feature.mass -= float(dropped.mass)
            if not feature.edges:
                feature.mass = 0.0  # and not what rounding left

    # --- forgetting -------------------------------------------------------------------------------

    def forget_class(self, name):
        known = name in self.labels
        if known:
            self.forget_classes([name])
        return known

    def forget_classes(self, names):
        """Take their edges and the mass of these along; rounding lifts no weight above 1."""
        for feature in self.rows.values():
            kept = [edge for edge in feature.edges if edge.to not in names]
            if len(kept) == len(feature.edges):
                continue
            for edge in feature.edges:
                if edge.to in names:
                    feature.mass -= float(edge.mass)
            feature.edges = kept
            left = 0.0
            for edge in kept:
                left += float(edge.mass)
            feature.mass = max(feature.mass, left) if kept else 0.0
        for name in names:
            self.class_ids.give_back(self.labels.pop(name).id)

    def forget_feature(self, name):
        if name not in self.rows:
            return False
        self.feature_ids.give_back(self.rows.pop(name).id)
        return True

    @staticmethod
    def surplus(count, limit):
        """How many go at once when there is no room for one more."""
        return max(1, limit // EVICTED_SHARE) + count - limit

    def evict_features(self, wanted, touched):
        """Forget so many of those idle longest, none of those `touched`; how many went."""
        idle = [name for name in self.rows if name not in touched]
        idle.sort(key=lambda name: self.idleness(self.rows[name]))
        victims = idle[: max(1, wanted)]
        for name in victims:
            self.forget_feature(name)
        self.evicted_features += len(victims)
        return len(victims)

    @staticmethod
    def idleness(feature):
        return feature.last_seen, feature.times_seen, feature.id

    def evict_classes(self, wanted, touched):
        idle = [name for name in self.labels if name not in touched]
        idle.sort(
            key=lambda name: (
                self.labels[name].last_learned,
                self.labels[name].learned,
                self.labels[name].id,
            )
        )
        victims = idle[: max(1, wanted)]
        self.forget_classes(victims)
        self.evicted_classes += len(victims)
        return len(victims)

    def hold_bytes(self, features, classes):
        """Evict features, or classes if these take more than half; the others if none is left."""
        while self.bytes > self.options.max_bytes:
            ways = [
                lambda: self.evict_features(len(self.rows) // EVICTED_SHARE, features),
                lambda: self.evict_classes(len(self.labels) // EVICTED_SHARE, classes),
            ]
            if self.class_bytes > self.options.max_bytes // 2:
                ways.reverse()
            if not any(evict() for evict in ways):
                break

    # --- looking inside ---------------------------------------------------------------------------

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
        return (
            sum(FEATURE_BYTES + len(name.encode()) for name in self.rows)
            + self.class_bytes
            + EDGE_BYTES * self.edges
        )

    @property
    def class_bytes(self):
        return sum(CLASS_BYTES + len(name.encode()) for name in self.labels)

    def outdegrees(self):
        """How many features have 0, 1, 2, ... edges."""
        return np.bincount(np.array([len(feature.edges) for feature in self.rows.values()], int))

    def feature(self, name):
        feature = self.rows[name]
        return {
            "times_seen": feature.times_seen,
            "rating": self.rating(feature),
            "outdegree": len(feature.edges),
            "mass": feature.mass,
            "edges": [(edge.to, float(edge.mass) / feature.mass) for edge in feature.edges],
        }

    def class_(self, name, limit=100):
        weights = [
            (feature, float(edge.mass) / self.rows[feature].mass)
            for feature in self.rows
            for edge in self.rows[feature].edges
            if edge.to == name
        ]
        weights.sort(key=lambda weighted: (-weighted[1], self.rows[weighted[0]].id))
        return {"learned": self.labels[name].learned, "features": weights[:limit]}

    def class_page(self, prefix, after, limit):
        names = sorted(self.labels, key=str.encode)
        page = [
            name for name in names if name.startswith(prefix) and name.encode() > after.encode()
        ]
        return [(name, self.labels[name].learned) for name in page[:limit]]

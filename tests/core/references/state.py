"""The state of a reference of the learner, and the arrays in which a learner dumps the same."""

from dataclasses import dataclass, field

import numpy as np
from numpy import float32


@dataclass
class Edge:
    to: str
    mass: float32  # the weight, or its numerator over the feature mass
    variance: float32 = field(default_factory=lambda: float32(1))


@dataclass
class Feature:
    id: int
    times_seen: int = 0
    last_seen: int = 0
    mass: float = 0.0
    edges: list[Edge] = field(default_factory=list)

    def place_of(self, name):
        """Return the place in the row of the edge to this class, None where there is none."""
        return next((place for place, edge in enumerate(self.edges) if edge.to == name), None)

    def edge_to(self, name):
        place = self.place_of(name)
        return None if place is None else self.edges[place]


@dataclass
class Class:
    id: int
    born: int
    learned: int = 0
    last_learned: int = 0


class Gone:
    """A mark instead of the name of a forgotten feature or class; its id may still be in use."""

    def __init__(self, id):
        self.id = id


@dataclass(frozen=True)
class Family:
    """The end of edges that a class and those below it share."""

    name: str

    ID = 2**31  # added to the id of the class


class Ids:
    """Dense ids from 0; freed ids are reused, the last freed first."""

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


NO_CLASS = 2**32 - 1
GONE = 2**32 - 2
FREE_FEATURE, FREE_CLASS = ("", Feature(-1)), ("", Class(-1, 0))


def unless_all(usual, values):
    """Return the values, none if all are the usual one."""
    return [] if all(value == usual for value in values) else values


def dump(learner):
    """Return the arrays of `manyclass.core.learner.Learner.dump` for the same state, as lists."""
    features, classes = (
        [FREE_FEATURE] * learner.feature_ids.made,
        [FREE_CLASS] * learner.class_ids.made,
    )
    for name, feature in learner.rows.items():
        features[feature.id] = name, feature
    for name, label in learner.labels.items():
        classes[label.id] = name, label
    edges = [edge for _, feature in features for edge in feature.edges]
    past = learner.past.kept
    constraints = [constraint for example in past for constraint in example.constraints.items()]

    dump_of_tree = learner.dump_of_tree() if learner.tree else dump_without_tree(learner)

    def class_id(name):
        if isinstance(name, Gone):
            return GONE
        if isinstance(name, Family):
            return Family.ID + learner.labels[name.name].id
        return NO_CLASS if name is None else learner.labels[name].id

    def feature_id(name):
        return GONE if isinstance(name, Gone) else learner.rows[name].id

    return {
        "counts": [
            *(
                learner.learned,
                learner.counted,
                learner.born,
                learner.evicted_features,
                learner.evicted_classes,
            ),
            *(learner.past.came, learner.past.random.state),
            *dump_of_tree["counts"],
            *(learner.feature_hand, learner.class_hand, learner.swept, learner.sweeping),
        ],
        "feature_name_sizes": [len(name.encode()) for name, _ in features],
        "feature_names": list("".join(name for name, _ in features).encode()),
        "feature_free": learner.feature_ids.free,
        "feature_mass": [feature.mass for _, feature in features],
        "feature_times_seen": [feature.times_seen for _, feature in features],
        "feature_last_seen": [feature.last_seen for _, feature in features],
        "outdegrees": [len(feature.edges) for _, feature in features],
        "edge_classes": [
            edge.to.id if isinstance(edge.to, Gone) else class_id(edge.to) for edge in edges
        ],
        "edge_masses": [float(edge.mass) for edge in edges],
        "edge_variances": [float(edge.variance) for edge in edges] if learner.has_variances else [],
        "class_name_sizes": [len(name.encode()) for name, _ in classes],
        "class_names": list("".join(name for name, _ in classes).encode()),
        "class_free": learner.class_ids.free,
        "class_retired": [gone.id for gone in learner.retired],
        "class_learned": [label.learned for _, label in classes],
        "class_born": [label.born for _, label in classes],
        "class_last_learned": [label.last_learned for _, label in classes],
        "kept_features": [len(example.values) for example in past],
        "kept_true": [len(example.classes) + len(example.rejected) for example in past],
        "kept_demanded": [len(example.constraints) for example in past],
        "kept_feature_ids": [feature_id(name) for example in past for name in example.values],
        "kept_feature_values": [
            float(float32(value)) for example in past for value in example.values.values()
        ],
        "kept_class_ids": [
            class_id(name) for example in past for name in [*example.classes, *example.rejected]
        ],
        "kept_demands_ahead": [class_id(ahead) for (ahead, _), _ in constraints],
        "kept_demands_behind": [class_id(behind) for (_, behind), _ in constraints],
        "kept_demands_multiplier": [float(multiplier) for _, multiplier in constraints],
        "unlabelled": [learner.unlabelled] if learner.unlabelled else [],
        "kept_rejected": unless_all(0, [len(example.rejected) for example in past]),
        "kept_weights": unless_all(1, [example.weight for example in past]),
        **{name: array for name, array in dump_of_tree.items() if name != "counts"},
    }


TREE_ARRAYS = [
    *("node_kinds", "node_children", "node_blocks", "node_free", "children_ids"),
    *("block_features", "block_weights", "tree_weights", "tree_squares", "class_turns"),
]


def dump_without_tree(learner):
    """Return empty tree arrays; the generator has its seed and has drawn nothing."""
    counts = [0, 0, learner.seed_at_first, 0]
    return {"counts": counts} | {name: [] for name in TREE_ARRAYS}


def outdegrees(learner):
    """Return the numbers of features with 0, 1, 2, ... edges."""
    return np.bincount(np.array([len(feature.edges) for feature in learner.rows.values()], int))

"""A fitted model as a learner `path`, which a service serves and which goes on learning online.

The functions of nodes become weights: those of a leaf the class's own, those of an inner node its
family's. Counters are as if each training row had been learned once. All weights are multiplied by
one factor, which changes no ranking: the fit's scores are log-odds, while the learner leaves an
instance alone once the true class leads by its margin. The median lead of the first class over the
second among the training rows becomes the margin.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import Calibration
from manyclass.core.errors import InstanceError, OptionError, RequestConflict, SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.placements import placed
from manyclass.core.taxonomy import Taxonomy
from manyclass.training.klr.features import rarity_of
from manyclass.training.klr.model import Model, ModelFault
from manyclass.training.rows import Ids
from manyclass.training.trainer import LEAST_SETTLED, SETTLED

LEARNER: Final = "path"
FAMILY: Final = 1 << 31  # in the ids of families, see core/native/storage/family.hpp
SMALLEST: Final = float(np.finfo(np.float32).tiny)  # weight of an edge
PREPARED: Final = {"binarize": False, "normalize": "l2", "sublinear": False}  # as by `Features`

Numbers = NDArray[np.int64]
Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Converted:
    """The learner of a model."""

    learner: Learner
    calibration: Calibration  # by the rankings of held-out rows in the cross-validation of the fit
    rows: int  # learned
    scale: float  # the factor of all weights
    weights: int  # of the model but 0; edges may be fewer


def options_of(model: Model, specification: str = LEARNER) -> Options:
    """Return options of `path` with the preprocessing of the model.

    Raises OptionError for others than the learner or the model can have.
    """
    options = Options.parse(specification)
    if options.learner != LEARNER:
        raise OptionError("learner", f"a fit becomes {LEARNER!r}, not {options.learner!r}")
    prepared = PREPARED | {"tfidf": _is_weighted(model)}
    default = Options.of(LEARNER)
    for name, value in prepared.items():
        if getattr(options, name) not in (getattr(default, name), value):
            raise OptionError(name, f"must be as in the fit, {default.replace(**prepared)}")
    if options.rating:
        raise OptionError("rating", "must be 0: all weights of a fit count in full")
    if not options.margin_threshold > 0:
        raise OptionError("margin_threshold", "must be above 0: it is the scale of the weights")
    if model.x.features > options.max_features:
        raise OptionError("max_features", f"must be {model.x.features} or more, as many as fitted")
    names = len(_ids_of_names(model))
    if names > options.max_classes:
        raise OptionError("max_classes", f"must be {names} or more, for all classes and nodes")
    return options.replace(**prepared)


def convert(model: Model, options: Options) -> Converted:
    """Return the learner of a model, with options from `options_of`.

    Raises ModelFault for a model that no learner can be, OptionError for too little memory.
    """
    if model.bias:
        raise ModelFault("its nodes have constants, which no learner has: fit without --bias")
    taxonomy = placed_taxonomy(model.tree.taxonomy, model.classes)
    scale = options.margin_threshold / _lead(model)
    edges, weights = _heaviest(model, options)
    ids = _ids_of_names(model)
    rows, features, classes = model.x.height, model.x.features, len(ids)
    sections = make(options).dump()
    counts = sections["counts"].copy()
    counts[:3] = rows, rows, classes  # instances learned, learned in a first pass, classes made
    learned = np.zeros(classes, "<u8")
    learned[: len(model.classes)] = model.class_rows
    sections |= {
        "counts": counts,
        **_encoded("feature", model.features.names),
        "feature_mass": np.zeros(features, "<f8"),
        "feature_times_seen": np.diff(model.x.starts).astype("<u4"),
        "feature_last_seen": _last_seen(model).astype("<u4"),
        "outdegrees": np.bincount(edges.features, minlength=features).astype("<u2"),
        "edge_classes": _ids_of_nodes(model, ids)[edges.nodes].astype("<u4"),
        "edge_masses": (edges.weights * scale).astype("<f4"),
        **_encoded("class", [*ids]),
        "class_learned": learned,
        "class_born": np.arange(classes).astype("<u8"),
        "class_last_learned": np.full(classes, rows, "<u4"),
    }
    if "class_bias" in sections:
        sections["class_bias"] = np.zeros(classes, "<f4")
    try:
        learner = Learner.load(options, sections, taxonomy=taxonomy)
    except SnapshotError as error:
        raise ModelFault(f"it makes no learner: {error}") from error
    if learner.bytes > options.max_bytes:
        raise OptionError("max_bytes", f"must be {learner.bytes} or more, or the budget lower")
    return Converted(learner, _calibration(model, scale), rows, scale, weights)


def _is_weighted(model: Model) -> bool:
    """Return whether features are weighed by tf-idf; ModelFault for other weights."""
    rarity = model.features.rarity
    if np.array_equal(rarity, rarity_of(np.diff(model.x.starts), model.x.height)):
        return True
    if (rarity == 1).all():
        return False
    raise ModelFault("the weights of its features do not follow from its rows")


def _last_seen(model: Model) -> Numbers:
    """Return the number of the last row with each feature, from 1."""
    last = np.zeros(model.x.features, np.int64)
    of_values = np.repeat(np.arange(model.x.features), np.diff(model.x.starts))
    np.maximum.at(last, of_values, model.x.rows + 1)
    return last


def _lead(model: Model) -> float:
    """Return the median lead of the first class over the second, over the training rows."""
    scores = np.empty_like(model.alpha)
    model.kernel().product(model.alpha.copy(), scores)
    two = -np.partition(-scores, 1, axis=1)[:, :2].astype(float)
    lead = float(np.median(two[:, 0] - two[:, 1]))
    if not (np.isfinite(lead) and lead > 0):
        raise ModelFault("it does not tell classes apart")
    return lead


def _calibration(model: Model, scale: float) -> Calibration:
    made = Calibration()
    top_two, right = model.outcomes.top_two * scale, model.outcomes.right
    for (first, second), is_right in zip(top_two.tolist(), right.tolist(), strict=True):
        made.add(first, second, bool(is_right))
    if len(right) >= LEAST_SETTLED:
        made.settle(top_two[-SETTLED:], right[-SETTLED:])
    return made


# --- classes --------------------------------------------------------------------------------------


def placed_taxonomy(parents: dict[str, str], classes: list[str]) -> Taxonomy:
    """Return the taxonomy of a fit, in which the fitted classes alone are classes."""
    try:
        taxonomy = placed(parents)
    except (InstanceError, RequestConflict) as error:
        raise ModelFault(f"its taxonomy cannot be placed: {error}") from error
    for name in sorted(parents.keys() - set(classes)):
        taxonomy.forget(name)  # the node stays
    taxonomy.note_classes(classes)
    return taxonomy


def _ids_of_names(model: Model) -> dict[str, int]:
    """Return the ids of the classes, and of the names above them."""
    ids, parents = Ids(), model.tree.taxonomy
    for name in chain(model.classes, parents, parents.values()):
        _ = ids[name]
    return ids


def _ids_of_nodes(model: Model, ids: dict[str, int]) -> Numbers:
    """Return the id of the weights of each node: a class's own, or its family's."""
    tree = model.tree
    own = np.array([ids[name] for name in tree.names], np.int64)
    is_inner = np.ones(tree.nodes, bool)
    is_inner[tree.leaves] = False
    return own | np.where(is_inner, FAMILY, 0)


def _encoded(kind: str, names: list[str]) -> dict[str, NDArray[np.generic]]:
    encoded = [name.encode() for name in names]
    return {
        f"{kind}_name_sizes": np.array([len(name) for name in encoded], "<u2"),
        f"{kind}_names": np.frombuffer(b"".join(encoded), "u1"),
    }


# --- edges ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Edges:
    """Weights of nodes, in the order of the features."""

    features: Numbers
    nodes: Numbers
    weights: Weights

    @classmethod
    def of_block(cls, begin: int, weights: Weights, most: int) -> Self:
        """Return the heaviest weights, at most so many, of each of the features from `begin`."""
        sizes = np.abs(weights)
        if weights.shape[1] > most:
            kept = np.argpartition(-sizes, most - 1, axis=1)[:, :most]
            is_kept = np.zeros(weights.shape, bool)
            np.put_along_axis(is_kept, kept, True, axis=1)
            sizes[~is_kept] = 0
        features, nodes = np.nonzero(sizes >= SMALLEST)
        return cls(features + begin, nodes, weights[features, nodes])

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        features, nodes, weights = zip(
            *((part.features, part.nodes, part.weights) for part in parts), strict=True
        )
        return cls(np.concatenate(features), np.concatenate(nodes), np.concatenate(weights))

    def heaviest(self, most: int, rarity: Weights) -> Self:
        """Return the edges that move scores most: by the weight and how rare the feature is."""
        if len(self.weights) <= most:
            return self
        contributions = np.abs(self.weights) * rarity[self.features]
        kept = np.sort(np.argpartition(-contributions, most - 1)[:most])
        return type(self)(self.features[kept], self.nodes[kept], self.weights[kept])


def _heaviest(model: Model, options: Options) -> tuple[_Edges, int]:
    """Return the edges within the limits of the options, and the number of all weights but 0."""
    features, rarity = model.x.features, model.features.rarity
    most = features * options.max_outdegree
    if options.budget:
        most = min(most, int(max(options.budget * features, options.budget_floor)))
    parts, held, weights_but_0 = list[_Edges](), 0, 0
    for begin, weights in model.weights():
        parts.append(_Edges.of_block(begin, weights, options.max_outdegree))
        held += len(parts[-1].weights)
        weights_but_0 += int(np.count_nonzero(weights))
        if held > 2 * most:
            parts = [_Edges.joined(parts).heaviest(most, rarity)]
            held = most
    return _Edges.joined(parts).heaviest(most, rarity), weights_but_0

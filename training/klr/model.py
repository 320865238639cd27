"""A fitted model: probabilities of classes, weights of nodes, and the file of both.

The file is an intermediate form: NumPy's .npz without pickle. Its version is checked.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core import klr
from manyclass.training.klr.arrays import ByFeature
from manyclass.training.klr.crossvalidation import Outcomes
from manyclass.training.klr.features import Features
from manyclass.training.klr.kernels import LinearKernel
from manyclass.training.klr.tree import ClassTree
from manyclass.training.klr.workers import Workers
from manyclass.training.rows import Rows

VERSION: Final = 2
ROWS_AT_ONCE = 4096
NUMBERS_AT_ONCE = 1 << 22  # of weights, in one part


class ModelFault(ValueError):
    """A file that is not a model of this version."""


@dataclass(frozen=True)
class Model:
    """A linear kernel model: alpha (n, C) of the training rows `x`, by the parameters `logs`."""

    classes: list[str]
    tree: ClassTree
    features: Features
    x: ByFeature
    alpha: NDArray[np.float32]
    logs: NDArray[np.float64]
    bias: float
    class_rows: NDArray[np.int64]  # training rows of each class
    outcomes: Outcomes

    def kernel(self, workers: Workers | None = None) -> LinearKernel:
        """Return the kernel of the model with its parameters."""
        made = LinearKernel(self.x, self.tree, self.bias, workers)
        made.set(self.logs)
        return made

    def probabilities(
        self, rows: Rows, workers: Workers | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the probabilities (m, C) of the rows, some rows at a time."""
        kernel = self.kernel(workers)
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            part = rows.take(np.arange(begin, min(begin + ROWS_AT_ONCE, len(rows))))
            scores = np.empty((len(part), len(self.classes)), np.float32)
            kernel.cross_product(self.features.values(part), self.alpha.copy(), scores)
            klr.probabilities(scores, 0.0, scores)
            yield scores

    def heaviest(self, most: int) -> Iterator[tuple[str, list[tuple[int, float]]]]:
        """Yield for each feature its heaviest (node, weight) pairs by |weight|, at most `most`.

        Nodes are numbers in `tree`; the score of a class is the sum over its path of the weights
        times the values of `Features.values`, without the bias.
        """
        for begin, weights in self.weights():
            for feature, row in enumerate(weights, begin):
                kept = np.argsort(-np.abs(row), kind="stable")[:most]
                pairs = [(int(node), float(row[node])) for node in kept if row[node]]
                yield self.features.names[feature], pairs

    def weights(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the weights (m, P) of the nodes for some features, and the first feature."""
        x, tree = self.x, self.tree
        variances = self.kernel().variances
        at_once = max(1, NUMBERS_AT_ONCE // tree.nodes)
        for begin in range(0, x.features, at_once):
            end = min(begin + at_once, x.features)
            weights = np.empty((end - begin, tree.nodes), np.float32)
            klr.node_weights(
                tree.parents,
                tree.leaves,
                variances,
                x.starts,
                x.rows,
                x.values,
                self.alpha,
                begin,
                end,
                weights,
            )
            yield begin, weights

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the file."""
        return {
            "version": np.array(VERSION),
            "classes": as_bytes(self.classes),
            "features": as_bytes(self.features.names),
            "node_names": as_bytes(self.tree.names),
            "groups": as_bytes(self.tree.groups),
            "rarity": self.features.rarity,
            "parents": self.tree.parents,
            "leaves": self.tree.leaves,
            "counts": self.tree.counts,
            "x_starts": self.x.starts,
            "x_rows": self.x.rows,
            "x_values": self.x.values,
            "alpha": self.alpha,
            "logs": self.logs,
            "bias": np.array(self.bias),
            "taxonomy": np.frombuffer(json.dumps(self.tree.taxonomy).encode(), np.uint8),
            "class_rows": self.class_rows,
            "outcome_scores": self.outcomes.top_two,
            "outcome_right": self.outcomes.right,
        }

    @classmethod
    def of_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return the model of a file's arrays; ModelFault."""
        try:
            alpha = np.ascontiguousarray(arrays["alpha"], np.float32)
            tree = ClassTree(
                of_bytes(arrays["node_names"]),
                arrays["parents"].astype(np.int32),
                arrays["leaves"].astype(np.int32),
                arrays["counts"].astype(np.float64),
                of_bytes(arrays["groups"]),
                _taxonomy_of(arrays["taxonomy"]),
            )
            features = Features(of_bytes(arrays["features"]), arrays["rarity"].astype(np.float32))
            starts, rows = arrays["x_starts"].astype(np.int64), arrays["x_rows"].astype(np.int32)
            x = ByFeature(starts, rows, arrays["x_values"].astype(np.float32), len(alpha))
            classes = of_bytes(arrays["classes"])
            made = cls(
                classes,
                tree,
                features,
                x,
                alpha,
                arrays["logs"].astype(np.float64),
                float(arrays["bias"]),
                arrays["class_rows"].astype(np.int64),
                Outcomes(
                    arrays["outcome_scores"].astype(np.float64),
                    arrays["outcome_right"].astype(np.uint8),
                ),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise ModelFault(f"not a model of `manyclass fit`: {error}") from error
        made.check()
        return made

    def check(self) -> None:
        """Raise ModelFault unless the arrays fit together."""
        shapes = {
            "alpha": self.alpha.shape == (self.x.height, len(self.classes)),
            "leaves": len(self.tree.leaves) == len(self.classes),
            "counts": self.tree.counts.shape == (self.tree.nodes, len(self.logs)),
            "node names": len(self.tree.names) == self.tree.nodes,
            "features": len(self.features.names) == len(self.features.rarity) == self.x.features,
            "class rows": len(self.class_rows) == len(self.classes),
            "outcomes": self.outcomes.top_two.shape == (len(self.outcomes.right), 2),
            "finite": bool(np.isfinite(self.alpha).all() and np.isfinite(self.logs).all()),
        }
        if wrong := [name for name, right in shapes.items() if not right]:
            raise ModelFault(f"the model's arrays do not fit together: {', '.join(wrong)}")


def as_bytes(names: list[str]) -> NDArray[np.uint8]:
    """Return names as the bytes of JSON."""
    return np.frombuffer(json.dumps(names).encode(), np.uint8)


def of_bytes(encoded: NDArray[np.uint8]) -> list[str]:
    """Return the names of `as_bytes`; ValueError."""
    names = json.loads(encoded.tobytes())
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ValueError("the names are not a list of strings")
    return names


def _taxonomy_of(encoded: NDArray[np.uint8]) -> dict[str, str]:
    parents = json.loads(encoded.tobytes())
    if not isinstance(parents, dict) or not all(isinstance(each, str) for each in parents.values()):
        raise ValueError("the taxonomy is not a parent for each name")
    return parents


def write_arrays(arrays: dict[str, NDArray[Any]], file: IO[bytes]) -> None:
    """Write arrays to an open file."""
    np.savez(file, allow_pickle=False, **arrays)


def read_arrays(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file; ModelFault for another kind of file or version."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise ModelFault(f"not a file of `manyclass fit`: {error}") from error
    except Exception as error:  # zipfile and zlib have errors of their own
        raise ModelFault(f"the file is damaged: {error}") from error
    if int(arrays.get("version", np.array(0))) != VERSION:
        raise ModelFault(f"the file's version is not {VERSION}")
    return arrays

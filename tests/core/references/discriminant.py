"""The linear discriminant of classes in NumPy: written for clarity, in floating point."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def weights(
    vectors: Vectors, classes: list[str], own: dict[str, Vectors] | None = None
) -> dict[str, tuple[Vectors, float]]:
    """Return the weights and the offset of each class, from rows of length 1 and their classes.

    `own` has the vectors of descriptions. Each of them, and the mean of all rows, counts as one
    more row of its class for the mean of the class alone.
    """
    names = sorted(set(classes))
    dimension = vectors.shape[1]
    of = {name: vectors[[cls == name for cls in classes]] for name in names}
    precision = np.eye(dimension)
    mean = vectors.mean(0) if names else np.zeros(dimension)
    within = len(vectors) - len(names)
    if within > 0:
        scatter = sum((rows - rows.mean(0)).T @ (rows - rows.mean(0)) for rows in of.values())
        shrunk = dimension / (dimension + within)
        if np.trace(scatter) > 1e-9 * len(vectors):  # else all vectors of a class are equal
            scatter = scatter * dimension / np.trace(scatter)
            precision = np.linalg.inv((1 - shrunk) * scatter + shrunk * precision)
    means = {name: np.vstack([rows, mean]).mean(0) for name, rows in of.items()}
    for name, vector in (own or {}).items():
        rows = of.get(name, np.empty((0, dimension)))
        means[name] = np.vstack([rows, vector, mean]).mean(0)
    return {
        name: (precision @ mean, float(mean @ precision @ mean) / 2) for name, mean in means.items()
    }


def scores(of: dict[str, tuple[Vectors, float]], vector: Vectors) -> dict[str, float]:
    """Return the score of each class for a vector."""
    return {name: float(weight @ vector - offset) for name, (weight, offset) in of.items()}

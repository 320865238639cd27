"""Finds the learned events whose vectors are nearest to that of an instance."""

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np

from manyclass.core.instance import Instance
from manyclass.service.history.reader import Filter, Reader

MOST_NEAR: Final = 3  # events of a class
MOST_READ: Final = 20_000  # newest events; the time of a page may end the search before


class Near(NamedTuple):
    """The number of a learned event, and the cosine of its vector and the one searched for."""

    seq: int
    similarity: float


def nearest_of(
    reader: Reader, instance: Instance, classes: Collection[str]
) -> dict[str, list[Near]]:
    """Return the nearest events of these classes, nearest first, of the newest ones.

    Events count for the classes that they have now. Raise StoreError.
    """
    given = instance.vector
    if given is None:
        return {}
    numbers = given.astype(np.float64)
    length = float(np.linalg.norm(numbers))
    found: dict[str, list[Near]] = {name: [] for name in classes}
    for record in reader.page(Filter(with_vector=True), MOST_READ).records:
        vector = record.event.instance.vector
        if vector is None or len(vector) != len(numbers):
            continue
        wanted = [name for name in record.classes if name in found]
        if wanted:
            other = vector.astype(np.float64)
            cosine = float(numbers @ other) / (length * float(np.linalg.norm(other)))
            for name in wanted:
                found[name].append(Near(record.seq, round(cosine, 4)))
    near = {
        name: sorted(each, key=lambda one: (-one.similarity, -one.seq))
        for name, each in found.items()
    }
    return {name: each[:MOST_NEAR] for name, each in near.items() if each}

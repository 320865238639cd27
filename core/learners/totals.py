"""Sums and means over the members of a committee: the view into it as one learner."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import UnknownName
from manyclass.core.index import Index
from manyclass.core.learners.member import Member

Weighted = list[tuple[str, float]]


class Totals:
    """The contents of a committee: sums and means over its members, and its table of classes."""

    _table: Index
    _members: list[Member]

    @property
    def features(self) -> int:
        """Features of the member with most."""
        return max(each.index.features for each in self._members)

    @property
    def classes(self) -> int:
        """Classes of the events, whether a member has learned them or not."""
        return self._table.classes

    @property
    def edges(self) -> int:
        """Edges of all members."""
        return sum(each.index.edges for each in self._members)

    @property
    def bytes(self) -> int:
        """Bytes of the state, as `max_bytes` counts them; the same after a reload."""
        return self._table.bytes + sum(each.bytes for each in self._members)

    @property
    def resident_bytes(self) -> int:
        """Bytes that the indexes and shuffle buffers have from the system now."""
        of_members = (each.index.resident_bytes + each.waiting.bytes for each in self._members)
        return self._table.resident_bytes + sum(of_members)

    @property
    def evicted_features(self) -> int:
        """Features evicted by all members."""
        return sum(each.index.evicted_features for each in self._members)

    @property
    def evicted_classes(self) -> int:
        """Classes evicted by the table of classes and by all members."""
        of_members = sum(each.index.evicted_classes for each in self._members)
        return self._table.evicted_classes + of_members

    @property
    def neighbor_weight(self) -> float:
        """The weight of the vote of neighbors, as a mean over the members."""
        return sum(each.index.neighbor_weight for each in self._members) / len(self._members)

    @property
    def learned(self) -> int:
        """Instances that reached the committee so far."""
        return self._table.learned

    @property
    def active_features_ranked(self) -> int:
        """Known active features of all rankings by members since the start; not in the state."""
        return sum(each.index.active_features_ranked for each in self._members)

    @property
    def edges_touched(self) -> int:
        """Edges scored by all rankings of members since the start; not in the state."""
        return sum(each.index.edges_touched for each in self._members)

    def has_class(self, name: str) -> bool:
        """Return whether any part has the class."""
        return self._table.has_class(name) or any(each.has_class(name) for each in self._members)

    def has_feature(self, name: str) -> bool:
        """Return whether any member has the feature."""
        return any(each.has_feature(name) for each in self._members)

    def outdegrees(self) -> NDArray[np.int64]:
        """Return the number of features with 0, 1, 2, … edges; the last place: or more."""
        of_each = [each.index.outdegrees() for each in self._members]
        counts: NDArray[np.int64] = np.sum(of_each, axis=0)
        return counts

    def feature(self, name: str) -> dict[str, object]:
        """Return times_seen (the most by a member), outdegree, and means over the members.

        Means are rating, mass and edges [(class, weight)], heaviest first; a member without an edge
        weighs it 0. Raises UnknownName when no member has learned the feature.
        """
        views: list[dict[str, Any]] = [
            each.index.feature(name) for each in self._members if each.index.has_feature(name)
        ]
        if not views:
            raise UnknownName("feature", name)
        edges = self._mean([view["edges"] for view in views])
        return {
            "times_seen": max(view["times_seen"] for view in views),
            "rating": sum(view["rating"] for view in views) / len(self._members),
            "outdegree": len(edges),
            "mass": sum(view["mass"] for view in views) / len(self._members),
            "edges": edges,
        }

    def class_(self, name: str, limit: int = 100) -> dict[str, object]:
        """Return learned and features [(feature, mean weight over the members)], heaviest first.

        Raises UnknownName. Reads every row.
        """
        learned = self._table.class_(name, limit)["learned"]  # checks the arguments
        views: list[Any] = [
            each.index.class_(name, each.index.features)["features"]
            for each in self._members
            if each.index.has_class(name)
        ]
        return {"learned": learned, "features": self._mean(views)[:limit]}

    def class_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """Return (class, learned) in the order of the names' UTF-8 bytes, after `after`."""
        return self._table.class_page(prefix, after, limit)

    def feature_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """Return (feature, most times seen by a member) in the order of the names' UTF-8 bytes."""
        times: dict[str, int] = {}
        for each in self._members:
            for name, seen in each.index.feature_page(prefix, after, limit):
                times[name] = max(seen, times.get(name, 0))
        return sorted(times.items(), key=lambda named: named[0].encode())[:limit]

    def _mean(self, lists: Iterable[Weighted]) -> Weighted:
        means: dict[str, float] = {}
        for weighted in lists:
            for name, weight in weighted:
                means[name] = means.get(name, 0.0) + weight / len(self._members)
        return heaviest(means)


def heaviest(weights: Mapping[str, float]) -> Weighted:
    """Return (name, weight) by absolute weight, largest first."""
    return sorted(weights.items(), key=lambda weighted: -abs(weighted[1]))

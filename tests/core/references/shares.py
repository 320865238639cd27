"""Rows whose weights are shares: an edge's weight is its mass over the feature mass.

Edges stand heaviest first, and the `max_outdegree` first ones vote.
"""

from numpy import float32

from tests.core.references.reference import Reference
from tests.core.references.state import Edge

LONGEST_ROW = 65_535


class Shares(Reference):
    def voting(self, feature):
        return feature.edges[: self.options.max_outdegree]

    def vote_of_weight_one(self, feature, value):
        return self.rating(feature) * value / feature.mass

    def weight(self, feature, edge):
        return float(edge.mass) / feature.mass

    def grow(self, feature, name, added):
        """Add to the mass of an edge, made if there is none; by how much it grew, rounded.

        It passes the edges that are strictly lighter then.
        """
        row = feature.edges
        place = feature.place_of(name)
        if place is None:
            if len(row) == LONGEST_ROW:
                self.drop_last(feature)
            row.append(Edge(name, float32(0)))
            place = len(row) - 1
        before = row[place].mass
        row[place].mass = float32(before + added)
        grown = float(row[place].mass) - float(before)
        while place > 0 and row[place - 1].mass < row[place].mass:
            row[place - 1], row[place] = row[place], row[place - 1]
            place -= 1
        return grown

    def drop_last(self, feature):
        feature.edges.pop()

"""Rows that keep their `max_outdegree` edges of greatest absolute weight.

All edges vote. They are unordered: the last edge of a row takes the place of a removed one. Among
equally light edges the first is removed.
"""

from tests.core.references.arithmetic import is_weight
from tests.core.references.reference import Reference


class Budgeted(Reference):
    def enter(self, feature, edge):
        """Insert a new edge; return the edges that lost their place, perhaps this one."""
        if not is_weight(edge.mass):
            return [edge]
        out = []
        while len(feature.edges) > self.options.max_outdegree:
            out.append(self.remove_lightest(feature))
        if len(feature.edges) == self.options.max_outdegree:
            if abs(edge.mass) <= abs(self.lightest(feature).mass):
                return [*out, edge]
            out.append(self.remove_lightest(feature))
        feature.edges.append(edge)
        return out

    def remove_lightest(self, feature):
        edge = self.lightest(feature)
        self.remove(feature, edge)
        return edge

    @staticmethod
    def lightest(feature):
        return min(feature.edges, key=lambda edge: abs(edge.mass))

    @staticmethod
    def remove(feature, edge):
        place = feature.place_of(edge.to)
        feature.edges[place] = feature.edges[-1]
        feature.edges.pop()

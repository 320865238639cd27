"""Feature focus."""

from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, is_weight
from tests.core.references.shares import Shares

HEAVIEST_ROW = 2.0**16  # beyond it float32 sums would stall


class FeatureFocus(Shares):
    def score_within_reach(self, place, score):
        return score if place <= self.options.retrieval_window else 0.0

    def change(self, values, standing, constraints):
        for name, _ in standing.positives:
            for feature, value in self.known(values):
                self.strengthen(feature, name, float32(self.example_weight * value))
        return True

    def strengthen(self, feature, name, added):
        """Apply FSU: strengthen one edge, and with it weaken the others of its row."""
        if not is_weight(added):
            return
        feature.mass += self.grow(feature, name, added)
        row = feature.edges
        while row and float(row[-1].mass) / feature.mass < self.lightest_kept():
            self.drop_last(feature)
        while feature.mass > min(self.options.mass_cap or HEAVIEST_ROW, HEAVIEST_ROW):
            feature.mass *= 0.5
            for edge in row:
                edge.mass = float32(edge.mass * float32(0.5))
        while row and row[-1].mass < SMALLEST_WEIGHT:
            self.drop_last(feature)

    def lightest_kept(self):
        return self.options.min_weight

    def drop_last(self, feature):
        dropped = feature.edges.pop()
        if not self.options.leak:
            feature.mass -= float(dropped.mass)
            if not feature.edges:
                feature.mass = 0.0  # without a rounding residue

    def mass_after_forgetting(self, feature, gone, kept):
        """Return the mass without the removed edges; rounding never lifts a weight above 1."""
        return self.mass_of_kept(feature, gone, kept)

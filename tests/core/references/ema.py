"""EMA: exponential moving averages.

The feature mass is a scale: dividing it weakens every weight of the row at once.
"""

from numpy import float32

from tests.core.references.arithmetic import is_weight
from tests.core.references.shares import Shares

LARGEST_SCALE = 2.0**40


class MovingAverage(Shares):
    def score_within_reach(self, place, score):
        return score if place <= self.options.retrieval_window else 0.0

    def change(self, values, standing, constraints):
        for name, _ in standing.positives:
            for feature, value in self.known(values):
                self.average(
                    feature, name, min(1.0, self.options.rate * value * self.example_weight)
                )
        return True

    def average(self, feature, name, beta):
        if beta == 1:  # nothing is left of the row
            feature.edges.clear()
            feature.mass = 0.0
        feature.mass = feature.mass / (1 - beta) if feature.mass else 1.0
        gained = float32(feature.mass * beta)
        if is_weight(gained):
            self.grow(feature, name, gained)
        while feature.mass > LARGEST_SCALE:
            feature.mass /= LARGEST_SCALE
            for edge in feature.edges:
                edge.mass = float32(edge.mass / float32(LARGEST_SCALE))
        while feature.edges and self.is_light(feature, feature.edges[-1]):
            self.drop_last(feature)

    def is_light(self, feature, edge):
        return not is_weight(edge.mass) or self.weight(feature, edge) < self.options.min_weight

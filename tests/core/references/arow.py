"""AROW: adaptive regularization of weights, with a variance for each."""

from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, bounded, is_weight
from tests.core.references.signed import Signed
from tests.core.references.state import Edge


class Confidence(Signed):
    has_variances = True

    def change(self, values, standing, constraints):
        for true, score in standing.positives:
            shares = self.shares(true, score, standing)
            doubt = 0.0
            for feature, value in self.known(values):
                variances = self.variance(feature, true)
                for negative, share in shares:
                    variances += share * share * self.variance(feature, negative)
                doubt += value * value * variances
            kappa = 1 / (doubt + 1 / self.C()) / len(standing.positives)
            for feature, value in self.known(values):
                gain = self.loss(true, score, standing) * kappa * value
                shrink = kappa * value * value
                self.step(feature, true, gain, shrink)
                for negative, share in shares:
                    self.step(feature, negative, -gain * share, shrink * share * share)
        return True

    def C(self):
        return self.options.C * self.example_weight

    def step_back(self, values, name, score):
        doubt = 0.0
        for feature, value in self.known(values):
            doubt += value * value * self.variance(feature, name)
        kappa = 1 / (doubt + 1 / self.C())
        for feature, value in self.known(values):
            self.step(feature, name, -score * kappa * value, kappa * value * value)

    @staticmethod
    def variance(feature, name):
        edge = feature.edge_to(name)
        return float(edge.variance) if edge else 1.0

    def step(self, feature, name, gain, shrink):
        """Move a weight by gain times its variance, which loses shrink times its square."""
        edge = feature.edge_to(name)
        variance = self.variance(feature, name)
        left = max(float32(variance - shrink * variance * variance), SMALLEST_WEIGHT)
        moved = bounded((float(edge.mass) if edge else 0.0) + gain * variance)
        if edge is None:
            self.enter(feature, Edge(name, moved, left))
            return
        edge.mass, edge.variance = moved, left
        if not is_weight(moved):
            self.remove(feature, edge)

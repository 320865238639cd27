"""OOZ: online optimisation of slack.

The feature mass is the weight a feature has assigned to edges; the rest up to 1 is free.
"""

from dataclasses import dataclass

from numpy import float32, nextafter

from tests.core.references.arithmetic import is_weight
from tests.core.references.budget import Budgeted
from tests.core.references.state import Edge


def deductions(scores, least, beta, most):
    """Return each negative's deduction, beta in all; `scores` fall and are above `least`."""
    given = [0.0] * len(scores)
    spent = 0.0
    for n in range(1, len(scores) + 1):
        if spent >= beta:
            break
        share = beta - spent
        if n < most:
            following = scores[n] if n < len(scores) else least
            share = min(share, scores[n - 1] - following)
        for place in range(n):
            given[place] += share / n
        spent += share
    return given


@dataclass
class Giver:
    """A negative, its total deduction, and the part not yet taken by the features so far."""

    name: str
    given: float
    left: float


class Slack(Budgeted):
    def change(self, values, standing, constraints):
        rate = self.options.rate * self.example_weight
        beta = min(rate, self.options.margin_threshold / 2)
        for true, score in standing.positives:
            least = score - self.options.margin_threshold
            negatives = [(name, score) for name, score in standing.negatives if score > least]
            given = deductions(
                [score for _, score in negatives], least, beta, self.options.negatives
            )
            givers = [
                Giver(name, most, most) for (name, _), most in zip(negatives, given, strict=True)
            ]
            for feature, value in self.known(values):
                self.shift(feature, value, value * beta, true, givers)
        return True

    def shift(self, feature, value, allowed, true, givers):
        """Move at most `allowed` to the true class."""
        moved = 0.0
        for giver in givers:
            most = min(giver.left / value, value * giver.given, allowed)
            if allowed > 0 and most > 0:
                taken = self.take(feature, giver.name, most)
                moved += taken
                giver.left -= taken * value
                allowed -= taken
        feature.mass -= moved
        free = 1.0 - feature.mass - moved
        moved += max(0.0, min(free, allowed))
        feature.mass += self.give(feature, true, moved)
        feature.mass = max(feature.mass, 0.0) if feature.edges else 0.0

    def take(self, feature, name, most):
        """Lighten an edge; return the amount."""
        edge = feature.edge_to(name)
        if edge is None:
            return 0.0
        before = float(edge.mass)
        edge.mass = float32(before - min(most, before))
        if is_weight(edge.mass):
            return before - float(edge.mass)
        self.remove(feature, edge)
        return before

    def give(self, feature, name, most):
        """Add weight to an edge, rounding down; return the row's gain."""
        edge = feature.edge_to(name)
        before = float(edge.mass) if edge else 0.0
        after = float32(before + most)
        if float(after) > before + most:
            after = nextafter(after, float32(0))
        if edge:
            edge.mass = after
            return float(after) - before
        out = 0.0
        for gone in self.enter(feature, Edge(name, after)):
            out += float(gone.mass)
        return float(after) - out

    def mass_after_forgetting(self, feature, gone, kept):
        """Return the mass without the forgotten edges; rounding frees no weight in use."""
        return self.mass_of_kept(feature, gone, kept)

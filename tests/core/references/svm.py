"""A linear support vector machine with squared hinge loss, in the dual.

A demand is (class ahead, class behind); None in the place of a class means a score of 0.
"""

from math import inf

from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, total
from tests.core.references.signed import Signed

LEAST_STEP = 0.02
MANY = 8
MOST_RIVALS = 1000


class VectorMachine(Signed):
    def margin_to_leave_alone(self):
        return inf

    def most_rivals(self, true):
        if len(true) <= MANY:
            return self.options.rivals
        return min(MOST_RIVALS, self.options.rivals * len(true))

    def change(self, values, standing, demands):
        trues = [name for name, _ in standing.trues]
        made_now = [(true, None) for true in trues]
        for rival, _ in standing.rivals:
            if self.options.demands == "each" or len(trues) > MANY:
                made_now.append((None, rival))
            else:
                made_now.extend((true, rival) for true in trues)
        made_before = [demand for demand in demands if demand not in made_now]

        squares = total(value * value for value in values.values())
        steps = {}
        for demand in made_now + made_before:
            multiplier = demands.get(demand, float32(0))
            step, stiffness = self.step(demand, float(multiplier), standing, squares, steps)
            if abs(step) * stiffness <= LEAST_STEP * self.options.margin_threshold:
                continue
            demands[demand] = float32(float(multiplier) + step)
            for name, sign in zip(demand, (1, -1), strict=True):
                if name is not None:
                    steps[name] = steps.get(name, 0.0) + sign * step
        for demand in [demand for demand in demands if not demands[demand] >= SMALLEST_WEIGHT]:
            del demands[demand]
        return self.take_steps(values, steps)

    def step(self, demand, multiplier, standing, squares, steps):
        """Return the coordinate step of a multiplier, and the divisor of its violation.

        The other multipliers stay fixed.
        """
        ahead, behind = (
            0.0 if name is None else standing.scores.get(name, 0.0) + steps.get(name, 0.0) * squares
            for name in demand
        )
        margin = self.options.margin_threshold if demand[0] is not None else 0.0
        softness = 1 / (2 * self.price(demand, len(standing.trues)))
        sides = sum(name is not None for name in demand)
        missing = margin - (ahead - behind) - multiplier * softness
        stiffness = sides * squares + softness
        return max(missing / stiffness, -multiplier), stiffness

    def price(self, demand, trues):
        ahead, behind = demand
        of_true = self.options.aggressiveness / (trues if trues > MANY else 1)
        if behind is None:
            return of_true
        return min(self.options.caution, of_true) if ahead is None else self.options.caution / trues

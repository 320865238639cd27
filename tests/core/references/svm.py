"""A linear support vector machine with squared hinge loss, in the dual.

A constraint is (class ahead, class behind); None in the place of a class means a score of 0.
"""

from math import inf

from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, total
from tests.core.references.signed import Signed

LEAST_STEP = 0.02
MANY = 8
MOST_NEGATIVES = 1000


class VectorMachine(Signed):
    def margin_to_leave_alone(self):
        return inf

    def most_negatives(self, true):
        if len(true) <= MANY:
            return self.options.negatives
        return min(MOST_NEGATIVES, self.options.negatives * len(true))

    def is_to_change(self, standing):
        return bool(standing.positives or standing.rejected)

    def reject(self, values, rejected):
        return False  # `change` does

    def change(self, values, standing, constraints):
        positives = [name for name, _ in standing.positives]
        made_now = [(true, None) for true in positives]
        for negative, _ in standing.negatives if positives else []:
            if self.options.constraints == "each" or len(positives) > MANY:
                made_now.append((None, negative))
            else:
                made_now.extend((true, negative) for true in positives)
        made_now += [(None, name) for name in standing.rejected if (None, name) not in made_now]
        made_before = [constraint for constraint in constraints if constraint not in made_now]

        squares = total(value * value for value in values.values())
        steps = {}
        for constraint in made_now + made_before:
            multiplier = constraints.get(constraint, float32(0))
            step, stiffness = self.step(constraint, float(multiplier), standing, squares, steps)
            if abs(step) * stiffness <= LEAST_STEP * self.options.margin_threshold:
                continue
            constraints[constraint] = float32(float(multiplier) + step)
            for name, sign in zip(constraint, (1, -1), strict=True):
                if name is not None:
                    steps[name] = steps.get(name, 0.0) + sign * step
        for inactive in [each for each, x in constraints.items() if not x >= SMALLEST_WEIGHT]:
            del constraints[inactive]
        return self.take_steps(values, steps)

    def step(self, constraint, multiplier, standing, squares, steps):
        """Return the coordinate step of a multiplier, and the divisor of its violation.

        The other multipliers stay fixed.
        """
        ahead, behind = (
            0.0 if name is None else standing.scores.get(name, 0.0) + steps.get(name, 0.0) * squares
            for name in constraint
        )
        margin = self.options.margin_threshold if constraint[0] is not None else 0.0
        softness = 1 / (2 * self.price(constraint, len(standing.positives)))
        sides = sum(name is not None for name in constraint)
        missing = margin - (ahead - behind) - multiplier * softness
        stiffness = sides * squares + softness
        return max(missing / stiffness, -multiplier), stiffness

    def price(self, constraint, positives):
        ahead, behind = constraint
        of_true = self.options.C / (positives if positives > MANY else 1)
        if behind is None:
            price = of_true
        elif ahead is None:
            price = min(self.options.C_negative, of_true)
        else:
            price = self.options.C_negative / max(positives, 1)
        return self.example_weight * price

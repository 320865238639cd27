"""A linear support vector machine with squared hinge loss, in the dual.

A constraint is (class ahead, class behind); None in the place of a class means a score of 0.
"""

from math import sqrt

from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, bounded, is_weight, total
from tests.core.references.signed import Signed

LEAST_STEP, LEAST_STEP_OF_PAIRS, LEAST_STEP_OF_PAIRS_AGAIN = 0.02, 0.1, 0.2
MANY = 8
MOST_NEGATIVES = 1000


BIAS_BYTES = 4


class VectorMachine(Signed):
    def configure(self, options):
        super().configure(options)
        if not (options.bias and hasattr(self, "biases")):
            self.biases = {}  # of the classes; 0 for a class that is not there

    @property
    def has_many_classes(self):
        return self.options.constraints == "auto" and self.mean_classes > MANY

    def compares_pairs(self, true):
        is_each = self.options.constraints == "each" or len(true) > MANY
        return not (is_each or self.has_many_classes)

    def is_to_learn(self, name, score, standing):
        return True

    def bias_of(self, values):
        """Return the value of the bias of an instance, 0 while there is none."""
        counts = self.options.constraints == "each" or self.has_many_classes
        squares = total(value * value for _, value in self.known(values))
        return self.options.bias * sqrt(squares) if counts else 0.0

    def with_bias(self, scores, values):
        value = self.bias_of(values)
        return {
            name: score + value * float(self.biases.get(name, 0.0))
            for name, score in scores.items()
        }

    def most_negatives(self, true):
        if self.has_many_classes:
            return max(self.options.negatives, min(MOST_NEGATIVES, len(true)))
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
            if self.compares_pairs(positives):
                made_now.extend((true, negative) for true in positives)
            else:
                made_now.append((None, negative))
        made_now += [(None, name) for name in standing.rejected if (None, name) not in made_now]
        made_before = [constraint for constraint in constraints if constraint not in made_now]

        least_step = LEAST_STEP
        if self.compares_pairs(positives):
            least_step = LEAST_STEP_OF_PAIRS_AGAIN if self.is_replayed else LEAST_STEP_OF_PAIRS
        bias = self.bias_of(values)
        squares = total(value * value for value in values.values()) + bias * bias
        steps = {}
        for constraint in made_now + made_before:
            multiplier = constraints.get(constraint, float32(0))
            step, stiffness = self.step(constraint, float(multiplier), standing, squares, steps)
            if abs(step) * stiffness <= least_step * self.options.margin_threshold:
                continue
            constraints[constraint] = float32(float(multiplier) + step)
            self.move(steps, *constraint, step)
        for inactive in [each for each, x in constraints.items() if not x >= SMALLEST_WEIGHT]:
            del constraints[inactive]
        if bias:
            for name, step in steps.items():
                if name not in self.labels:
                    continue  # it is a family
                weight = bounded(float(self.biases.get(name, 0.0)) + step * bias)
                self.biases[name] = weight if is_weight(weight) else float32(0)
        return self.take_steps(values, steps)

    def step(self, constraint, multiplier, standing, squares, steps):
        """Return the coordinate step of a multiplier, and the divisor of its violation.

        The other multipliers stay fixed.
        """
        ahead, behind = (
            0.0
            if name is None
            else standing.scores.get(name, 0.0) + self.gain(name, steps) * squares
            for name in constraint
        )
        margin = self.options.margin_threshold if constraint[0] is not None else 0.0
        if None not in constraint:
            margin = self.margin(*constraint)
        softness = 1 / (2 * self.price(constraint, len(standing.positives)))
        missing = margin - (ahead - behind) - multiplier * softness
        stiffness = self.lead_moved(*constraint) * squares + softness
        return max(missing / stiffness, -multiplier), stiffness

    def gain(self, name, steps):
        """Return by how much the steps so far move a class, for an instance of length 1."""
        return steps.get(name, 0.0)

    def lead_moved(self, ahead, behind):
        """Return how far a step of 1 moves the two apart."""
        return sum(name is not None for name in (ahead, behind))

    def move(self, steps, ahead, behind, step):
        for name, signed in ((ahead, step), (behind, -step)):
            if name is not None:
                steps[name] = steps.get(name, 0.0) + signed

    def price(self, constraint, positives):
        ahead, behind = constraint
        if self.has_many_classes:
            of_true = self.options.C / (2 * self.mean_classes)
        else:
            of_true = self.options.C / (positives if positives > MANY else 1)
        if behind is None:
            price = of_true
        elif ahead is None:
            price = min(self.options.C_negative, of_true)
        else:
            price = self.options.C_negative / max(positives, 1)
        return self.example_weight * price

    def retire(self, name):
        self.biases.pop(name, None)
        super().retire(name)

    @property
    def class_bytes(self):
        return super().class_bytes + (BIAS_BYTES * len(self.labels) if self.options.bias else 0)

    def dump(self):
        arrays = super().dump()
        if self.options.bias:
            arrays["class_bias"] = [0.0] * self.class_ids.made
            for name, label in self.labels.items():
                arrays["class_bias"][label.id] = float(self.biases.get(name, 0.0))
        return arrays

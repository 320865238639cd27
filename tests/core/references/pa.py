"""PA-II: passive-aggressive."""

from tests.core.references.arithmetic import total
from tests.core.references.signed import Signed


class PassiveAggressive(Signed):
    def change(self, values, standing, constraints):
        squares = total(value * value for value in values.values())
        softness = self.softness()
        steps = {}
        for true, score in standing.positives:
            tau = self.loss(true, score, standing) / (squares + softness) / len(standing.positives)
            steps[true] = steps.get(true, 0.0) + tau
            for negative, share in self.shares(true, score, standing):
                steps[negative] = steps.get(negative, 0.0) - tau * share
        return self.take_steps(values, steps)

    def softness(self):
        return 1 / (2 * self.options.C * self.example_weight)

    def step_back(self, values, name, score):
        squares = total(value * value for value in values.values())
        self.take_steps(values, {name: -(score / (squares + self.softness()))})

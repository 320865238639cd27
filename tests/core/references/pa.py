"""PA-II: passive-aggressive."""

from tests.core.references.arithmetic import total
from tests.core.references.signed import Signed


class PassiveAggressive(Signed):
    def change(self, values, standing, demands):
        squares = total(value * value for value in values.values())
        softness = 1 / (2 * self.options.aggressiveness)
        steps = {}
        for true, score in standing.trues:
            tau = self.loss(score, standing) / (squares + softness) / len(standing.trues)
            steps[true] = steps.get(true, 0.0) + tau
            for rival, share in self.shares(score, standing):
                steps[rival] = steps.get(rival, 0.0) - tau * share
        return self.take_steps(values, steps)

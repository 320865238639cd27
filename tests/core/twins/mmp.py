"""MMP: the multi-class multi-label perceptron, with uniform shares."""

from tests.core.twins.signed import Signed


class Perceptron(Signed):
    def margin_to_leave_alone(self):
        return 0.0

    def change(self, values, standing, demands):
        pairs = {
            true: [name for name, rival_score in standing.rivals if rival_score >= score]
            for true, score in standing.trues
        }
        count = sum(len(rivals) for rivals in pairs.values())
        steps = {}
        for true, rivals in pairs.items():
            if not rivals:
                steps[true] = 1.0
            for rival in rivals:
                steps[true] = steps.get(true, 0.0) + 1 / count
                steps[rival] = steps.get(rival, 0.0) - 1 / count
        return self.take_steps(values, steps)

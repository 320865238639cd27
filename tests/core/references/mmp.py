"""MMP: the multi-class multi-label perceptron, with uniform shares."""

from tests.core.references.signed import Signed


class Perceptron(Signed):
    def margin_to_leave_alone(self):
        return 0.0

    def change(self, values, standing, constraints):
        pairs = {
            true: [name for name, negative_score in standing.negatives if negative_score >= score]
            for true, score in standing.positives
        }
        count = sum(len(negatives) for negatives in pairs.values())
        steps = {
            true: len(negatives) / count if negatives else 1.0 for true, negatives in pairs.items()
        }
        for negative, _ in standing.negatives:
            its_pairs = sum(negative in negatives for negatives in pairs.values())
            if its_pairs:
                steps[negative] = -its_pairs / count
        weighted = {name: step * self.example_weight for name, step in steps.items()}
        return self.take_steps(values, weighted)

    def step_back(self, values, name, score):
        self.take_steps(values, {name: -self.example_weight})

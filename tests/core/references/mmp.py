"""MMP: the multi-class multi-label perceptron, with uniform shares."""

from tests.core.references.signed import Signed


class Perceptron(Signed):
    def margin_to_leave_alone(self):
        return 0.0

    def change(self, values, standing, demands):
        pairs = {
            true: [name for name, rival_score in standing.rivals if rival_score >= score]
            for true, score in standing.trues
        }
        count = sum(len(rivals) for rivals in pairs.values())
        steps = {true: len(rivals) / count if rivals else 1.0 for true, rivals in pairs.items()}
        for rival, _ in standing.rivals:
            its_pairs = sum(rival in rivals for rivals in pairs.values())
            if its_pairs:
                steps[rival] = -its_pairs / count
        return self.take_steps(values, steps)

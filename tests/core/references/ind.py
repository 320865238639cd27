"""IND: P(class given feature)."""

from math import inf

from tests.core.references.ff import FeatureFocus


class Independent(FeatureFocus):
    def margin_to_leave_alone(self):
        return inf

    def score_within_reach(self, place, score):
        return score

    def lightest_kept(self):
        return 0.0

    def voting(self, feature):
        return [
            edge
            for edge in super().voting(feature)
            if self.weight(feature, edge) >= self.options.min_weight
        ]

"""Rows of signed weights, and steps: a class's step of g moves its weights by g times the value."""

from tests.core.references.arithmetic import bounded, is_weight, total
from tests.core.references.edge_budget import EdgeBudgeted
from tests.core.references.state import Edge


class Signed(EdgeBudgeted):
    signed = True

    def take_steps(self, values, steps):
        """Take the steps (class -> amount) in order; return true if there are any."""
        for feature, value in self.known(values):
            for name, step in steps.items():
                self.add(feature, name, step * value)
        return bool(steps)

    def add(self, feature, name, gain):
        edge = feature.edge_to(name)
        if edge is None:
            self.enter(feature, Edge(name, bounded(gain)))
            return
        edge.mass = bounded(float(edge.mass) + gain)
        if not is_weight(edge.mass):
            self.remove(feature, edge)

    def reject(self, values, rejected):
        """Step back, by its loss, each class with a score above 0."""
        changed = False
        for name in rejected:
            work = self.active_features_ranked, self.edges_touched
            score = self.score_to_reject(values, name)
            self.active_features_ranked, self.edges_touched = work
            if score > 0:
                self.step_back(values, name, score)
                changed = True
        return changed

    def score_to_reject(self, values, name):
        return dict(self.retrieve(values)).get(name, 0.0)

    # --- margins ------------------------------------------------------------------------------

    def margin(self, true, negative):
        """Return the margin of a true class above a wrong one."""
        cost = self.taxonomy.cost(self.options.cost, true, negative)
        return self.options.margin_threshold * cost

    def compares_pairs(self, true):
        return True

    def negatives_of(self, wrong, true):
        if self.options.cost != "none" and self.compares_pairs(true):
            cost = {
                name: min(self.taxonomy.cost(self.options.cost, each, name) for each in true)
                for name, _ in (wrong if true else [])
            }
            margin = self.options.margin_threshold
            wrong = sorted(  # of equal sums the better ranked first, as they come
                wrong, key=lambda each: -(each[1] + margin * cost.get(each[0], 0.0))
            )
        return wrong[: self.most_negatives(true)]

    def is_to_learn(self, name, score, standing):
        if self.options.cost == "none":
            return super().is_to_learn(name, score, standing)
        return score <= self.options.margin_threshold or any(
            score - its_score <= self.margin(name, negative)
            for negative, its_score in standing.negatives
        )

    def loss(self, true, score, standing):
        violations = [self.options.margin_threshold - score]
        for name, its_score in standing.negatives:
            violations.append(self.margin(true, name) - score + its_score)
        return max(violations)

    def shares(self, true, score, standing):
        """Return (name, share) of the negatives within the margin, by their violation of it."""
        too_close = {}
        for name, its_score in standing.negatives:
            violation = self.margin(true, name) - score + its_score
            if violation > 0:
                too_close[name] = violation
        whole = total(too_close.values())
        return [(name, violation / whole) for name, violation in too_close.items()]

    # --- sparsifying a finished model -------------------------------------------------------------

    def sparsify(self, wanted):
        """Keep the heaviest edges, `wanted` in all; return the number of removed ones.

        Of those as heavy as the lightest one kept, those of the features with the smallest ids
        stay. A row is gone through from the front; one that goes is replaced by the last, which
        comes next.
        """
        while self.retired:
            self.sweep()
        before = self.edges
        if wanted < before:
            weights = [abs(edge.mass) for row in self.rows.values() for edge in row.edges]
            weights.sort(reverse=True)
            least = weights[wanted]
            room = wanted - sum(weight > least for weight in weights)
            for feature in sorted(self.rows.values(), key=lambda feature: feature.id):
                room = self.thin_out(feature, least, room)
        return before - self.edges

    def thin_out(self, feature, least, room):
        place = 0
        while place < len(feature.edges):
            weight = abs(feature.edges[place].mass)
            if weight < least or (weight == least and room == 0):
                self.remove(feature, feature.edges[place])
                continue
            room -= weight == least
            place += 1
        return room

"""One budget of edges for a whole learner: the edges that move scores least go, in rounds."""

import numpy as np
from numpy import float32

from tests.core.references.arithmetic import log
from tests.core.references.budget import Budgeted

ROUND = 8  # a round is done while the edges grow by this part of them
EXTRA = 64  # edges that an update passes while the budget is exceeded by far
LEAST_PART = float32(0.5)  # of the threshold: a lighter edge is not made
BUCKETS = 2040  # of contributions, by their exponent and the first three bits of their fraction


def bucket_of(contribution):
    return int(float32(contribution).view(np.uint32)) >> 20


def lower_bound(bucket):
    return np.uint32(bucket << 20).view(float32)


class EdgeBudgeted(Budgeted):
    """Rows whose first edges are settled; the mass of a row is their number."""

    made = 0  # edges, by the last update
    least = float32(0)  # contribution of an edge that this update makes

    def configure(self, options):
        super().configure(options)
        if not (options.budget and hasattr(self, "histogram")):
            self.edge_hand = 0
            self.threshold = float32(0)
            self.histogram = [0] * BUCKETS

    def enter(self, feature, edge):
        is_light = self.contribution(feature, edge) < self.least
        if is_light and edge.to not in self.unreached:
            return [edge]
        out = super().enter(feature, edge)
        self.made += edge not in out
        return out

    def remove(self, feature, edge):
        place, edges = feature.place_of(edge.to), feature.edges
        if place < feature.mass:
            feature.mass -= 1
            edges[place] = edges[int(feature.mass)]
            place = int(feature.mass)
        edges[place] = edges[-1]
        edges.pop()

    def mass_after_forgetting(self, feature, gone, kept):
        settled = feature.edges[: int(feature.mass)]
        return float(sum(any(edge is each for each in kept) for edge in settled))

    def improve(self, values, true, constraints, rejected=()):
        self.made = 0
        self.forget_retired(feature for feature, _ in self.known(values))
        is_limited = self.options.budget and self.is_near
        self.least = self.threshold * LEAST_PART if is_limited else float32(0)
        changed = super().improve(values, true, constraints, rejected)
        if self.options.budget:
            self.spend()
        return changed

    @property
    def most_edges(self):
        return max(self.options.budget * len(self.rows), self.options.budget_floor)

    @property
    def is_near(self):
        return self.edges > self.most_edges * (1 - 1 / ROUND)

    def spend(self):
        """Sweep rows until the hand has passed ROUND times the edges that were made."""
        if not self.is_near:
            return
        left = self.made * ROUND
        if self.edges > self.most_edges * (1 + 1 / ROUND):
            left += EXTRA
        by_id = {feature.id: feature for feature in self.rows.values()}
        while left > 0:
            if self.edge_hand >= self.feature_ids.made:
                self.begin_round()
                if not self.is_near:
                    return
            feature = by_id.get(self.edge_hand)
            self.edge_hand += 1
            outdegree = len(feature.edges) if feature else 0
            left -= min(left, outdegree + 1)
            if outdegree:
                self.sweep_row(feature)

    def contribution(self, feature, edge):
        scale = 1.0
        if self.options.tfidf:
            scale += log((1.0 + self.counted) / (1.0 + feature.times_seen))
        return float32(abs(float(edge.mass)) * scale)

    def sweep_row(self, feature):
        kept = []
        for place, edge in enumerate(feature.edges):
            contribution = self.contribution(feature, edge)
            if place < feature.mass and contribution < self.threshold:
                continue
            self.histogram[bucket_of(contribution)] += 1
            kept.append(edge)
        feature.edges = kept
        feature.mass = float(len(kept))

    def begin_round(self):
        """Find the threshold by which a round of as much growth ends at the budget."""
        excess = self.edges + self.edges / ROUND - self.most_edges
        self.threshold = float32(0)
        for bucket in range(BUCKETS - 1):
            if excess <= 0:
                break
            here = float(self.histogram[bucket])
            low, high = lower_bound(bucket), lower_bound(bucket + 1)
            if here > 0:
                self.threshold = low + (high - low) * float32(min(1.0, excess / here))
            excess -= here
        self.histogram = [0] * BUCKETS
        self.edge_hand = 0

    def dump(self):
        arrays = super().dump()
        if self.options.budget:
            arrays["budget_hand"] = [self.edge_hand]
            arrays["budget_threshold"] = [float(self.threshold)]
            arrays["budget_histogram"] = self.histogram
        return arrays

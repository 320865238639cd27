"""The baseline: rank the most frequent classes first and ignore the instance."""

from manyclass.core.outcome import Learned
from tests.core.references.reference import Reference, best_two

PLACE_BYTES = 64  # of a class in the ordered set


class Frequency(Reference):
    has_edges = False

    def retrieve(self, values):
        counts = self.in_order((name, label.learned) for name, label in self.labels.items())
        counts = counts[: self.options.retrieval_window]
        whole = sum(count for _, count in counts)
        return [(name, count / whole) for name, count in counts]

    def rank(self, instance, k=5, threshold=None, among=None):
        if among is None:
            return super().rank(instance, k, threshold)
        counts = self.in_order((name, label.learned) for name, label in self.labels.items())
        whole = sum(count for _, count in counts[: self.options.retrieval_window])
        ranked = [(name, count / whole) for name, count in counts if name in among]
        return [scored for scored in ranked if threshold is None or scored[1] > threshold][:k]

    @property
    def class_bytes(self):
        return super().class_bytes + PLACE_BYTES * len(self.labels)

    def explain(self, instance, classes, limit=10):
        return [[] for _ in classes]

    def learn(self, instance, classes, is_first_epoch=True, rejected=(), weight=1.0):
        ranked = self.retrieve(instance)
        before = self.sizes
        self.learned += 1
        self.counted += is_first_epoch
        true = self.meet_classes(dict.fromkeys(classes))
        self.keep_within_limits(before)
        ranks = [place for place, (name, _) in enumerate(ranked, start=1) if name in classes]
        return Learned(min(ranks, default=0), bool(true), *best_two(ranked))

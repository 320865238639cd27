"""Forgetting and eviction: which names go, and when the edges to them do."""

from tests.core.references.past import is_gone
from tests.core.references.state import Gone

WINDOW = 64  # ids looked at to find the one to evict
SURPLUS = 1000  # an event evicts so many of the names beyond a limit before it,
SURPLUS_BYTES = 2**16  # or so many bytes
ROWS_SWEPT = 64  # by each event, of edges to forgotten classes


def pick(hand, idle):
    """Return the id to evict and the next place of the hand.

    The id is the one idle longest of the next WINDOW ids, or of the first window that has one that
    can go. `idle` has the idleness of each id, None for an id that cannot go.
    """
    for looked in range(0, len(idle), WINDOW):
        window = [(hand + i) % len(idle) for i in range(min(WINDOW, len(idle) - looked))]
        hand = (hand + len(window)) % len(idle)
        found = [(*idle[id], id) for id in window if idle[id] is not None]
        if found:
            return min(found, key=lambda each: each[:-1])[-1], hand  # of equal ones the first met
    return None, hand


class Forgetting:
    """The part of a reference by which names leave it."""

    def forget_class(self, name):
        known = name in self.labels
        if known:
            self.retire(name)
            self.sweep()
        return known

    def retire(self, name):
        """Forget a class, but for the edges to it."""
        gone = Gone(self.labels.pop(name).id)
        for feature in self.rows.values():
            for edge in feature.edges:
                if edge.to == name:
                    edge.to = gone
        self.past.forget_class(name, gone)
        if self.has_edges:
            self.retired.append(gone)
        else:
            self.class_ids.give_back(gone.id)

    def sweep(self):
        """Forget edges to retired classes in the next rows; after the last, free the classes."""
        if not self.retired:
            return
        self.sweeping = self.sweeping or len(self.retired)
        end = min(self.swept + ROWS_SWEPT, self.feature_ids.made)
        self.forget_retired(
            feature for feature in self.rows.values() if self.swept <= feature.id < end
        )
        self.swept = end
        if end == self.feature_ids.made:
            for gone in self.retired[: self.sweeping]:
                self.class_ids.give_back(gone.id)
            del self.retired[: self.sweeping]
            self.swept = self.sweeping = 0

    def forget_retired(self, features):
        for feature in features:
            gone = [edge for edge in feature.edges if is_gone(edge.to)]
            if not gone:
                continue
            kept = [edge for edge in feature.edges if not is_gone(edge.to)]
            feature.mass = self.mass_after_forgetting(feature, gone, kept)
            feature.edges = kept

    def forget_feature(self, name):
        known = name in self.rows
        if known:
            self.forget_features([name])
        return known

    def forget_features(self, names):
        for name in names:
            feature = self.rows.pop(name)
            self.past.forget_feature(name, Gone(feature.id))
            self.feature_ids.give_back(feature.id)

    def evict_feature(self):
        """Forget one that was idle long, nothing that the event has touched; whether one went."""
        name_of = {feature.id: name for name, feature in self.rows.items()}
        idle = [
            self.idleness(self.rows[name_of[id]]) if id in name_of else None
            for id in range(self.feature_ids.made)
        ]
        id, self.feature_hand = pick(self.feature_hand, idle)
        if id is None:
            return False
        self.forget_features([name_of[id]])
        self.evicted_features += 1
        return True

    def idleness(self, feature):
        in_use = feature.last_seen == self.learned
        return None if in_use else (feature.last_seen, feature.times_seen)

    def evict_class(self):
        name_of = {label.id: name for name, label in self.labels.items()}
        idle = [None] * self.class_ids.made
        for label in self.labels.values():
            if label.last_learned != self.learned and self.can_evict(name_of[label.id]):
                idle[label.id] = (label.last_learned, label.learned)
        id, self.class_hand = pick(self.class_hand, idle)
        if id is None:
            return False
        self.retire(name_of[id])
        self.evicted_classes += 1
        return True

    def can_evict(self, name):
        return True

    def has_room_for_class(self):
        return len(self.labels) < self.options.max_classes or self.evict_class()

    @property
    def sizes(self):
        return len(self.rows), len(self.labels), self.bytes

    def keep_within_limits(self, before):
        """Evict features, or classes if these take more than half; the others if none is left.

        A limit that was lowered since is approached step by step.
        """
        options = self.options
        features = max(options.max_features, before[0] - SURPLUS)
        classes = max(options.max_classes, before[1] - SURPLUS)
        most_bytes = max(options.max_bytes, before[2] - SURPLUS_BYTES)
        while len(self.rows) > features and self.evict_feature():
            pass
        while len(self.labels) > classes and self.evict_class():
            pass
        while self.bytes > most_bytes:
            ways = [self.evict_feature, self.evict_class]
            if self.class_bytes > options.max_bytes // 2:
                ways.reverse()
            if not any(evict() for evict in ways):
                break

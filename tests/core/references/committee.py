"""The slow and plain reference of the committee; its members are references of the learner.

It is written from the definition of the learner (docs/learners.md, core/native/ensemble/)
and shares no code with it. An instance is a dict name -> value here.
"""

from dataclasses import dataclass, field
from hashlib import blake2b

from manyclass.core.learners.ensemble import members_of
from manyclass.core.learners.options import Options
from manyclass.core.outcome import Learned
from tests.core.references import reference_of
from tests.core.references.reference import Reference, best_two

NOMINATED = 50
EVENT_BYTES = 100


def draw(purpose, seed, number):
    numbers = seed.to_bytes(8, "little") + number.to_bytes(8, "little")
    digest = blake2b(numbers, digest_size=8, person=purpose).digest()
    return int.from_bytes(digest, "little")


def options_of_parts(options):
    """Return the limits of the class table and of each member, and a member's buffer bytes."""
    members = members_of(options)
    part = options.max_bytes // (1 + len(members) + sum(m.shuffle != 0 for m in members))
    limited = [
        Options(**{**member.to_dict(), "max_bytes": min(part, member.max_bytes)})
        for member in members
    ]
    return Options(max_classes=options.max_classes, max_bytes=part), limited, part


@dataclass
class BufferedEvent:
    instance: dict
    classes: list
    is_first_epoch: bool
    rejected: list
    weight: float

    @property
    def bytes(self):
        """The bytes of its event: 11 and 8 around it, names with their sizes, values if not 1.

        With a weight or rejected classes, a count and the weight are 12 more.
        """
        names = [*self.instance, *self.classes, *self.rejected]
        return (
            EVENT_BYTES
            + (12 if self.rejected or self.weight != 1 else 0)
            + 11
            + 8
            + sum(2 + len(name.encode()) for name in names)
            + sum(8 for value in self.instance.values() if value != 1)
        )


@dataclass
class MemberReference:
    learner: Reference
    waiting: list[BufferedEvent] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)

    def meet(self, number, event, waiting_limit):
        options = self.learner.options
        if draw(b"subsample", options.seed, number) / 2**64 >= options.subsample:
            return False
        self.waiting.append(event)
        updated = False
        while self.waiting and (
            len(self.waiting) > options.shuffle or self.waiting_bytes > waiting_limit
        ):
            place = draw(b"shuffle", options.seed, self.learner.learned) % len(self.waiting)
            self.waiting[place], self.waiting[-1] = self.waiting[-1], self.waiting[place]
            due = self.waiting.pop()
            arguments = due.instance, due.classes, due.is_first_epoch, due.rejected, due.weight
            if self.learner.learn(*arguments)[1]:
                updated = True
        return updated

    @property
    def waiting_bytes(self):
        return sum(event.bytes for event in self.waiting)


class CommitteeReference:
    def __init__(self, options):
        self.options = options
        table, members, self.waiting_limit = options_of_parts(options)
        self.table = reference_of(table)
        self.taxonomy = self.table.taxonomy
        self.members = [MemberReference(reference_of(member)) for member in members]

    def configure(self, options):
        self.options = options
        table, members, self.waiting_limit = options_of_parts(options)
        self.table.configure(table)
        for member, its_own in zip(self.members, members, strict=True):
            member.learner.configure(its_own)

    # --- ranking ----------------------------------------------------------------------------------

    def nominations(self, instance, among=None):
        deepest = NOMINATED if among is None else len(among)
        return [
            [
                (name, score)
                for name, score in member.learner.rank(instance, deepest, None, among)
                if name in self.table.labels
            ]
            for member in self.members
        ]

    def retrieve(self, nominations):
        """Return every nominated class with its score, best first."""
        firsts = [nominated[0][0] for nominated in nominations if nominated]
        names = list(dict.fromkeys(name for nominated in nominations for name, _ in nominated))
        scores = {}
        for name in names:
            total = 0.0
            for nominated in nominations:
                total += relative(nominated).get(name, 0.0)
            mean = total / len(nominations)
            scores[name] = mean if self.options.vote == "score" else firsts.count(name) + mean
        if self.options.vote == "rarest" and firsts:
            least = min(self.table.labels[name].learned for name in firsts)
            rare = [
                name
                for name in names
                if name in firsts and self.table.labels[name].learned == least
            ]
            best = max(scores[name] for name in rare)
            rarest = next(name for name in rare if scores[name] == best)
            total = sum(relative(nominated).get(rarest, 0.0) for nominated in nominations)
            scores[rarest] = len(nominations) + total / len(nominations)
        return sorted(scores.items(), key=lambda scored: scored[1], reverse=True)

    def rank(self, instance, k=5, threshold=None, among=None):
        ranked = self.retrieve(self.nominations(instance, among))
        if threshold is not None:
            ranked = [scored for scored in ranked if scored[1] > threshold]
        return ranked[:k]

    def explain(self, instance, classes, limit=10):
        answer = []
        nominations = self.nominations(instance)
        for wanted in classes:
            gave = {}
            for member, nominated in zip(self.members, nominations, strict=True):
                scores = [score for _, score in nominated]
                if not scores or max(scores) == min([0.0, *scores]):
                    continue
                span = max(scores) - min([0.0, *scores])
                (reasons,) = member.learner.explain(instance, [wanted], len(instance))
                for feature, part in reasons:
                    gave[feature] = gave.get(feature, 0.0) + part / span / len(self.members)
            answer.append(
                sorted(gave.items(), key=lambda given: abs(given[1]), reverse=True)[:limit]
            )
        return answer

    def paths(self, instance, classes, limit=10):
        return [[] for _ in classes]

    # --- learning ---------------------------------------------------------------------------------

    def learn(self, instance, classes, is_first_epoch=True, rejected=(), weight=1.0):
        classes = list(dict.fromkeys(classes))
        nominations = self.nominations(instance)
        ranked = self.retrieve(nominations)
        number = self.table.learned
        self.table.learn({}, classes)
        updated = []
        for member, nominated in zip(self.members, nominations, strict=True):
            if is_first_epoch and classes:
                member.ranks.append(place_of(classes, nominated))
            event = BufferedEvent(instance, classes, is_first_epoch, [*rejected], weight)
            updated.append(member.meet(number, event, self.waiting_limit))
        return Learned(place_of(classes, ranked), any(updated), *best_two(ranked))

    def forget_class(self, name):
        known = self.has_class(name)
        self.table.forget_class(name)
        for member in self.members:
            member.learner.forget_class(name)
            for event in member.waiting:
                event.classes = [other for other in event.classes if other != name]
                event.rejected = [other for other in event.rejected if other != name]
            member.waiting = [event for event in member.waiting if event.classes or event.rejected]
        return known

    def forget_feature(self, name):
        known = self.has_feature(name)
        for member in self.members:
            member.learner.forget_feature(name)
            for event in member.waiting:
                event.instance = {
                    other: value for other, value in event.instance.items() if other != name
                }
        return known

    # --- inspection -------------------------------------------------------------------------------

    def has_class(self, name):
        return name in self.table.labels or any(
            name in member.learner.labels
            or any(name in event.classes + event.rejected for event in member.waiting)
            for member in self.members
        )

    def has_feature(self, name):
        return any(
            name in member.learner.rows or any(name in event.instance for event in member.waiting)
            for member in self.members
        )

    @property
    def features(self):
        return max(member.learner.features for member in self.members)

    @property
    def classes(self):
        return self.table.classes

    @property
    def learned(self):
        return self.table.learned

    @property
    def bytes(self):
        return self.table.bytes + sum(
            member.learner.bytes + member.waiting_bytes for member in self.members
        )

    @property
    def evicted_classes(self):
        return self.table.evicted_classes + self.sum_of("evicted_classes")

    def sum_of(self, counter):
        """Return the sum of a counter over the members."""
        return sum(getattr(member.learner, counter) for member in self.members)

    def feature(self, name):
        views = [
            member.learner.feature(name) for member in self.members if name in member.learner.rows
        ]
        edges = self.means([view["edges"] for view in views])
        return {
            "times_seen": max(view["times_seen"] for view in views),
            "rating": sum(view["rating"] for view in views) / len(self.members),
            "outdegree": len(edges),
            "mass": sum(view["mass"] for view in views) / len(self.members),
            "edges": edges,
        }

    def class_(self, name, limit=100):
        features = self.means(
            member.learner.class_(name, len(member.learner.rows))["features"]
            for member in self.members
            if name in member.learner.labels
        )
        return {"learned": self.table.labels[name].learned, "features": features[:limit]}

    def feature_page(self, prefix, after, limit):
        times = {}
        for member in self.members:
            for name, feature in member.learner.rows.items():
                if name.startswith(prefix) and name.encode() > after.encode():
                    times[name] = max(times.get(name, 0), feature.times_seen)
        return sorted(times.items(), key=lambda named: named[0].encode())[:limit]

    def means(self, lists):
        total = {}
        for weights in lists:
            for name, weight in weights:
                total[name] = total.get(name, 0.0) + weight / len(self.members)
        return sorted(total.items(), key=lambda weighted: abs(weighted[1]), reverse=True)


def relative(nominated):
    """Return the place of each score between the lowest, or 0 if none is below it, and the best."""
    scores = dict(nominated)
    lowest = min([0.0, *scores.values()])
    best = max(scores.values(), default=lowest)
    if best == lowest:
        return dict.fromkeys(scores, 1.0)
    return {name: (score - lowest) / (best - lowest) for name, score in scores.items()}


def place_of(classes, ranked):
    names = [name for name, _ in ranked]
    return min((names.index(name) + 1 for name in classes if name in names), default=0)

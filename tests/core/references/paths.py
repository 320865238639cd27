"""Learners along the paths of the taxonomy: a class scores its own weights and those above it.

A class with others below it has a family, of itself and all below it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from tests.core.references.arithmetic import total
from tests.core.references.pa import PassiveAggressive
from tests.core.references.state import Class, Family, Gone
from tests.core.references.svm import VectorMachine

CLASS_BYTES = 52
MOST_UNSCORED = 16  # classes that rank with one family


class Links:
    """The places of classes below others; some nodes are no classes."""

    def __init__(self, labels):
        self.labels = labels
        self.parents = {}
        self.below = {}  # name -> names of those right below it
        self.classes = set()
        self.coming = set()  # names that the event being learned makes classes

    @property
    def is_flat(self):
        return not self.parents

    def children(self, name):
        return sorted(self.below.get(name, ()), key=lambda child: self.labels[child].born)

    def has_children(self, name):
        return bool(self.below.get(name))

    def move(self, name, parent):
        before = self.parents.pop(name, None)
        if before is not None:
            self.below[before].remove(name)
        if parent is not None:
            self.parents[name] = parent
            self.below.setdefault(parent, set()).add(name)

    def remove(self, name):
        for each in [*self.children(name), name]:
            self.move(each, None)
        self.classes.discard(name)
        self.coming.discard(name)

    def set_class(self, name, is_class, before_learning):
        if before_learning and is_class and name not in self.classes:
            self.coming.add(name)
            return
        self.coming.discard(name)
        (self.classes.add if is_class else self.classes.discard)(name)

    def admit(self):
        self.classes |= self.coming
        self.coming.clear()

    # --- paths ------------------------------------------------------------------------------------

    def above(self, name):
        """Return the families of a class, from the nearest up."""
        at = name if self.has_children(name) else self.parents.get(name)
        families = []
        while at is not None:
            families.append(Family(at))
            at = self.parents.get(at)
        return families

    def path(self, id):
        """Return the class or family with the families above it."""
        if isinstance(id, str):
            return [id, *self.above(id)]
        return self.above(id.name) if self.has_children(id.name) else [id]

    def each_below(self, name, is_left_out):
        """Yield a class and those below it, each followed by its own."""
        yield name
        for child in self.children(name):
            if not (self.has_children(child) and is_left_out(child)):
                yield from self.each_below(child, is_left_out)


@dataclass
class PathScores:
    """The scores of the classes and families that edges lead to."""

    links: Links
    sums: dict[str | Family, float]

    def of(self, name):
        """Return the score of a class, or of the nearest family above it with one."""
        return next((self.sums[each] for each in self.links.path(name) if each in self.sums), 0.0)

    def scored(self):
        return {name: score for name, score in self.sums.items() if isinstance(name, str)}

    def unscored(self):
        """Return the classes that rank with a family."""
        ranked = {}
        for family, score in self.sums.items():
            if isinstance(family, str) or score <= 0 or not self.links.has_children(family.name):
                continue
            below = self.links.each_below(family.name, lambda name: Family(name) in self.sums)
            names = [name for name in below if name in self.links.classes and name not in self.sums]
            ranked |= dict.fromkeys(names[:MOST_UNSCORED], score)
        return ranked

    def with_votes(self, votes, scale):
        sums = {**self.sums}
        for name, vote in votes.items():
            sums[name] = self.of(name) + scale * vote
        return PathScores(self.links, {id: score for id, score in sums.items() if score != 0})


class PathRanking(list):
    """A ranking with the scores of which it was made."""

    def __init__(self, ranked, scores):
        super().__init__(ranked)
        self.scores = scores


class ScoresByName:
    """The scores of all classes but 0, as far as they are asked for."""

    def __init__(self, scores):
        self._scores = scores

    def __contains__(self, name):
        return self._scores.of(name) != 0

    def __getitem__(self, name):
        return self._scores.of(name)

    def get(self, name, default):
        return self._scores.of(name) or default


class Moved(NamedTuple):
    """Classes and families that a step of a pair moves, by how far, up from the class."""

    forward: dict[str | Family, float]
    back: dict[str | Family, float]

    @property
    def lead(self):
        return sum(map(self._apart, self))

    @staticmethod
    def _apart(side):
        rates = [*side.values()]
        return 1 + rates[-1] * (len(rates) - 1) if rates else 0


class OnPaths:
    """The part of a learner with signed weights that is along paths."""

    def __init__(self, options):
        super().__init__(options)
        self.links = Links(self.labels)

    # --- nodes ------------------------------------------------------------------------------------

    def placed(self, names, before_learning=False):
        taxonomy = self.taxonomy
        for name in names:
            is_new = name not in self.labels
            if is_new and (name not in taxonomy.parents or not self.has_room_for_class()):
                continue
            self.add_nodes_above(name, before_learning)
            if is_new:
                self.add_node(name, before_learning)
            else:
                self.place_node(name, before_learning)
        for name in names:
            is_gone = name in self.labels and name not in taxonomy.parents
            if is_gone and self.labels[name].learned == 0:
                self.retire(name)

    def add_nodes_above(self, name, before_learning):
        for each in self.taxonomy.path_of(name)[:-1]:
            if each not in self.labels:
                self.add_node(each, before_learning)

    def add_node(self, name, before_learning):
        self.labels[name] = Class(self.class_ids.take(), self.born, 0, self.learned)
        self.born += 1
        self.place_node(name, before_learning)

    def place_node(self, name, before_learning):
        self.links.move(name, self.taxonomy.parents.get(name))
        is_class = self.labels[name].learned > 0 or name in self.taxonomy.classes
        is_class = is_class and name in self.taxonomy.parents
        self.links.set_class(name, is_class, before_learning)

    def add_class(self, name):
        self.add_nodes_above(name, before_learning=True)
        super().add_class(name)
        self.place_node(name, before_learning=True)

    def name_class(self, label):
        super().name_class(label)
        for name, each in self.labels.items():
            if each is label and name in self.taxonomy.parents:
                self.links.set_class(name, True, before_learning=True)

    def can_evict(self, name):
        return not self.links.has_children(name)

    def forget_class(self, name):
        children = self.links.children(name)
        known = name in self.labels
        if known and not (children and self.labels[name].learned == 0):
            self.retire(name)
            if children:
                self.add_node(name, before_learning=False)
                for child in children:
                    self.place_node(child, before_learning=False)
        if known:
            self.sweep()
        return known

    def retire(self, name):
        gone = Gone(Family.ID + self.labels[name].id)
        for feature in self.rows.values():
            for edge in feature.edges:
                if edge.to == Family(name):
                    edge.to = gone
        self.links.remove(name)
        super().retire(name)

    @property
    def class_bytes(self):
        return super().class_bytes + CLASS_BYTES * len(self.labels)

    # --- ranking ----------------------------------------------------------------------------------

    def ranked_of(self, sums):
        """Return the ranking of the classes by the sums of their edges."""
        along = {}
        for id in sums:
            upwards = [sums.get(each, 0.0) for each in self.links.path(id)]
            along[id] = total(reversed(upwards))
        scores = PathScores(self.links, {id: score for id, score in along.items() if score != 0})
        return self.ranking(scores)

    def ranking(self, scores):
        return PathRanking(self.in_order((scores.scored() | scores.unscored()).items()), scores)

    def mixed(self, ranked, votes):
        if not votes or self.neighbors.scale == 0:
            return ranked
        return self.ranking(ranked.scores.with_votes(votes, self.neighbors.scale))

    def filtered(self, ranked, among):
        names = [name for name in dict.fromkeys(among) if name in self.labels]
        of = {name: ranked.scores.of(name) for name in names}
        return self.in_order(
            (name, of[name])
            for name in names
            if name in ranked.scores.sums or (of[name] > 0 and name in self.links.classes)
        )

    def explain_own(self, values, wanted):
        path = self.links.path(wanted)
        reasons = [
            (name, sum(self.vote(name, value, each) for each in path))
            for name, value in values.items()
        ]
        return [(name, votes) for name, votes in reasons if votes]

    def paths(self, instance, classes, limit=10):
        values = self.prepare(instance)
        return [
            [
                self.part_of(values, each, limit)
                for each in reversed(self.links.path(name) if name in self.labels else [])
            ]
            for name in classes
        ]

    def part_of(self, values, id, limit):
        """Return the part of a score that a class, or a family, has."""
        moved = [(name, self.vote(name, value, id)) for name, value in values.items()]
        score = 0.0
        for _, vote in moved:
            score += vote
        moved = [(name, vote) for name, vote in moved if vote]
        heaviest = sorted(moved, key=lambda each: -abs(each[1]))[:limit]
        return 0, 0.0, 0.0, heaviest, getattr(id, "name", id), score

    def vote(self, name, value, id):
        """Return what a feature adds to the score of a class, or a family."""
        return dict(self.votes(self.rows[name], value)).get(id, 0.0) if name in self.rows else 0.0

    # --- learning ---------------------------------------------------------------------------------

    def improve(self, values, true, constraints, rejected=()):
        changed = super().improve(values, true, constraints, rejected)
        self.links.admit()
        return changed

    def scores_of(self, ranked):
        return ScoresByName(ranked.scores)

    def retrieved(self, ranked):
        return [(name, score) for name, score in ranked if name in ranked.scores.sums]

    def own_scores(self, ranked, votes):
        own = ranked.scores.scored() | {name: ranked.scores.of(name) for name in votes}
        return {name: score for name, score in own.items() if score != 0}

    def score_to_reject(self, values, name):
        score = 0.0
        for feature, value in self.known(values):
            for each in self.links.path(name):
                edge = feature.edge_to(each)
                if edge is not None:
                    score += self.vote_of_weight_one(feature, value) * float(edge.mass)
        return score

    def moved(self, ahead, behind):
        """Return the parts of two paths that differ; of a class that is alone behind, itself."""
        one = self.links.path(ahead) if ahead is not None else []
        other = self.links.path(behind) if behind is not None else []
        shared = {*one} & {*other} if one else {*other[1:]}
        return Moved(*(self.by_rate(path, shared) for path in (one, other)))

    def by_rate(self, path, shared):
        rate = self.options.family_rate
        apart = [each for each in path if each not in shared]
        return {each: rate if place else 1.0 for place, each in enumerate(apart)}

    # --- steps ------------------------------------------------------------------------------------

    def gain(self, name, steps):
        return total(steps.get(each, 0.0) for each in self.links.path(name))

    def lead_moved(self, ahead, behind):
        return self.moved(ahead, behind).lead

    def move(self, steps, ahead, behind, step):
        moved = self.moved(ahead, behind)
        for side, signed in ((moved.forward, step), (moved.back, -step)):
            for each, rate in side.items():
                steps[each] = steps.get(each, 0.0) + (signed if rate == 1.0 else signed * rate)


class PathVectorMachine(OnPaths, VectorMachine):
    """`path`."""


class Hieron(OnPaths, PassiveAggressive):
    """`hieron`."""

    def change(self, values, standing, constraints):
        if self.links.is_flat:
            return super().change(values, standing, constraints)
        squares = total(value * value for value in values.values())
        steps = {}
        for true, score in standing.positives:
            loss = self.loss(true, score, standing) / len(standing.positives)
            for negative, share in self.shares(true, score, standing) or [(None, 1.0)]:
                far = max(1.0, self.lead_moved(true, negative) / 2)
                step = loss * share / (far * squares + self.softness())
                self.move(steps, true, negative, step)
        return self.take_steps(values, steps)

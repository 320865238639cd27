"""A committee: several learners that learn from the same events and vote on each ranking."""

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import InstanceError, OptionError, UnknownName
from manyclass.core.event import SMALLEST_VALUE, Event, Instance
from manyclass.core.index import Columns, Index, Node
from manyclass.core.learned import NOTHING_LEARNED, Learned
from manyclass.core.learners.ensemble import members_of, parts_of
from manyclass.core.learners.member import Member
from manyclass.core.learners.options import Options
from manyclass.core.learners.voting import Ranking, Voting
from manyclass.core.progressive_validation import DEEPEST
from manyclass.core.sections import Sections, named_within

Given = Instance | Mapping[str, float] | Iterable[str | int]
Weighted = list[tuple[str, float]]

NOTHING = Instance({})


class Committee:
    """Members with a learner and options each, and one ranking made of theirs (voting.py).

    Every member is taught every event, and takes it or not, at once or later, as its `subsample`
    and `shuffle` say. The classes are those of the events, whichever member has learned them: the
    committee has a table of its own of them, with the limits of any learner; a class that had to
    go from it is in no ranking, whatever a member still knows of it. The limit in bytes is parted
    evenly among that table, each member, and each member's waiting events. `bytes`, `edges`,
    evictions and work are the members' added up, `features` those of the member with most.

    Threads: any number may rank at once, also while another changes the committee; a ranking may
    then have votes of members that have learned an event and of others that have not.
    """

    def __init__(self, options: Options, hash_seed: int = 0) -> None:
        """A committee that knows nothing. `hash_seed` salts the tables of names, not the state."""
        table, members, waiting_limit = _parts(options)
        self._options = options
        self._table = Index(table, hash_seed)
        self._members = [Member(member, waiting_limit, hash_seed) for member in members]
        self._changing = Lock()

    @property
    def options(self) -> Options:
        """The options in force."""
        return self._options

    @property
    def members(self) -> tuple[Member, ...]:
        """The members: to read, not to teach. Each has an index and a progress of its own."""
        return tuple(self._members)

    def configure(self, options: Options) -> None:
        """Use others from the next call on; OptionError when a member would be another learner."""
        if options.learner != self._options.learner:
            message = f"cannot turn from {self._options.learner} to {options.learner}"
            raise OptionError("learner", message)
        table, members, waiting_limit = _parts(options)
        if [member.learner for member in members] != [
            member.options.learner for member in self._members
        ]:
            raise OptionError(
                "members", "the learners of a committee that has begun to learn cannot change"
            )
        with self._changing:
            self._table.configure(table)
            for member, own in zip(self._members, members, strict=True):
                member.configure(own, waiting_limit)
            self._options = options

    # --- one instance -----------------------------------------------------------------------------

    def rank(self, instance: Given, k: int = 5, threshold: float | None = None) -> Ranking:
        """The k best classes (with a score above `threshold`), best first.

        The scores are those of voting.py; each member puts forward 50 classes at most, for
        the vote by probability as many as it takes.
        """
        self._table.rank(NOTHING, k, threshold)  # which checks them
        _, ranked = self._voting.rank(_as_instance(instance), max(k, 1))
        if threshold is not None:
            ranked = [(name, score) for name, score in ranked if score > threshold]
        return ranked[:k]

    @property
    def _voting(self) -> Voting:
        return Voting([each.index for each in self._members], self._table, self._options.vote)

    def explain(self, instance: Given, classes: Sequence[str], limit: int = 10) -> list[Weighted]:
        """For each class, what each feature gave to the mean of the members' shares, most first.

        It is what the members explain, brought to the scale of the shares (for the vote by
        probability as it is, in log-odds). It adds up to the score of vote "score", unless a member
        has negative scores: their shares begin at the lowest of them, and where they begin is no
        feature's doing.
        """
        self._table.explain(NOTHING, classes, limit)  # which checks them
        instance = _as_instance(instance)
        gave: list[dict[str, float]] = [{} for _ in classes]
        for member, span in zip(self._members, self._voting.spans(instance), strict=True):
            if span == 0:
                continue
            reasons = member.index.explain(instance, classes, len(instance))
            for given, of_class in zip(gave, reasons, strict=True):
                for feature, part in of_class:
                    given[feature] = given.get(feature, 0.0) + part / span / len(self._members)
        return [_heaviest(given)[:limit] for given in gave]

    def paths(self, instance: Given, classes: Sequence[str], limit: int = 10) -> list[list[Node]]:
        """None: each member has its own."""
        return [[] for _ in classes]

    def learn(self, instance: Given, classes: Sequence[str], passes_done: int = 0) -> Learned:
        """How the instance was ranked before; updated: whether what any member learned now asked
        for that.

        With passes_done > 0 the members do not count the times seen again, and their progress
        stays as it is.
        """
        if not classes or isinstance(classes, (str, bytes)):
            raise InstanceError("classes must be an array of at least one name", ("classes",))
        classes = list(dict.fromkeys(classes))
        instance, first_pass = _as_instance(instance), index(passes_done) == 0
        with self._changing:
            nominations, ranking = self._voting.rank(instance, DEEPEST)
            number = self._table.learned
            self._table.learn(NOTHING, classes)  # before all else: it refuses what is no class
            updated = False
            for member, nominated in zip(self._members, nominations, strict=True):
                if first_pass:
                    member.progress.add(_place(nominated, classes))
                updated |= member.meet(number, instance, classes, first_pass)
            first, second, *_ = *(score for _, score in ranking[:2]), 0.0, 0.0
            return Learned(_place(ranking, classes), updated, first, second)

    def apply(self, event: Event) -> Learned:
        """Learn or forget, as the event says; NOTHING_LEARNED for what is not learned.

        Forgetting a name that is not known changes nothing.
        """
        if not isinstance(event, Event):
            raise TypeError(f"an event is wanted, not {type(event).__name__}")
        if event.kind == "learn":
            return self.learn(event.instance, event.classes)
        if event.kind == "forget_class":
            self.forget_class(event.name)
        elif event.kind == "forget_feature":
            self.forget_feature(event.name)
        return NOTHING_LEARNED

    def forget_class(self, name: str) -> bool:
        """Take the class from every member and every waiting event; whether it was there."""
        with self._changing:
            known = self._table.forget_class(name)
            for member in self._members:
                known |= member.forget_class(name)
            return known

    def forget_feature(self, name: str) -> bool:
        """Take the feature from every member and every waiting event; whether it was there."""
        with self._changing:
            known = False
            for member in self._members:
                known |= member.forget_feature(name)
            return known

    # --- many instances, as CSR arrays ------------------------------------------------------------

    def rank_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        k: int = 5,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class ids (n, k), best first, -1 where there are fewer, and scores (n, k), 0 there.

        The ids are found after the last row is ranked: a class that another thread has forgotten
        by then is -1, with the score it had.
        """
        rankings = [
            self.rank(instance, k)
            for instance in self._instances(features, indptr, indices, values, k)
        ]
        names = sorted({name for ranking in rankings for name, _ in ranking})
        id_of = dict(zip(names, self.class_ids(Columns(names)).tolist(), strict=True))
        ids = np.full((len(rankings), k), -1, np.int32)
        scores = np.zeros((len(rankings), k), np.float64)
        for row, ranking in enumerate(rankings):
            for place, (name, score) in enumerate(ranking):
                ids[row, place], scores[row, place] = id_of[name], score
        return ids, scores

    def learn_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
        passes_done: int = 0,
    ) -> NDArray[np.int32]:
        """Learn the rows in order. Ranks (n,) as from `learn`."""
        if classes is features:
            raise ValueError("features and classes need columns of their own, equal or not")
        instances = self._instances(features, indptr, indices, values)
        ones = np.ones(len(class_indices), np.float32)
        true = self._instances(classes, class_indptr, class_indices, ones)
        if len(instances) != len(true):
            raise ValueError("there must be as many rows of classes as of features")
        for row, of_row in enumerate(true):
            if len(of_row) == 0:
                raise ValueError(f"row {row} has no true class")
        ranks = [
            self.learn(instance, [name for name, _ in of_row.items()], passes_done).rank
            for instance, of_row in zip(instances, true, strict=True)
        ]
        return np.array(ranks, np.int32)

    def _instances(
        self,
        columns: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        k: int = 0,
    ) -> list[Instance]:
        """The rows with their names; what an index raises for arrays that are no rows of these
        columns, and for a k that is no number of places."""
        self._table.rank_csr(columns, indptr, indices, values, k)  # which checks them
        name_of = {column: columns[column] for column in np.unique(indices).tolist()}
        column_of, value_of = indices.tolist(), values.tolist()
        instances = []
        for begin, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
            active = zip(column_of[begin:end], value_of[begin:end], strict=True)
            instances.append(
                Instance({name_of[at]: value for at, value in active if value >= SMALLEST_VALUE})
            )
        return instances

    def plant_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
    ) -> bool:
        """Plant the trees of the members that have one to plant; whether there was any."""
        rows = (features, indptr, indices, values, classes, class_indptr, class_indices)
        with self._changing:
            if self._table.learned:
                return False
            return any([member.index.plant_csr(*rows) for member in self._members])

    def class_ids(self, classes: Columns) -> NDArray[np.int32]:
        """The id of each named class, -1 for one that was never learned."""
        return self._table.class_ids(classes)

    # --- looking inside ---------------------------------------------------------------------------

    @property
    def features(self) -> int:
        """Those of the member that has most."""
        return max(member.index.features for member in self._members)

    @property
    def classes(self) -> int:
        """Those of the events, whether a member has learned them or not."""
        return self._table.classes

    @property
    def edges(self) -> int:
        """Of all members."""
        return sum(member.index.edges for member in self._members)

    @property
    def bytes(self) -> int:
        """What the state needs, by the rule MAX_BYTES is held against; the same after a reload."""
        return self._table.bytes + sum(member.bytes for member in self._members)

    @property
    def resident_bytes(self) -> int:
        """What the indexes take from the system now, and the waiting events."""
        return self._table.resident_bytes + sum(
            member.index.resident_bytes + member.waiting.bytes for member in self._members
        )

    @property
    def evicted_features(self) -> int:
        """By all members."""
        return sum(member.index.evicted_features for member in self._members)

    @property
    def evicted_classes(self) -> int:
        """By the table of classes, and by all members."""
        return self._table.evicted_classes + sum(
            member.index.evicted_classes for member in self._members
        )

    @property
    def learned(self) -> int:
        """Instances the committee was taught so far."""
        return self._table.learned

    @property
    def active_features_ranked(self) -> int:
        """Known active features of all retrievals of all members since start; no state."""
        return sum(member.index.active_features_ranked for member in self._members)

    @property
    def edges_touched(self) -> int:
        """Edges scored by all retrievals of all members since start; no state."""
        return sum(member.index.edges_touched for member in self._members)

    def has_class(self, name: str) -> bool:
        """Whether there is anything of the class to forget."""
        return self._table.has_class(name) or any(
            member.has_class(name) for member in self._members
        )

    def has_feature(self, name: str) -> bool:
        """Whether there is anything of the feature to forget."""
        return any(member.has_feature(name) for member in self._members)

    def outdegrees(self) -> NDArray[np.int64]:
        """How many features of all members have 0, 1, 2, ... edges; the last place: and more."""
        counts: NDArray[np.int64] = np.sum(
            [member.index.outdegrees() for member in self._members], axis=0
        )
        return counts

    def feature(self, name: str) -> dict[str, object]:
        """times_seen (at most, by a member), outdegree, and means over the members of rating, mass
        and edges [(class, weight)], heaviest first; a member that has no such edge weighs it 0.

        Raises UnknownName when no member has learned it.
        """
        views: list[dict[str, Any]] = [
            member.index.feature(name) for member in self._members if member.index.has_feature(name)
        ]
        if not views:
            raise UnknownName("feature", name)
        edges = self._mean([view["edges"] for view in views])
        return {
            "times_seen": max(view["times_seen"] for view in views),
            "rating": sum(view["rating"] for view in views) / len(self._members),
            "outdegree": len(edges),
            "mass": sum(view["mass"] for view in views) / len(self._members),
            "edges": edges,
        }

    def class_(self, name: str, limit: int = 100) -> dict[str, object]:
        """learned and features [(feature, mean weight over the members)], heaviest first.

        Raises UnknownName. Reads every row.
        """
        learned = self._table.class_(name, limit)["learned"]  # which checks them
        views: list[Any] = [
            member.index.class_(name, member.index.features)["features"]
            for member in self._members
            if member.index.has_class(name)
        ]
        return {"learned": learned, "features": self._mean(views)[:limit]}

    def class_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """(class, learned) in the order of the names' UTF-8 bytes, those after `after`."""
        return self._table.class_page(prefix, after, limit)

    def feature_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """(feature, times seen at most by a member) in the order of the names' UTF-8 bytes, those
        after `after`."""
        times: dict[str, int] = {}
        for member in self._members:
            for name, seen in member.index.feature_page(prefix, after, limit):
                times[name] = max(seen, times.get(name, 0))
        return sorted(times.items(), key=lambda named: named[0].encode())[:limit]

    def _mean(self, lists: Iterable[Weighted]) -> Weighted:
        means: dict[str, float] = {}
        for weighted in lists:
            for name, weight in weighted:
                means[name] = means.get(name, 0.0) + weight / len(self._members)
        return _heaviest(means)

    # --- state ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """The whole state as flat arrays, little-endian, the same for equal states."""
        with self._changing:
            parts = {_prefix(n): member.dump() for n, member in enumerate(self._members)}
            parts["table_"] = self._table.dump()
        return {
            prefix + name: array for prefix, part in parts.items() for name, array in part.items()
        }

    @classmethod
    def load(cls, options: Options, sections: Sections, hash_seed: int = 0) -> "Committee":
        """The committee that was dumped; SnapshotError when the arrays do not make one."""
        committee = cls(options, hash_seed)
        table, members, waiting_limit = _parts(options)
        with named_within("table_"):
            committee._table = Index.load(table, _within(sections, "table_"), hash_seed)
        for n, member in enumerate(members):
            with named_within(_prefix(n)):
                committee._members[n] = Member.load(
                    member, waiting_limit, _within(sections, _prefix(n)), hash_seed
                )
        return committee


def _parts(options: Options) -> tuple[Options, list[Options], int]:
    """Return the options of the table of classes and of each member, and a shuffle buffer's bytes.

    Each has the same part of the committee's bytes.
    """
    part = options.max_bytes // parts_of(options)
    table = Options(max_classes=options.max_classes, max_bytes=part)
    members = [each.replace(max_bytes=min(each.max_bytes, part)) for each in members_of(options)]
    return table, members, part


def _prefix(position: int) -> str:
    return f"member_{position}_"


def _within(sections: Sections, prefix: str) -> Sections:
    return {
        name.removeprefix(prefix): array
        for name, array in sections.items()
        if name.startswith(prefix)
    }


def _as_instance(given: Given) -> Instance:
    if given is None:
        raise TypeError("an instance is wanted, not None")
    return given if isinstance(given, Instance) else Instance(given)


def _place(ranking: Ranking, true: Sequence[str]) -> int:
    """Where the best true class stands, 0 when none does."""
    places = (place for place, (name, _) in enumerate(ranking, start=1) if name in true)
    return next(places, 0)


def _heaviest(weights: Mapping[str, float]) -> Weighted:
    return sorted(weights.items(), key=lambda weighted: -abs(weighted[1]))

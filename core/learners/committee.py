"""A committee: learners of the same events that vote on each ranking."""

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from manyclass.core.abilities import check_ability, check_weights, within_ability
from manyclass.core.columns import Columns
from manyclass.core.ensemble import Ensemble
from manyclass.core.errors import InstanceError, OptionError
from manyclass.core.event import Event
from manyclass.core.index import Index
from manyclass.core.instance import Instance
from manyclass.core.learners.csr import Labelled, block_of, instances_of, names_of
from manyclass.core.learners.ensemble import parts_of
from manyclass.core.learners.member import Member
from manyclass.core.learners.options import Options
from manyclass.core.learners.totals import Totals, Weighted, heaviest
from manyclass.core.outcome import NOTHING_LEARNED, Learned, Node
from manyclass.core.progressive_validation import DEEPEST
from manyclass.core.sections import Sections, within
from manyclass.core.taxonomy import Taxonomy

Given = Instance | Mapping[str, float] | Iterable[str | int]

NOTHING = Instance({})
BLOCK = 4096  # rows that are learned at once; a call of another thread gets its turn between them


class Committee(Totals):
    """Members, each an index with its own learner and options, and a ranking by their vote.

    Every event reaches every member; `subsample` and `shuffle` decide whether and when it learns
    it. The committee has its own table of the classes of all events, with the limits of a
    learner; a class evicted from it is not ranked, even if a member still has it. The limit
    in bytes is divided evenly among that table, each member and each shuffle buffer. `bytes`,
    `edges`, evictions and work are sums over the members; `features` is the largest of them.

    Threads: any number may rank at once, also while another changes the committee; a ranking may
    then have votes of members that have learned an event and of others that have not.
    """

    def __init__(
        self, options: Options, hash_seed: int = 0, taxonomy: Taxonomy | None = None
    ) -> None:
        """Begin empty. `hash_seed` salts the tables of names, not the state."""
        table, members, waiting_limit = _parts(options)
        self._options = options
        self._table = Index(table, hash_seed, taxonomy)
        self._members = [
            Member(member, waiting_limit, hash_seed, self.taxonomy) for member in members
        ]
        self._changing = Lock()
        self._assemble()

    def _assemble(self) -> None:
        """Let the indexes of the members vote and learn together."""
        self._ensemble = Ensemble(self._table, [each.index for each in self._members])

    @property
    def ensemble(self) -> Ensemble:
        """The indexes of the members, voting together."""
        return self._ensemble

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of the classes, the same for every member."""
        return self._table.taxonomy

    @property
    def options(self) -> Options:
        """The options in force."""
        return self._options

    @property
    def members(self) -> tuple[Member, ...]:
        """The members, for reading only. Each has its own index and progressive accuracy."""
        return tuple(self._members)

    def configure(self, options: Options) -> None:
        """Use other options from the next call on; OptionError for another learner or members."""
        if options.learner != self._options.learner:
            message = f"cannot turn from {self._options.learner} to {options.learner}"
            raise OptionError("learner", message)
        table, members, waiting_limit = _parts(options)
        if [each.learner for each in members] != [each.options.learner for each in self._members]:
            message = "the learners of a committee that has begun to learn cannot change"
            raise OptionError("members", message)
        with self._changing:
            self._table.configure(table)
            for member, own in zip(self._members, members, strict=True):
                member.configure(own, waiting_limit)
            self._options = options

    # --- one instance -----------------------------------------------------------------------------

    def rank(
        self,
        instance: Given,
        k: int = 5,
        threshold: float | None = None,
        among: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the k best classes (with a score above `threshold`), best first.

        Each member nominates 50 classes at most; for the vote by probability, as many as needed.
        With `among`, the members vote among the classes of these names alone, and each nominates
        all of them that it ranks.
        """
        return self._ensemble.rank(instance, self._options.vote, k, threshold, among)

    def explain(self, instance: Given, classes: Sequence[str], limit: int = 10) -> list[Weighted]:
        """Return for each class the part of each feature in the mean of shares, largest first.

        The members' explanations are divided by the span of their scores (with the vote by
        probability they stay log-odds). The parts add up to the score of vote "score", unless a
        member has negative scores: its shares are then measured from its lowest score.
        """
        self._table.explain(NOTHING, classes, limit)  # checks the arguments
        instance = _as_instance(instance)
        gave: list[dict[str, float]] = [{} for _ in classes]
        is_mean = self._options.vote == "probability"
        spans = [1.0] * len(self._members) if is_mean else self._ensemble.spans(instance)
        for member, span in zip(self._members, spans, strict=True):
            if span == 0:
                continue
            reasons = member.index.explain(instance, classes, len(instance))
            for given, of_class in zip(gave, reasons, strict=True):
                for feature, part in of_class:
                    given[feature] = given.get(feature, 0.0) + part / span / len(self._members)
        return [heaviest(given)[:limit] for given in gave]

    def paths(self, instance: Given, classes: Sequence[str], limit: int = 10) -> list[list[Node]]:
        """Return no path for any class: each member has its own."""
        return [[] for _ in classes]

    def learn(
        self,
        instance: Given,
        classes: Sequence[str],
        epoch: int = 0,
        rejected: Sequence[str] = (),
        weight: float = 1.0,
    ) -> Learned:
        """Return the outcome of ranking the instance before, and whether any member was updated.

        With epoch > 0 the members do not count the times seen again, and their progressive
        accuracy does not change. InstanceError for rejected classes or a weight unless every member
        can learn them.
        """
        if not (classes or rejected) or isinstance(classes, (str, bytes)):
            raise InstanceError("classes must be an array of at least one name", ("classes",))
        if not all(isinstance(name, str) for name in classes):
            raise TypeError("the names of classes must be strings")
        event = Event.learn(_as_instance(instance), classes, rejected=rejected, weight=weight)
        check_ability(event, [self._options])
        return self._learn(event, index(epoch) == 0)

    def _learn(self, event: Event, is_first_epoch: bool) -> Learned:
        with self._changing:
            number = self._table.learned
            takes = [each.takes(number) for each in self._members]
            learned, places = self._ensemble.learn(
                event.instance,
                event.classes,
                event.rejected,
                event.weight,
                is_first_epoch,
                self._options.vote,
                DEEPEST,
                [
                    is_taken and not each.is_shuffled
                    for each, is_taken in zip(self._members, takes, strict=True)
                ],
            )
            updated = learned.updated
            for member, place, is_taken in zip(self._members, places, takes, strict=True):
                if is_first_epoch and event.classes:
                    member.progress.add(place)
                if is_taken and member.is_shuffled:
                    updated |= member.shuffle(event, is_first_epoch)
            return learned._replace(updated=updated)

    def apply(self, event: Event) -> Learned:
        """Learn or forget, by the kind of the event; return NOTHING_LEARNED for any other kind.

        Forgetting an unknown name changes nothing.
        """
        if not isinstance(event, Event):
            raise TypeError(f"an event is wanted, not {type(event).__name__}")
        if event.kind == "learn":
            if event.rejected or event.weight != 1:
                known = within_ability(event, self._options)
                return NOTHING_LEARNED if known is None else self._learn(known, True)
            return self._learn(event, True)
        if event.kind == "forget_class":
            self.forget_class(event.name)
        elif event.kind == "forget_feature":
            self.forget_feature(event.name)
        return NOTHING_LEARNED

    def placed(self, names: list[str], before_learning: bool = False) -> None:
        """Note that the taxonomy has added, changed or removed the nodes of these names."""
        with self._changing:
            for each in self._indexes():
                each.placed(names, before_learning)

    def place_all(self) -> None:
        """Note all classes of the taxonomy, for a new committee."""
        with self._changing:
            for each in self._indexes():
                each.place_all()

    def _indexes(self) -> list[Index]:
        return [self._table, *(each.index for each in self._members)]

    def forget_class(self, name: str) -> bool:
        """Remove the class from every member and shuffle buffer; return whether it was there."""
        with self._changing:
            known = self._table.forget_class(name)
            for member in self._members:
                known |= member.forget_class(name)
            return known

    def rename_class(self, name: str, to: str) -> bool:
        """Give a class a name that none has, in every member; return whether it was there."""
        with self._changing:
            known = self._table.rename_class(name, to)
            for member in self._members:
                known |= member.rename_class(name, to)
            return known

    def forget_feature(self, name: str) -> bool:
        """Remove the feature from every member and shuffle buffer; return whether it was there."""
        with self._changing:
            known = False
            for member in self._members:
                known |= member.forget_feature(name)
            return known

    def drop_example(self, instance: Instance, classes: list[str]) -> int:
        """Learn an instance with these true classes no more; return how often members kept it."""
        with self._changing:
            return sum(member.drop_example(instance, classes) for member in self._members)

    # --- many instances, as CSR arrays ------------------------------------------------------------

    def rank_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        k: int = 5,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return class ids (n, k), best first, -1 where there are fewer, and scores (n, k).

        Another thread may change the committee between blocks of 64 rows; a freed id may then stand
        for another class in later rows.
        """
        vote = self._options.vote
        return self._ensemble.rank_csr(features, indptr, indices, values, vote, k)

    def learn_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
        epoch: int = 0,
        weights: NDArray[np.float32] | None = None,
        top_two: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int32]:
        """Learn the rows in order; return the ranks (n,) as from `learn`.

        `top_two` (n, 2) receives the two highest scores before each row was learned.
        """
        rows = (features, indptr, indices, values, classes, class_indptr, class_indices)
        self._table.build_csr(*rows)  # checks the arguments; the table is not a tree
        count = len(indptr) - 1
        if top_two is not None and top_two.shape != (count, 2):
            raise ValueError(f"top_two must have the shape ({count}, 2)")
        check_weights(weights, indptr, self._options)
        ranks = np.empty(count, np.int32)
        scores = np.empty((count, 2), np.float64) if top_two is None else top_two
        for begin in range(0, count, BLOCK):
            block = slice(begin, min(count, begin + BLOCK))
            given = None if weights is None else weights[block]
            some = block_of(rows, block.start, block.stop)
            ranks[block] = self._learn_block(some, epoch, given, scores[block])
        return ranks

    def _learn_block(
        self,
        labelled: Labelled,
        epoch: int,
        weights: NDArray[np.float32] | None,
        top_two: NDArray[np.float64],
    ) -> NDArray[np.int32]:
        """Learn rows, all before a change by another thread unless events are shuffled."""
        if any(each.is_shuffled for each in self._members):
            return self._learn_events(labelled, epoch, weights, top_two)
        with self._changing:
            takes = np.ones((len(top_two), len(self._members)), np.uint8)
            first = self._table.learned
            for place, member in enumerate(self._members):
                if member.options.subsample < 1:
                    numbers = range(first, first + len(top_two))
                    takes[:, place] = [member.takes(number) for number in numbers]
            ranks, places = self._ensemble.learn_csr(
                *labelled,
                weights=weights,
                is_first_epoch=epoch == 0,
                vote=self._options.vote,
                deepest=DEEPEST,
                takes=takes,
                top_two=top_two,
            )
            if epoch == 0:
                for member, of_member in zip(self._members, places.T, strict=True):
                    member.progress.add_all(of_member)
        return ranks

    def _learn_events(
        self,
        labelled: Labelled,
        epoch: int,
        weights: NDArray[np.float32] | None,
        top_two: NDArray[np.float64],
    ) -> NDArray[np.int32]:
        """Learn rows one by one, as events that a shuffle buffer can keep."""
        instances = instances_of(*labelled[:4])
        given = [1.0] * len(instances) if weights is None else weights.tolist()
        ranks = np.empty(len(instances), np.int32)
        for row, (classes, weight) in enumerate(zip(names_of(*labelled[4:]), given, strict=True)):
            learned = self.learn(instances[row], classes, epoch, (), weight)
            ranks[row], top_two[row] = learned.rank, (learned.first, learned.second)
        return ranks

    def build_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
    ) -> bool:
        """Build the trees of members that need one built; return True if there was any."""
        rows = (features, indptr, indices, values, classes, class_indptr, class_indices)
        with self._changing:
            if self._table.learned:
                return False
            return any([member.index.build_csr(*rows) for member in self._members])

    def class_ids(self, classes: Columns) -> NDArray[np.int32]:
        """Return the id of each class, -1 for an unknown class."""
        return self._table.class_ids(classes)

    # --- state ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the whole state as flat arrays, little-endian, the same for equal states."""
        with self._changing:
            parts = {_prefix(n): member.dump() for n, member in enumerate(self._members)}
            parts["table_"] = self._table.dump()
        return {
            prefix + name: array for prefix, part in parts.items() for name, array in part.items()
        }

    @classmethod
    def load(
        cls,
        options: Options,
        sections: Sections,
        hash_seed: int = 0,
        taxonomy: Taxonomy | None = None,
    ) -> "Committee":
        """Return the dumped committee; raise SnapshotError for an invalid state."""
        committee = cls(options, hash_seed, taxonomy)
        table, members, waiting_limit = _parts(options)
        with within(sections, "table_") as own:
            committee._table = Index.load(table, own, hash_seed, committee.taxonomy)
        for n, member in enumerate(members):
            with within(sections, _prefix(n)) as own:
                committee._members[n] = Member.load(
                    member, waiting_limit, own, hash_seed, committee.taxonomy
                )
        committee._assemble()
        return committee


def _parts(options: Options) -> tuple[Options, list[Options], int]:
    """Return the options of the table of classes and of each member, and a shuffle buffer's bytes.

    Each has the same part of the committee's bytes.
    """
    part = options.max_bytes // parts_of(options)
    table = Options(max_classes=options.max_classes, max_bytes=part)
    members = [each.replace(max_bytes=min(each.max_bytes, part)) for each in options.member_options]
    return table, members, part


def _prefix(position: int) -> str:
    return f"member_{position}_"


def _as_instance(given: Given) -> Instance:
    if given is None:
        raise TypeError("an instance is wanted, not None")
    return given if isinstance(given, Instance) else Instance(given)

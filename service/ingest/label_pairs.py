"""The labels of instances in the queue that two reviewers label, the second without seeing the
first."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence

import msgspec

from manyclass.service.ingest.queue_contents import QueueContents
from manyclass.service.ingest.queued_instance import Choice, Head, uncertainty
from manyclass.service.ingest.second_labels import LabelPair, is_chosen
from manyclass.service.store.errors import StoreError


class LabelPairs:
    """The pairs of labels in the heads of labelled instances, which stay in the queue for them.

    Threads: `is_for_two` and `labelled_by` are for any; all others block.
    """

    def __init__(self, contents: QueueContents, percent: int) -> None:
        """`percent` of the instances are for two reviewers."""
        self._contents = contents
        self._percent = percent
        self._notes: dict[str, LabelPair | None] = {}  # pairs that the heads do not have yet
        self._first_labels: deque[tuple[str, LabelPair]] = deque()  # the same, of the event loop

    @property
    def are_wanted(self) -> bool:
        """True if two reviewers label a share of the instances."""
        return self._percent > 0

    def is_for_two(self, instance_id: str) -> bool:
        """Return whether an instance belongs to the share that two reviewers label."""
        return is_chosen(instance_id, self._percent)

    def is_over(self, instance_id: str, head: Head) -> bool:
        """Return whether an instance has its first label and needs no second any more."""
        return head.pair is not None and head.pair.is_open and not self.is_for_two(instance_id)

    def labelled_by(self, instance_id: str, reviewer: str, classes: Sequence[str]) -> None:
        """Note the first label of an instance, which may belong to those for two reviewers."""
        if self.is_for_two(instance_id):
            self._first_labels.append((instance_id, LabelPair(reviewer, tuple(classes))))

    def add(self, instance_id: str, pair: LabelPair) -> None:
        """Note that a second reviewer labelled an instance; the first note counts. Blocks.

        After an error of the store, the note is written with a later flush.
        """
        with self._contents.lock:
            self.put_notes()
            self._contents.refresh()
            head = self._contents.known().get(instance_id)
            noted = self._notes.get(instance_id, None if head is None else head.pair)
            if noted is not None and noted.is_open:
                self._note({instance_id: pair})

    def forget(self, ids: Collection[str] = (), reviewer: str | None = None) -> None:
        """Forget the labels of instances, and the second labels of a reviewer. Blocks."""
        with self._contents.lock:
            self.put_notes()
            pairs = self._pairs()
            notes: dict[str, LabelPair | None] = {
                name: LabelPair(pair.first_reviewer, pair.first)
                for name, pair in pairs.items()
                if reviewer is not None and pair.second_reviewer == reviewer
            }
            self._note(notes | dict.fromkeys(each for each in ids if each in pairs))

    def all(self) -> dict[str, LabelPair]:
        """Return the two labels of each instance that has two, newest first. Blocks."""
        with self._contents.lock:
            labelled = self._pairs()
        pairs = {name: each for name, each in labelled.items() if not each.is_open}
        return dict(sorted(pairs.items(), key=lambda each: each[1].time, reverse=True))

    def lacking(self, choice: Choice, reviewer: str) -> list[str]:
        """Return the instances of a choice that others have labelled and a second label lack.
        Blocks.
        """
        with self._contents.lock:
            self._contents.refresh()
            heads = self._contents.known()
        found = [
            name
            for name, each in heads.items()
            if choice.has(each)
            and each.pair is not None
            and each.pair.is_open
            and each.pair.first_reviewer != reviewer
        ]
        return sorted(found, key=lambda each: uncertainty(heads[each]))

    def put_notes(self) -> None:
        """Put the noted labels into the heads of their instances. Needs the lock. Blocks."""
        while self._first_labels:
            instance_id, pair = self._first_labels.popleft()
            self._notes[instance_id] = pair
        notes = self._notes
        if not notes:
            return
        try:
            self._contents.amend(
                notes, lambda name, head: msgspec.structs.replace(head, pair=notes[name])
            )
        except StoreError as error:
            self._contents.fail(error)
            return
        self._notes = {}

    def _pairs(self) -> dict[str, LabelPair]:
        self._contents.refresh()
        heads = self._contents.known()
        return {name: each.pair for name, each in heads.items() if each.pair is not None}

    def _note(self, pairs: Mapping[str, LabelPair | None]) -> None:
        """Keep the labels of instances for two reviewers, or forget them, and write that."""
        self._notes |= pairs
        self.put_notes()
        self._contents.write()

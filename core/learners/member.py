"""A member of a committee: an index that learns its own share of the events, in its own order."""

import struct
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event
from manyclass.core.index import Index
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.learners.shuffle_buffer import ShuffleBuffer
from manyclass.core.progressive_validation import ProgressiveValidation
from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy


def draw(purpose: str, seed: int, number: int) -> int:
    """Return a pseudorandom number below 2**64 that follows from the arguments alone."""
    key = struct.pack("<QQ", seed, number)
    digest = blake2b(key, digest_size=8, person=purpose.encode()).digest()
    return int.from_bytes(digest, "little")


class Member:
    """An index, its shuffle buffer, and its progressive accuracy.

    A member takes the share `subsample` of the committee's events, drawn by their numbers. Up to
    `shuffle` of these stay in the buffer; with one more, one of them all is drawn and learned. The
    draws follow from the seed and from counts in the state.
    """

    def __init__(
        self, options: Options, waiting_limit: int, hash_seed: int, taxonomy: Taxonomy
    ) -> None:
        """Begin empty; `waiting_limit`: the bytes that the shuffle buffer may count."""
        self.index = Index(options, hash_seed, taxonomy)
        self.waiting = ShuffleBuffer()
        self.progress = ProgressiveValidation()
        self.waiting_limit = waiting_limit

    @property
    def options(self) -> Options:
        """The options in force."""
        return self.index.options

    @property
    def bytes(self) -> int:
        """Bytes counted by the index and the shuffle buffer."""
        return self.index.bytes + self.waiting.bytes

    def configure(self, options: Options, waiting_limit: int) -> None:
        """Use other options from here on; a buffer above its limit is reduced by the next event."""
        self.index.configure(options)
        self.waiting_limit = waiting_limit

    @property
    def is_shuffled(self) -> bool:
        """True if events pass through the shuffle buffer."""
        return self.options.shuffle > 0 or len(self.waiting) > 0

    def takes(self, number: int) -> bool:
        """Return whether the member takes the committee's event of this number."""
        options = self.options
        if options.subsample == 1:
            return True
        drawn = draw("subsample", options.seed, number)
        return bool(drawn < options.subsample * 2.0**64)

    def shuffle(self, event: Event, is_first_epoch: bool) -> bool:
        """Take an event into the shuffle buffer, and learn the events that are due.

        Return whether one of them made an update.
        """
        options = self.options
        self.waiting.add(event.without_id(), is_first_epoch)
        updated = False
        while len(self.waiting) > options.shuffle or self.waiting.bytes > self.waiting_limit:
            drawn = draw("shuffle", options.seed, self.index.learned)
            due, of_first_epoch = self.waiting.take(drawn)
            updated |= self._learn(due, of_first_epoch)
        return updated

    def _learn(self, event: Event, is_first_epoch: bool) -> bool:
        epoch = 0 if is_first_epoch else 1
        learned = self.index.learn(
            event.instance, event.classes, epoch, event.rejected, event.weight
        )
        return learned.updated

    # --- names ------------------------------------------------------------------------------------

    def has_class(self, name: str) -> bool:
        """Return whether the index or a buffered event has it."""
        return self.index.has_class(name) or self.waiting.has_class(name)

    def has_feature(self, name: str) -> bool:
        """Return whether the index or a buffered event has it."""
        return self.index.has_feature(name) or self.waiting.has_feature(name)

    def forget_class(self, name: str) -> bool:
        """Remove it; return whether it was there."""
        known = self.index.forget_class(name)
        return self.waiting.forget_class(name) or known

    def rename_class(self, name: str, to: str) -> bool:
        """Give a class a name that none has; return whether it was there."""
        known = self.index.rename_class(name, to)
        return self.waiting.rename_class(name, to) or known

    def forget_feature(self, name: str) -> bool:
        """Remove it; return whether it was there."""
        known = self.index.forget_feature(name)
        return self.waiting.forget_feature(name) or known

    def drop_example(self, instance: Instance, classes: list[str]) -> int:
        """Learn an instance with these true classes no more; return how often it was kept."""
        return self.index.drop_example(instance, classes) + self.waiting.drop(instance, classes)

    # --- state ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the whole state as flat arrays."""
        return {**self.index.dump(), **self.waiting.dump(), **self.progress.dump()}

    @classmethod
    def load(
        cls,
        options: Options,
        waiting_limit: int,
        sections: Sections,
        hash_seed: int,
        taxonomy: Taxonomy,
    ) -> "Member":
        """Return the member that was dumped; SnapshotError when the arrays do not make one."""
        member = cls(options, waiting_limit, hash_seed, taxonomy)
        member.index = Index.load(options, sections, hash_seed, taxonomy)
        member.waiting = ShuffleBuffer.load(sections)
        member.progress = ProgressiveValidation.load(sections)
        return member

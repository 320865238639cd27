"""The replay buffer: a random sample of all past instances."""

from dataclasses import dataclass
from functools import cache

from tests.core.references.arithmetic import Random
from tests.core.references.state import Gone

INSTANCE_BYTES = 96  # of one instance in memory, without its lists, as the limit counts it
VALUE_BYTES = 8
CLASS_BYTES = 4
CONSTRAINT_BYTES = 12


@cache
def block_bytes(size):
    """Return the memory of a block for this number of bytes."""
    return max(32, -(-(size + 8) // 16) * 16) if size else 0


@dataclass
class StoredExample:
    values: dict[str, float]  # float32, not prepared
    classes: list[str]
    constraints: dict[tuple[str | None, str | None], float]  # see svm.py
    rejected: list[str]
    weight: float

    @property
    def bytes(self):
        return (
            INSTANCE_BYTES
            + block_bytes(VALUE_BYTES * len(self.values))
            + block_bytes(CLASS_BYTES * (len(self.classes) + len(self.rejected)))
            + block_bytes(CONSTRAINT_BYTES * len(self.constraints))
        )


class Past:
    def __init__(self, seed):
        self.random = Random(seed)
        self.kept = []
        self.came = 0
        self.most = self.most_bytes = 0
        self.bytes_per_value = self.bytes_per_example = 0  # of a learner of them

    @property
    def bytes(self):
        return sum(map(self.bytes_of, self.kept))

    def bytes_of(self, example):
        return example.bytes + self.bytes_per_example + self.bytes_per_value * len(example.values)

    def limit(self, most, most_bytes):
        """Limit the number of kept instances; remove random ones."""
        self.most, self.most_bytes = most, most_bytes
        while len(self.kept) > most:
            self.take_out(self.random.below(len(self.kept)))
        self.hold_bytes()

    def hold_bytes(self, coming=0):
        while self.bytes + coming > self.most_bytes:
            self.take_out(self.random.below(len(self.kept)))

    def draw(self):
        """Return a random kept instance without evicted names; drop an empty one, return None."""
        place = self.random.below(len(self.kept))
        return self.kept[place] if self.refresh(place) else None

    def refresh(self, place):
        example = self.kept[place]
        example.values = {name: x for name, x in example.values.items() if not is_gone(name)}
        example.classes = [name for name in example.classes if not is_gone(name)]
        example.rejected = [name for name in example.rejected if not is_gone(name)]
        gone = [sides for sides in example.constraints if any(map(is_gone, sides))]
        for sides in gone:
            del example.constraints[sides]
        if example.values and (example.classes or example.rejected):
            return True
        self.take_out(place)
        return False

    def offer(self, example):
        """Offer an instance: Algorithm R (Vitter 1985) keeps it with probability kept / came.

        That is for a limit on the number. A limit in bytes may remove several kept instances.
        """
        if not example.values or not (example.classes or example.rejected):
            return
        self.came += 1
        if self.bytes_of(example) > self.most_bytes:
            return
        if len(self.kept) >= self.most or self.bytes + self.bytes_of(example) > self.most_bytes:
            place = self.random.below(self.came)
            if place >= len(self.kept):
                return
            self.take_out(place)
        self.hold_bytes(self.bytes_of(example))
        self.kept.append(example)

    def take_out(self, place):
        """Remove the instance at a place; the last one moves there."""
        self.kept[place] = self.kept[-1]
        self.kept.pop()

    def forget_feature(self, name, gone):
        """Replace the feature by a mark, which each instance keeps until it is drawn."""
        for example in self.kept:
            if name in example.values:
                example.values = {
                    gone if each == name else each: x for each, x in example.values.items()
                }

    def forget_class(self, name, gone):
        def marked(names):
            return [gone if each == name else each for each in names]

        for example in self.kept:
            example.classes = marked(example.classes)
            example.rejected = marked(example.rejected)
            if any(name in sides for sides in example.constraints):
                example.constraints = {
                    (*marked(sides),): x for sides, x in example.constraints.items()
                }


def is_gone(name):
    return isinstance(name, Gone)

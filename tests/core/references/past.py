"""The replay buffer: a random sample of all past instances."""

from dataclasses import dataclass

from tests.core.references.arithmetic import Random
from tests.core.references.state import Gone

INSTANCE_BYTES = 96  # of one instance in memory, without its lists, as the limit counts it
VALUE_BYTES = 8
CLASS_BYTES = 4
DEMAND_BYTES = 12


def block_bytes(size):
    """Return the memory of a block for this number of bytes."""
    return max(32, -(-(size + 8) // 16) * 16) if size else 0


@dataclass
class Lesson:
    values: dict[str, float]  # float32, not prepared
    classes: list[str]
    demands: dict[tuple[str | None, str | None], float]  # see svm.py

    @property
    def bytes(self):
        return (
            INSTANCE_BYTES
            + block_bytes(VALUE_BYTES * len(self.values))
            + block_bytes(CLASS_BYTES * len(self.classes))
            + block_bytes(DEMAND_BYTES * len(self.demands))
        )


class Past:
    def __init__(self, seed):
        self.random = Random(seed)
        self.kept = []
        self.came = 0
        self.most = self.most_bytes = 0

    @property
    def bytes(self):
        return sum(lesson.bytes for lesson in self.kept)

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
        lesson = self.kept[place]
        lesson.values = {name: x for name, x in lesson.values.items() if not is_gone(name)}
        lesson.classes = [name for name in lesson.classes if not is_gone(name)]
        gone = [sides for sides in lesson.demands if any(map(is_gone, sides))]
        for sides in gone:
            del lesson.demands[sides]
        if lesson.values and lesson.classes:
            return True
        self.take_out(place)
        return False

    def offer(self, lesson):
        """Offer an instance: Algorithm R (Vitter 1985) keeps it with probability kept / came.

        That is for a limit on the number. A limit in bytes may remove several kept instances.
        """
        if not lesson.values or not lesson.classes:
            return
        self.came += 1
        if lesson.bytes > self.most_bytes:
            return
        if len(self.kept) >= self.most or self.bytes + lesson.bytes > self.most_bytes:
            place = self.random.below(self.came)
            if place >= len(self.kept):
                return
            self.take_out(place)
        self.hold_bytes(lesson.bytes)
        self.kept.append(lesson)

    def take_out(self, place):
        """Remove the instance at a place; the last one moves there."""
        self.kept[place] = self.kept[-1]
        self.kept.pop()

    def forget_feature(self, name, gone):
        """Replace the feature by a mark, which each instance keeps until it is drawn."""
        for lesson in self.kept:
            lesson.values = {gone if each == name else each: x for each, x in lesson.values.items()}

    def forget_class(self, name, gone):
        def marked(names):
            return [gone if each == name else each for each in names]

        for lesson in self.kept:
            lesson.classes = marked(lesson.classes)
            lesson.demands = {(*marked(sides),): x for sides, x in lesson.demands.items()}


def is_gone(name):
    return isinstance(name, Gone)

"""Figures of quality from the newest events: by class, by source, by week."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from manyclass.core.calibration import Calibration
from manyclass.core.errors import UnknownName
from manyclass.core.learner import Learner
from manyclass.service.history.reader import Record
from manyclass.service.log.outcomes import UNKNOWN

WEEK = 7 * 24 * 3600 * 1000  # milliseconds
WEEKS = 9  # the newest, and eight to compare it with
ONE_FEATURE_OF = 16  # features sampled, by a hash of their names
MOST_SAMPLED = 2_000  # of these, looked up in the learner


@dataclass(slots=True)
class Ranks:
    """Events with a known rank: their number, how many had a true class first, among five."""

    events: int = 0
    first: int = 0
    five: int = 0

    def add(self, rank: int) -> None:
        """Count an event; `rank` is 0 if no true class was retrieved."""
        self.events += 1
        self.first += rank == 1
        self.five += 1 <= rank <= 5


@dataclass(slots=True)
class Week:
    """Seven days: the ranks of their events, and how often each class was a true class."""

    ranks: Ranks = field(default_factory=Ranks)
    classes: Counter[str] = field(default_factory=Counter)


class Mixed(NamedTuple):
    """A class, and its share of the true classes of the newest week and of the weeks before."""

    name: str
    share: float
    before: float


class Quality:
    """Counts of records, which come newest first. Weeks are counted back from the newest event.

    A record counts for each of its true classes, with the rank of the best of them: the history
    records no other rank.
    """

    def __init__(self) -> None:
        self.all = Ranks()
        self.newest = self.oldest = 0  # times, Unix milliseconds; 0: not known
        self.sources: dict[str | None, Ranks] = {}
        self.weeks: list[Week] = []  # the newest first
        self.by_class: dict[str, tuple[Ranks, Ranks]] = {}  # in all weeks, in the newest
        self.by_label: dict[tuple[str, ...], Ranks] = {}  # the true classes together
        self.unknown: list[float | None] = []  # share of unknown features in each week
        self.confidences: list[float | None] = []  # the mean of each week
        self._seen: dict[str, list[int]] = {}  # a sampled feature -> its events in each week

    def add(self, record: Record) -> None:
        """Count a record with a true class, if its outcome is known."""
        if record.outcome == UNKNOWN or not record.classes:
            return
        rank, label = record.outcome, tuple(dict.fromkeys(record.classes))
        self.all.add(rank)
        self.sources.setdefault(record.event.source, Ranks()).add(rank)
        self.by_label.setdefault(label, Ranks()).add(rank)
        ranks = [self.by_class.setdefault(name, (Ranks(), Ranks())) for name in label]
        for whole, _ in ranks:
            whole.add(rank)
        if not record.time:
            return
        self.newest = self.newest or record.time
        self.oldest = record.time
        at = max(0, self.newest - record.time) // WEEK
        if at >= WEEKS:
            return
        while len(self.weeks) <= at:
            self.weeks.append(Week())
        self.weeks[at].ranks.add(rank)
        self.weeks[at].classes.update(label)
        if at == 0:
            for _, newest in ranks:
                newest.add(rank)
        for feature, _ in record.event.instance.items():
            if hash(feature) % ONE_FEATURE_OF == 0:
                seen = self._seen.setdefault(feature, [])
                seen.extend([0] * (at + 1 - len(seen)))
                seen[at] += 1

    def look_up(self, learner: Learner, goes_on: Callable[[], bool]) -> bool:
        """Find the share of features that were unknown when each week began.

        A feature was unknown if the learner has seen it in events since then only. Return false if
        `goes_on` did before the end.
        """
        unknown, known = [0] * len(self.weeks), [0] * len(self.weeks)
        sampled = sorted(self._seen, key=hash)[:MOST_SAMPLED]
        for name in sampled:
            if not goes_on():
                return False
            try:
                times = int(str(learner.feature(name)["times_seen"]))
            except UnknownName:  # evicted, or of a learner without features
                continue
            since = 0
            for week, count in enumerate(self._seen[name]):
                since += count
                (known if times > since else unknown)[week] += count
        self.unknown = [u / (u + k) if u + k else None for u, k in zip(unknown, known, strict=True)]
        self._seen = {}
        return True

    def find_confidences(self, calibration: Calibration) -> None:
        """Find the mean confidence of each week by the kept outcomes, one of each event.

        Events that were deleted since the last rebuild, or arrived since the count began, shift the
        weeks by as many outcomes.
        """
        sizes = [week.ranks.events for week in self.weeks]
        self.confidences = calibration.mean_confidences(sizes)

    def mix(self, most: int) -> tuple[float, list[Mixed]] | None:
        """Return how far the classes of the newest week differ from those of the weeks before.

        It is the total variation distance of their shares, from 0 to 1, with the classes whose
        share changed most. None without events in weeks before.
        """
        before: Counter[str] = Counter()
        for week in self.weeks[1:]:
            before.update(week.classes)
        if not before:
            return None
        now = self.weeks[0].classes
        of_now, of_before = now.total(), before.total()
        shares = [
            Mixed(name, now[name] / of_now, before[name] / of_before)
            for name in now.keys() | before.keys()
        ]
        shares.sort(key=lambda each: (-abs(each.share - each.before), each.name))
        distance = sum(abs(each.share - each.before) for each in shares) / 2
        return distance, shares[:most]

    def trend(self, name: str, least: int) -> float | None:
        """Return the recall of a class in the newest week minus that of the time before.

        None unless both have `least` events.
        """
        whole, newest = self.by_class.get(name, (Ranks(), Ranks()))
        before = whole.events - newest.events
        if newest.events < least or before < least:
            return None
        return newest.first / newest.events - (whole.first - newest.first) / before

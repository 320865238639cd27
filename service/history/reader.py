"""Reads events back: from the segments, and behind them from the log."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import NamedTuple, TypedDict

from manyclass.core.aliases import names_now
from manyclass.core.event import Event, Text
from manyclass.core.model import Model
from manyclass.service.history.amendments import Amendments
from manyclass.service.history.event_keys import key_of
from manyclass.service.history.event_times import dated
from manyclass.service.history.folded import folded
from manyclass.service.history.recorder import SEGMENT_EVENTS, Recorder
from manyclass.service.history.segment import AS_SENT, GONE, Segment, SegmentDamaged
from manyclass.service.history.undone import Undone
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.outcomes import NO_EFFECT, NOT_RETRIEVED, UNKNOWN, Outcomes
from manyclass.service.store.errors import HISTORY_HINT, StoreDamaged
from manyclass.service.store.protocol import Store
from manyclass.service.store.segments import SegmentInfo, SegmentStore

SCAN_SECONDS = 0.1  # a page ends after this time, with fewer events than asked for
KEPT_SEGMENTS = 4  # unpacked, for pages that follow each other
WINDOW = 512  # events of the log that a page reads at once
WIDER = 8  # times as many, while none of them has a time


class Record(NamedTuple):
    """A "learn" event of the history, with its outcome (outcomes.py), as it was amended since."""

    seq: int
    event: Event
    outcome: int
    classes: list[str]  # true ones, as corrected, by their present names
    rejected: list[str]  # wrong ones, without classes that are true by now
    reviewer: str | None  # the name of the person who labelled it, or corrected it
    is_corrected: bool
    time: int  # Unix milliseconds; that of an event before it if it has none; 0: not known
    is_undone: bool  # by a restore: the state is without it


class EventFields(TypedDict):
    """A record as the service and the command line show it."""

    seq: int
    key: str
    event_id: str | None
    id: str | None  # of the instance, if a label named it
    time: float | None  # unix seconds
    source: str | None
    reviewer: str | None
    batch: str | None
    classes: tuple[str, ...]
    rejected: tuple[str, ...]
    weight: float
    parents: dict[str, str]
    corrected: bool
    undone: bool
    rank_before: int | None
    outcome_known: bool
    text: Text | None
    features: dict[str, float] | None
    dimension: int | None  # of the vector, if there is one
    vector: tuple[float, ...] | None


def fields_of(record: Record, model: Model, with_vector: bool = False) -> EventFields:
    """Return a record as it is shown, with the key that finds it, and the numbers of its vector if
    they are wanted: they may be most of what is shown.
    """
    event = record.event
    return {
        "seq": record.seq,
        "key": key_of(record.seq, event.event_id, model),
        "event_id": event.event_id,
        "id": event.instance_id,
        "time": record.time / 1000 or None,
        "source": event.source,
        "reviewer": record.reviewer,
        "batch": event.batch,
        "classes": tuple(record.classes),
        "rejected": tuple(record.rejected),
        "weight": event.weight,
        "parents": event.parents,
        "corrected": record.is_corrected,
        "undone": record.is_undone,
        "rank_before": record.outcome if record.outcome > 0 else None,
        "outcome_known": record.outcome != UNKNOWN,
        "text": event.text,
        "features": None if event.text is not None else dict(event.instance.items()),
        "dimension": event.instance.dimension or None,
        "vector": event.instance.unit_vector() if with_vector else None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The events asked for; None and False leave them all."""

    of_class: str | None = None
    source: str | None = None
    reviewer: str | None = None
    batch: str | None = None
    instance_id: str | None = None
    words: tuple[str, ...] = ()  # folded; each is in a text, a feature, an id or an origin
    since: int | None = None  # Unix milliseconds
    until: int | None = None
    wrong: bool = False  # only those whose true class was not ranked first before learning
    with_undone: bool = False  # also events that a restore has undone
    with_vector: bool = False  # only those with a vector

    def matches(self, record: Record) -> bool:
        """Return whether a record is asked for."""
        if record.is_undone and not self.with_undone:
            return False
        if self.of_class is not None and self.of_class not in record.classes:
            return False
        event = record.event
        if self.with_vector and not event.instance.has_vector:
            return False
        for wanted, name in (
            (self.source, event.source),
            (self.reviewer, record.reviewer),
            (self.batch, event.batch),
            (self.instance_id, event.instance_id),
        ):
            if wanted is not None and name != wanted:
                return False
        if self.words and not all(map(_searched(record).__contains__, self.words)):
            return False
        if self.since is not None and record.time < self.since:
            return False
        if self.until is not None and record.time > self.until:
            return False
        return not self.wrong or record.outcome == NOT_RETRIEVED or record.outcome > 1


def _searched(record: Record) -> str:
    """Return all that a search for words looks through, folded, one part a line."""
    event = record.event
    text = event.text
    fields = text.values() if isinstance(text, dict) else [text or ""]
    features = [] if text is not None else [name for name, _ in event.instance.items()]
    origins = (event.source, record.reviewer, event.batch, event.event_id, event.instance_id)
    return folded("\n".join([*fields, *features, *filter(None, origins)]))


class Sieve:
    """Tells most events that a filter does not match without decoding them."""

    def __init__(
        self, wanted: Filter, aliases: Mapping[str, str], reassigned: Collection[int] = ()
    ) -> None:
        """`reassigned` are the events whose amendment that waits for a rebuild has a reviewer."""
        exact = (wanted.source, wanted.batch, wanted.instance_id)
        self._exact = [each.encode() for each in exact if each is not None]
        self._reviewer = None if wanted.reviewer is None else wanted.reviewer.encode()
        self._reassigned = reassigned
        self._names: list[bytes] = []  # that the class has now, and had
        if (wanted_class := wanted.of_class) is not None:
            former = (name for name, now in aliases.items() if now == wanted_class)
            self._names = [name.encode() for name in (wanted_class, *former)]
        self._words = wanted.words
        self._wrong = wanted.wrong

    def places(self, first_seq: int, payloads: Sequence[bytes]) -> Sequence[int]:
        """Return the places of the events whose bytes hold the origin and the id asked for.

        The bytes of a reassigned event have its former reviewer.
        """
        found: Sequence[int] = range(len(payloads))
        for name in self._exact:
            found = [at for at in found if name in payloads[at]]
        if (reviewer := self._reviewer) is not None:
            reassigned = self._reassigned
            found = [at for at in found if reviewer in payloads[at] or first_seq + at in reassigned]
        return found

    def passes(self, payload: bytes, outcome: int, is_amended: bool) -> bool:
        """Return False if the bytes of an event and its outcome show that it does not match.

        The bytes of one whose amendment waits for a rebuild have its former classes.
        """
        if self._wrong and outcome <= 1 and outcome != NOT_RETRIEVED:
            return False
        if self._words and not is_amended:  # an amendment may have another reviewer
            text = folded(payload.decode("utf-8", "ignore"))
            if not all(word in text for word in self._words):
                return False
        return not self._names or is_amended or any(name in payload for name in self._names)


class Page(NamedTuple):
    """Records in order, and the number from which the next page goes on; None at the end."""

    records: list[Record]
    next: int | None


class Reader:
    """Reads the history. Any thread may call any method; all of them block."""

    def __init__(
        self,
        store: Store,
        segments: SegmentStore,
        recorder: Recorder,
        amendments: Amendments,
        outcomes: Outcomes,
        live: LiveModel,
    ) -> None:
        self._store = store
        self._segments = segments
        self._recorder = recorder
        self._amendments = amendments
        self._outcomes = outcomes
        self._live = live
        self._unpacked = lru_cache(KEPT_SEGMENTS)(self._read_segment)

    @property
    def first_seq(self) -> int:
        """The number of the oldest event of the history."""
        infos = self._recorder.infos
        return infos[0].first_seq if infos else self._recorder.end + 1

    def page(
        self,
        wanted: Filter,
        limit: int,
        after: int | None = None,
        newest_first: bool = True,
        most_bytes: int | None = None,
    ) -> Page:
        """Return up to `limit` matching events, from behind event `after`.

        A page is shorter if the scan takes too long, or after the event with which its events have
        `most_bytes`; `next` then goes on behind the events read.
        Raises StoreError.
        """
        records: list[Record] = []
        size = 0
        undone = Undone(self._live.model.restores)
        reassigned = self._amendments.reassigned() if wanted.reviewer is not None else ()
        sieve = Sieve(wanted, self._live.model.aliases, reassigned)
        until = monotonic() + SCAN_SECONDS
        for segment in self._parts(after, newest_first):
            times: list[int] = []
            places = sieve.places(segment.first_seq, segment.payloads)
            for at in reversed(places) if newest_first else places:
                seq, payload = segment.first_seq + at, segment.payloads[at]
                if after is not None and (seq >= after if newest_first else seq <= after):
                    continue
                is_amended = self._amendments.of(seq) is not None
                is_there = segment.flags[at] != GONE
                if is_there and sieve.passes(payload, segment.outcomes[at], is_amended):
                    times = times or [time for _, _, time in dated(enumerate(segment.payloads))]
                    record = self._record(segment, at, times[at], undone)
                    if record is not None and wanted.matches(record):
                        records.append(record)
                        size += len(payload)
                is_full = len(records) == limit or (most_bytes is not None and size >= most_bytes)
                if is_full or monotonic() > until:
                    return Page(records, seq)
            end = segment.first_seq if newest_first else segment.last_seq
            goes_on = after is None or (end < after if newest_first else end > after)
            if goes_on and monotonic() > until:
                return Page(records, end)
        return Page(records, None)

    def find(self, seq: int) -> Record | None:
        """Return a "learn" event that is neither deleted nor beyond the history. StoreError.

        It may be one that a restore has undone.
        """
        end, infos = self._ends()
        if seq > end:
            segment = self._window(end, seq, 1)
        else:
            held = (info for info in infos if info.first_seq <= seq <= info.last_seq)
            info = next(held, None)
            if info is None:
                return None
            segment = self.segment(info)
        at = seq - segment.first_seq
        if not 0 <= at < len(segment.payloads) or segment.flags[at] == GONE:
            return None
        time = next(filter(None, map(Event.time_of, reversed(segment.payloads[: at + 1]))), 0)
        return self._record(segment, at, time, Undone(self._live.model.restores))

    def undone_of(self, event_id: str, segment: Segment) -> list[Record]:
        """Return the events of a segment with this id that restores have undone."""
        undone, found = Undone(self._live.model.restores), []
        name = event_id.encode()
        for at, payload in enumerate(segment.payloads):
            if name in payload and segment.flags[at] != GONE:
                record = self._record(segment, at, Event.time_of(payload), undone)
                if record is not None and record.is_undone and record.event.event_id == event_id:
                    found.append(record)
        return found

    def segment(self, info: SegmentInfo) -> Segment:
        """Return a stored segment. StoreError."""
        return self._unpacked(info)

    def part(self, after: int, last_seq: int) -> Segment:
        """Return the events that come next behind `after`, a segment of them at most.

        It ends with event `last_seq` or before it, and begins later than at `after` + 1 if the
        history has a gap there. StoreError.
        """
        while True:
            end, infos = self._ends()
            info = next((info for info in infos if info.last_seq > after), None)
            if info is not None:
                return self.segment(info).between(after, last_seq)
            begin = max(end, after)
            found = self._in_log(begin, min(begin + SEGMENT_EVENTS, last_seq))
            if self._recorder.end <= begin:  # else they were packed, with the outcomes, meanwhile
                return found

    def forget(self) -> None:
        """Drop the unpacked segments, which a rebuild has rewritten."""
        self._unpacked.cache_clear()

    def _record(self, segment: Segment, at: int, time: int, undone: Undone) -> Record | None:
        seq = segment.first_seq + at
        if segment.outcomes[at] == NO_EFFECT:
            return None
        event = Event.from_bytes(segment.payloads[at])
        if event.kind != "learn":
            return None
        amended = self._amendments.of(seq)
        if amended is not None and not amended.classes:
            return None
        is_corrected = amended is not None or segment.flags[at] != AS_SENT
        aliases = self._live.model.aliases
        classes = names_now(event.classes if amended is None else amended.classes, aliases)
        rejected = [name for name in names_now(event.rejected, aliases) if name not in classes]
        outcome = segment.outcomes[at]
        reviewer = amended.reviewer if amended is not None and amended.reviewer else event.reviewer
        is_undone = seq in undone
        return Record(
            seq, event, outcome, classes, rejected, reviewer, is_corrected, time, is_undone
        )

    def _ends(self) -> tuple[int, list[SegmentInfo]]:
        """Return the end of what is packed, or of a gap behind it, and the segments."""
        end = self._recorder.end  # before the segments: more may be packed meanwhile
        infos = self._recorder.infos
        return max(end, infos[-1].last_seq if infos else 0), infos

    def _parts(self, after: int | None, newest_first: bool) -> Iterator[Segment]:
        """Yield segments with all events behind `after`, and perhaps some before it."""
        end, infos = self._ends()
        if newest_first:
            yield from self._log_backwards(end, after)
            for info in reversed(infos):
                if after is None or info.first_seq < after:
                    yield self.segment(info)
            return
        for info in infos:
            if after is None or info.last_seq > after:
                yield self.segment(info)
        begin = end
        if after is not None and end < after <= self._live.model.seq:
            begin = self._window(end, after, 1).first_seq - 1
        if begin < self._live.model.seq:
            yield self._in_log(begin, self._live.model.seq)

    # --- what is in the log alone -----------------------------------------------------------------

    def _log_backwards(self, end: int, after: int | None) -> Iterator[Segment]:
        last = self._live.model.seq if after is None else min(self._live.model.seq, after - 1)
        while last > end:
            window = self._window(end, last, WINDOW)
            yield window
            last = window.first_seq - 1

    def _window(self, end: int, last: int, count: int) -> Segment:
        """Return about `count` events up to `last`, of those behind `end`.

        They begin with an event that has a time, if there is one among as many as a segment has:
        the others have the time of one before them.
        """
        while True:
            first = max(end + 1, last + 1 - count)
            found = self._in_log(first - 1, last)
            if first == end + 1 or count >= SEGMENT_EVENTS:
                return found
            for at, payload in enumerate(found.payloads):
                if Event.time_of(payload):
                    return found.between(first + at - 1, last)
            count *= WIDER

    def _in_log(self, after: int, last: int) -> Segment:
        """Return the events behind `after`, up to `last`."""
        events = islice(self._store.read(after), max(0, last - after))
        payloads = [payload for _, payload in events]
        outcomes = self._outcomes.of(after + 1, len(payloads))
        return Segment(after + 1, payloads, outcomes, [AS_SENT] * len(payloads))

    def _read_segment(self, info: SegmentInfo) -> Segment:
        try:
            return Segment.unpacked(info.first_seq, self._segments.read_segment(info.last_seq))
        except SegmentDamaged as error:
            reason = f"the history up to event {info.last_seq} is damaged: {error}"
            raise StoreDamaged(reason, HISTORY_HINT) from error

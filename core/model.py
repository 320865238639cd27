"""The whole state of a service, and the one way to change it: events, in the order of the log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from core import snapshot
from core.errors import EventConflict, EventError, OptionError, SnapshotError, UnknownName
from core.event import Event, Instance
from core.index import Index
from core.options import Options
from core.progress import Progress
from core.recent import RecentEvents

MOST_RESTORES = 1_000  # marks remembered; older ones have long been trimmed from any log


@dataclass(frozen=True, slots=True)
class Outcome:
    """What applying an event came to.

    `rank` is where the best true class stood before learning, None when it was not retrieved (or
    nothing was learned); `updated` says whether a margin asked for an update.
    """

    seq: int
    rank: int | None
    updated: bool


@dataclass(frozen=True, slots=True)
class Frozen:
    """A copy of a model's state, which later events do not change."""

    facts: dict[str, Any]
    arrays: snapshot.Arrays

    def pieces(self) -> list[memoryview]:
        """The snapshot's bytes, in order. Checksums are made here, at leisure."""
        return snapshot.write(self.facts, self.arrays)

    def digest(self) -> str:
        """A hash (hex) of the whole state: equal states have equal digests."""
        _, header, *_ = self.pieces()  # it holds the checksum of every section
        return blake2b(header, digest_size=16).hexdigest()


class Model:
    """Index, recent event ids, progressive accuracy and the number of the last event.

    The same events in the same order make the same digest, on any machine.
    Threads: `rank` and `explain` from any; `apply`, `dump` and the rest from one at a time.
    """

    def __init__(self, options: Options, hash_seed: int = 0) -> None:
        """An empty model. `hash_seed` salts the table of names and has no effect on the state."""
        self.seq = 0
        self.index = Index(options, hash_seed)
        self.progress = Progress()
        self.recent = RecentEvents()
        self.restores: list[tuple[int, int]] = []

    @property
    def options(self) -> Options:
        """The options in force."""
        options: Options = self.index.options
        return options

    def rank(
        self, instance: Instance, k: int = 5, threshold: float = 0.0
    ) -> list[tuple[str, float]]:
        """The k best (class, score) above `threshold`, best first; empty when nothing is known."""
        return self.index.rank(instance, k, threshold)

    def explain(
        self, instance: Instance, classes: Sequence[str], limit: int = 10
    ) -> list[list[tuple[str, float]]]:
        """For each class, the (feature, share of the score) that voted for it, heaviest first."""
        return self.index.explain(instance, classes, limit)

    def seen(self, event_id: str) -> tuple[int, int] | None:
        """(seq, fingerprint) of the event that had this id, among the last million with one."""
        return self.recent.find(event_id)

    def check(self, event: Event) -> None:
        """Raise what stands against applying the event now: UnknownName, OptionError."""
        if event.kind == "forget_class":
            if not self.index.has_class(event.name):
                raise UnknownName("class", event.name)
        elif event.kind == "forget_feature":
            if not self.index.has_feature(event.name):
                raise UnknownName("feature", event.name)
        elif event.kind == "configure":
            options_from(event.options)

    def repeats(self, events: Sequence[Event]) -> dict[int, int]:
        """Which of the events of one request, next in the log, were seen before under their id:
        position -> seq of the event each repeats, which may be in the same request.

        EventConflict when one was seen with another content: then none of them may be applied.
        """
        repeated: dict[int, int] = {}
        mine: dict[str, tuple[int, int]] = {}
        for position, event in enumerate(events):
            event_id = event.event_id
            if event_id is None:
                continue
            known = mine.get(event_id) or self.recent.find(event_id)
            if known is None:
                mine[event_id] = (self.seq + 1 + position, event.fingerprint)
                continue
            seq, fingerprint = known
            if fingerprint != event.fingerprint:
                raise EventConflict(position, event_id, seq)
            repeated[position] = seq
        return repeated

    def pass_over(self, events: int = 1) -> None:
        """Count the next events of the log without a change: what they say is not to be applied."""
        self.seq += events

    def apply(self, seq: int, event: Event) -> Outcome:
        """Change the state as a checked event says.

        Raises EventError, changing nothing, unless `seq` is the next number. A "restore" mark
        cannot be applied: the state it goes back to is loaded, then `restored` is called.
        """
        if seq != self.seq + 1:
            raise EventError(f"event {seq} cannot follow event {self.seq}")
        if event.kind == "restore":
            raise EventError(f"event {seq} goes back to snapshot {event.restored}: load that first")
        if event.kind == "configure":
            self.index.configure(options_from(event.options))
        rank, updated = self.index.apply(event)
        if event.kind == "learn":
            self.progress.add(rank)
        if event.event_id is not None:
            self.recent.add(event.event_id, seq, event.fingerprint)
        self.seq = seq
        return Outcome(seq, rank or None, updated)

    def restored(self, seq: int, snapshot_seq: int) -> None:
        """Make this freshly loaded state the one at `seq`, the mark in the log."""
        self.seq = seq
        self.restores.append((seq, snapshot_seq))
        del self.restores[:-MOST_RESTORES]

    def freeze(self) -> Frozen:
        """A copy of the state as it is now. The one step for which events have to wait."""
        return Frozen(
            {"seq": self.seq, "options": self.options.to_dict(), "restores": [*self.restores]},
            {
                **self.index.dump(),
                **self.progress.dump(),
                "recent_events": self.recent.dump(),
            },
        )

    def dump(self) -> list[memoryview]:
        """A snapshot of the state as it is now, in pieces; later events do not change it."""
        return self.freeze().pieces()

    @classmethod
    def load(cls, chunks: Iterable[bytes | memoryview], hash_seed: int = 0) -> "Model":
        """The model that was dumped; SnapshotError when the bytes are damaged or from elsewhere."""
        facts, arrays = snapshot.read(chunks)
        try:
            model = cls(options_from(facts["options"]), hash_seed)
            model.index = Index.load(model.options, arrays, hash_seed)
            model.progress = Progress.load(arrays)
            model.recent = RecentEvents.load(arrays["recent_events"])  # type: ignore[arg-type]  # load checks the dtype
            model.seq = int(facts["seq"])
            model.restores = [(int(seq), int(source)) for seq, source in facts["restores"]]
        except (KeyError, TypeError, ValueError, OptionError) as error:
            raise SnapshotError(f"the snapshot does not describe a model: {error}") from error
        return model

    def digest(self) -> str:
        """The digest of the state as it is now."""
        return self.freeze().digest()


def options_from(values: dict[str, Any]) -> Options:
    """Options by name; OptionError for a name that is not known or a value out of range."""
    unknown = values.keys() - Options.__dataclass_fields__.keys()
    if unknown:
        raise OptionError(min(unknown), "is not an option of this version")
    return Options(**values)

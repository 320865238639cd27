"""The meaning of the log: how the model follows from its events.

    events ──► requests ──► mark: the state that replaces it ──► the rest: all events, or none
               (joined)      (asked of the caller)                (outcomes noted)

Every reader of a log calls it: live, at a start, behind a rebuilt state, and in a rebuild.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, Protocol

from manyclass.core.errors import EventError, RequestConflict
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.core.outcome import Outcome
from manyclass.service.log.outcomes import NO_EFFECT, Outcomes, code_of

MARKS: Final = ("restore", "adopt")

Clock = Callable[[], float]


class ModelHolder(Protocol):
    """Holds the model that events change. A mark replaces the model."""

    @property
    def model(self) -> Model:
        """The model in use."""

    def use(self, model: Model) -> None:
        """Make this the model in use."""


class OneModel:
    """Holds a model of its own."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def use(self, model: Model) -> None:
        """Make this the model in use."""
        self.model = model


class NoState(Enum):
    """The reason why a mark replaces no state."""

    UNDONE = "undone"  # a restore came between a rebuilt state and its mark, which has no effect
    LOST = "lost"  # no event has a meaning before a later mark restores another snapshot


Loaded = Model | NoState


@dataclass(slots=True, eq=False)
class StateNeeded:
    """A step that waits for the state that a mark names, as it was before the mark.

    The caller sets `loaded` before the next step; it may take its time.
    """

    seq: int  # of the mark
    mark: Event
    before: Model
    loaded: Loaded | None = None


class Applied(NamedTuple):
    """A step that has applied an event, or passed over a retry of event number `outcome`."""

    event: Event
    outcome: Outcome | int


class Stretch(NamedTuple):
    """A step that has applied the events of a batch from position `first` on, perhaps none.

    `is_short`: there is no memory to begin the next event with.
    """

    batch: EventBatch
    first: int
    is_short: bool


# A conflict has kept a request out; None: an event was only read.
Step = Applied | Stretch | StateNeeded | RequestConflict | None


class Interpreter:
    """Applies requests, which come next in the log, to the model of a holder.

    Retries and conflicts are recognised in the state that the events meet, so every process decides
    alike. The events of a request are all applied, or none; their numbers are used up. A "restore"
    mark replaces the model by that of a snapshot, an "adopt" mark by a rebuilt one.

    Each method returns an iterator, which applies as it goes: one event a step, so that the caller
    can do other work between two. One iterator at a time.
    """

    def __init__(
        self,
        holder: ModelHolder,
        outcomes: Outcomes | None = None,
        clock: Clock | None = None,
        check: Callable[[Model, Sequence[Event]], None] | None = None,
    ) -> None:
        """`outcomes`: take the ranks of the events; `clock` measures the time of each learner.

        `check` gets the model before each request, and may raise.
        """
        self.is_amid = False  # some events of a request are applied, others not yet
        self._holder = holder
        self._outcomes = Outcomes() if outcomes is None else outcomes
        self._clock = clock
        self._check = check
        self._is_lost = False  # the state, until a mark restores another

    def log(self, payloads: Iterable[tuple[int, bytes]]) -> Iterator[Step]:
        """Apply the events of a log, given with their numbers.

        Raise EventError for a number that is not the next.
        """
        request: list[Event] = []
        following = self._holder.model.seq + 1
        for seq, payload in payloads:
            if seq != following:
                raise EventError(f"event {seq} cannot follow event {following - 1}")
            following += 1
            event = Event.from_bytes(payload)
            if not event.joined and request:
                yield from self.request(request)
                request = []
            elif request:
                yield None
            request.append(event)
        if request:
            yield from self.request(request)

    def request(self, events: Sequence[Event]) -> Iterator[Step]:
        """Apply the events of one request: all of them, or none."""
        self.is_amid = True
        first_seq = self._holder.model.seq + 1
        codes: list[int] = []
        if events and events[0].kind in MARKS:
            yield from self._go_over(first_seq, events[0])
            codes.append(NO_EFFECT)
            events = events[1:]
        model = self._holder.model
        if self._is_lost:
            _pass_over(model, events)
        else:
            if self._check is not None:
                self._check(model, events)
            try:
                applied = model.apply_request(events, self._clock)
                for event, outcome in zip(events, applied, strict=True):
                    codes.append(NO_EFFECT if isinstance(outcome, int) else code_of(outcome.rank))
                    yield Applied(event, outcome)
            except RequestConflict as conflict:
                codes += [NO_EFFECT] * len(events)
                yield conflict
            self._outcomes.note(first_seq, codes)
        self.is_amid = False

    def batch(self, batch: EventBatch, seconds: Clock) -> Iterator[Step]:
        """Apply plain events, each a request of its own: as many by one call as there is time for.

        `seconds` returns the time that is left, and the batch has the outcomes.
        """
        self.is_amid = True
        model = self._holder.model
        batch.begin(model.seq + 1)
        if not model.can_apply(batch):
            for step in self.request(batch.events()):
                assert isinstance(step, Applied), "a plain event is no mark, and in no conflict"
                assert not isinstance(step.outcome, int), "a plain event is no retry"
                batch.note(step.outcome.rank or 0, step.outcome.updated)
                yield step
            return
        while (first := batch.learned) < len(batch):
            is_short = False
            try:
                model.apply_batch(batch, seconds())
            except MemoryError:  # before the next event has begun, or its index says so next time
                is_short = True
            yield Stretch(batch, first, is_short)
        self._outcomes.note(batch.first_seq, batch.ranks(0))
        self.is_amid = False

    def pass_over(self) -> None:
        """Count the next event, which has no effect: that is known from its outcome."""
        self._holder.model.pass_over()

    def forget(self) -> None:
        """Forget the request that was being applied: another state takes the place of this one."""
        self.is_amid = False

    def _go_over(self, seq: int, mark: Event) -> Iterator[Step]:
        """Replace the model by the one that a mark names."""
        before = self._holder.model
        # Only the lost state knows whether a restore has undone the rebuilt one.
        if self._is_lost and mark.kind == "adopt":
            before.pass_over()
            return
        needed = StateNeeded(seq, mark, before)
        yield needed
        model = needed.loaded
        if not isinstance(model, Model):
            assert model is not None, "the state was not loaded"
            self._is_lost = self._is_lost or model is NoState.LOST
            before.pass_over()
            return
        if mark.kind == "restore":
            model.restored(seq, mark.restored, before.rules)
        else:
            model.adopted(seq, before.restores)
        self._is_lost = False
        self._holder.use(model)


def _pass_over(model: Model, events: Sequence[Event]) -> None:
    """Count events of a lost state. Rules are in force in any state, so they are raised."""
    for event in events:
        if event.kind == "rules":
            model.use_rules(event.rules)
        model.pass_over()


def refuse(needed: StateNeeded) -> Loaded:
    """Raise EventError: no mark is expected."""
    raise EventError(f"event {needed.seq} goes over to another state, amid events that go on")


def apply_all(steps: Iterable[Step], load: Callable[[StateNeeded], Loaded] = refuse) -> None:
    """Apply to the end; `load` returns the state that a mark names, or raises."""
    for step in steps:
        if isinstance(step, StateNeeded):
            step.loaded = load(step)

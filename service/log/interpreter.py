"""The meaning of the log: how the events change the model.

    events ──► requests ──► a mark replaces the model ──► other requests: all events, or none
               (joined)      (the caller loads it)         (outcomes noted)

Every reader of a log uses the interpreter: the live service, recovery, adoption and rebuilds.
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
    """The holder of the model that events change; a mark replaces the model."""

    @property
    def model(self) -> Model:
        """The model in use."""

    def use(self, model: Model) -> None:
        """Make this the model in use."""


class OneModel:
    """A holder of one model that no other part uses."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def use(self, model: Model) -> None:
        """Make this the model in use."""
        self.model = model


class NoState(Enum):
    """The reason why a mark does not replace the model."""

    UNDONE = "undone"  # a restore happened between a rebuilt state and its mark: no effect
    LOST = "lost"  # the state is gone: events have no effect until a mark restores a snapshot


Loaded = Model | NoState


@dataclass(slots=True, eq=False)
class StateNeeded:
    """A step that waits for the state that a mark names.

    The caller sets `loaded` before it asks for the next step, however much later.
    """

    seq: int  # number of the mark
    mark: Event
    before: Model
    loaded: Loaded | None = None


class Applied(NamedTuple):
    """A step that has applied an event, or skipped a retry of event number `outcome`."""

    event: Event
    outcome: Outcome | int


class Stretch(NamedTuple):
    """A step that has applied zero or more events of a batch, from position `first` on.

    `is_short` is true if there is no memory for the next event.
    """

    batch: EventBatch
    first: int
    is_short: bool


# A RequestConflict has excluded a request; None: an event was only read.
Step = Applied | Stretch | StateNeeded | RequestConflict | None


class Interpreter:
    """The interpreter applies the next requests of the log to the model of a holder.

    It recognises retries and conflicts by the state of the model, so every process decides alike.
    Either all events of a request are applied or none; their numbers are used in both cases. A
    "restore" mark replaces the model by a snapshot, an "adopt" mark by a rebuilt state.

    Each method returns an iterator that applies one event per step, so that the caller can do other
    work between two steps. Only one iterator is used at a time.
    """

    def __init__(
        self,
        holder: ModelHolder,
        outcomes: Outcomes | None = None,
        clock: Clock | None = None,
        check: Callable[[Model, Sequence[Event]], None] | None = None,
        is_replay: bool = False,
    ) -> None:
        """`outcomes` receives the ranks of the events; `clock` measures the time of each learner.

        `check` is called with the model and each request before it is applied, and may raise.
        A replay applies events to a rebuilt state, whose taxonomy may be another one than they were
        answered for: it leaves out placements that are not possible there, but loses no event.
        """
        self.is_amid = False  # a request is partly applied
        self._holder = holder
        self._outcomes = Outcomes() if outcomes is None else outcomes
        self._clock = clock
        self._check = check
        self._is_replay = is_replay
        self._is_lost = False  # the state is gone, until a mark restores another

    def log(self, payloads: Iterable[tuple[int, bytes]]) -> Iterator[Step]:
        """Apply the numbered events of a log.

        Raises EventError for a number that is not the next.
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
        """Apply all events of one request, or none."""
        self.is_amid = True
        first_seq = self._holder.model.seq + 1
        codes: list[int] = []
        if events and events[0].kind in MARKS:
            yield from self._replace_model(first_seq, events[0])
            codes.append(NO_EFFECT)
            events = events[1:]
        model = self._holder.model
        if self._is_lost:
            _pass_over(model, events)
        else:
            if self._check is not None:
                self._check(model, events)
            try:
                applied = model.apply_request(events, self._clock, self._is_replay)
                for event, outcome in zip(events, applied, strict=True):
                    codes.append(NO_EFFECT if isinstance(outcome, int) else code_of(outcome.rank))
                    yield Applied(event, outcome)
            except RequestConflict as conflict:
                codes += [NO_EFFECT] * len(events)
                yield conflict
            self._outcomes.note(first_seq, codes)
        self.is_amid = False

    def batch(self, batch: EventBatch, seconds: Clock) -> Iterator[Step]:
        """Apply plain events, each a request by itself; one native call applies as many as time
        permits.

        `seconds` returns the remaining time. The batch receives the outcomes.
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
            except MemoryError:  # raised before an event begins, or again at the next call
                is_short = True
            yield Stretch(batch, first, is_short)
        self._outcomes.note(batch.first_seq, batch.ranks(0))
        self.is_amid = False

    def pass_over(self) -> None:
        """Count the next event without applying it; its recorded outcome says: no effect."""
        self._holder.model.pass_over()

    def forget(self) -> None:
        """Forget the request being applied, because another state replaces this one."""
        self.is_amid = False

    def _replace_model(self, seq: int, mark: Event) -> Iterator[Step]:
        """Replace the model by the one that a mark names."""
        before = self._holder.model
        # Only the lost state knows whether a restore has undone the rebuilt state.
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
    """Count events of a lost state. Events that raise the rules are applied: rules hold for every
    state.
    """
    for event in events:
        if event.kind == "rules":
            model.use_rules(event.rules)
        model.pass_over()


def refuse(needed: StateNeeded) -> Loaded:
    """Raise EventError: no mark is expected."""
    raise EventError(f"event {needed.seq} switches to another state, which is not expected here")


def apply_all(steps: Iterable[Step], load: Callable[[StateNeeded], Loaded] = refuse) -> None:
    """Run all steps; `load` returns the state that a mark names, or raises."""
    for step in steps:
        if isinstance(step, StateNeeded):
            step.loaded = load(step)

"""Brings the state back: the newest snapshot that can be used, and the events after it."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from manyclass.core import rules
from manyclass.core.errors import (
    EventConflict,
    EventError,
    OptionError,
    RulesDiffer,
    SnapshotError,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service.store.protocol import (
    LogDamaged,
    SnapshotDamaged,
    SnapshotInfo,
    SnapshotMissing,
    Store,
)

log = logging.getLogger(__name__)

SAY_SECONDS = 5.0  # a long replay says how far it is this often
LOOK_EVENTS = 1000  # and looks at the clock, and whether to give up, after so many events

BACKUP = "put a backup of the store in its place, or move the store away to begin anew"


NAME = (
    "name the learners the log was begun with in MANYCLASS_LEARNER and MANYCLASS_SHADOWS, or"
    f" {BACKUP}"
)


class RecoveryError(Exception):
    """The state could not be brought back whole, so nothing is served instead of something less."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


class NewerRules(RecoveryError):
    """A newer release has raised the version of the rules."""

    def __init__(self, error: RulesDiffer) -> None:
        super().__init__(str(error), "start the newer release on this store")


class OlderRules(RecoveryError):
    """Events in the log have to be applied by an older release; `model` is the state before them,
    None when there is none.
    """

    def __init__(self, base: str, error: RulesDiffer, model: Model | None) -> None:
        super().__init__(
            f"events after {base} were learned by an older release: {error}",
            "start one process of the older release on this store, and stop it by SIGTERM once"
            " /stats says that it leads: it leaves a snapshot that holds them; if it refuses the"
            f" store, {BACKUP}",
        )
        self.model = model


class OptionsDiffer(Exception):
    """The stored model has other learners or options: name -> (stored, asked for).

    `stored`: the variables that mean the stored learners.
    """

    def __init__(self, differences: dict[str, tuple[Any, Any]], stored: str) -> None:
        listed = ", ".join(
            f"{name} is {stored!r} in the store and {asked!r} in the settings"
            for name, (stored, asked) in differences.items()
        )
        self.hint = (
            f"start with {stored} and no other limits, or with --reconfigure to go on with those"
            " asked for"
        )
        super().__init__(f"the stored model has other options: {listed}; {self.hint}")
        self.differences = differences


@dataclass(slots=True)
class Recovery:
    """How a recovery goes, written by its thread and read by whoever is asked about it."""

    snapshot: SnapshotInfo | None = None  # the one that was loaded
    refused: dict[int, str] = field(default_factory=dict)  # snapshots that were not, and why
    replayed: int = 0
    last_seq: int = 0  # where the replay will end
    seconds: float = 0.0
    given_up: bool = False  # set to make it stop


def load_snapshot(store: Store, seq: int, hash_seed: int) -> Model:
    """The model as it was at `seq`; SnapshotMissing, SnapshotDamaged, RulesDiffer."""
    try:
        model = Model.load(store.open_snapshot(seq), hash_seed)
    except SnapshotError as error:
        raise SnapshotDamaged(seq, "model", str(error)) from error
    if model.seq != seq:
        raise SnapshotDamaged(seq, "model", f"it holds the state at {model.seq}")
    return model


def recover(
    store: Store,
    model_set: Callable[[], ModelSet] | ModelSet | Options,
    clock: Callable[[], float],
    recovery: Recovery,
    hash_seed: int = 0,
    named: bool = True,
) -> Model:
    """The model after the last event of the log. Blocks: run it in a thread.

    Its rules may be of an older version, when a snapshot holds the last event: then apply the event
    that raises them before any other.

    A store without events gets a snapshot of the empty model first, so that the learners a log was
    made with are always stored before it. When others append meanwhile, the model is at least as
    far as the log was at first. `model_set` is only asked for where no snapshot can be used; a log
    is then replayed from its beginning if they were `named`, for others would make another model of
    it, and as one begun under the rules of this release. Raises RecoveryError and StoreError.
    """
    began = clock()
    recovery.snapshot = None
    recovery.refused.clear()
    recovery.replayed = 0
    recovery.last_seq = store.last_seq
    model = _newest_usable(store, recovery, hash_seed)
    replays_all = model is None and recovery.last_seq > 0
    if replays_all and not named:
        raise RecoveryError(
            f"the whole log has to be replayed ({_base(recovery)}), and the learners it was made"
            " with are not known",
            NAME,
        )
    if model is None:
        model = Model(model_set() if callable(model_set) else model_set, hash_seed)
        if not replays_all:
            model = _begun(store, model, recovery, hash_seed)
        else:
            log.warning(
                "no snapshot is usable: replaying the whole log, with the learners set now and the"
                " rules of this release"
            )
    restored = model
    try:
        if replays_all:
            model.rules = _rules_at_first(store)
        model = _replay(store, model, clock, recovery, hash_seed, replays_all)
    except RulesDiffer as error:
        if error.is_newer:
            raise NewerRules(error) from error
        stale = None if replays_all else restored
        raise OlderRules(_base(recovery), error, stale) from error
    except (LogDamaged, EventError) as error:
        raise RecoveryError(
            f"the log cannot be replayed after {_base(recovery)}: {error}", BACKUP
        ) from error
    if model.seq < recovery.last_seq:
        raise RecoveryError(
            f"the log ends at event {model.seq}, but event {recovery.last_seq} was acknowledged",
            BACKUP,
        )
    recovery.seconds = clock() - began
    log.info(
        "recovered event %d: %s, %d events replayed, %.1f s",
        model.seq,
        _base(recovery),
        recovery.replayed,
        recovery.seconds,
    )
    return model


def _rules_at_first(store: Store) -> int:
    """Return the version of the rules that a whole log began under, when no snapshot tells.

    The store knows whether a release without versions of the rules began the log. A log that raises
    the rules began under older ones. In all other logs nothing tells the version, and the operator,
    who names the learners the log was begun with, is trusted to start the right release as well.
    """
    if store.is_older_than_rules:
        return 1
    raised = any(event.kind == "rules" for request in _requests(store, 0) for _, event in request)
    return 1 if raised else rules.RULES


def _begun(store: Store, model: Model, recovery: Recovery, hash_seed: int) -> Model:
    """The model every process on this store begins with: the one that was first stored."""
    recovery.snapshot = store.save_snapshot(0, model.dump(), keep_existing=True)
    try:
        return load_snapshot(store, 0, hash_seed)
    except SnapshotDamaged:
        recovery.snapshot = store.save_snapshot(0, model.dump())
        return model


def _base(recovery: Recovery) -> str:
    snapshot = recovery.snapshot
    used = "no snapshot" if snapshot is None else f"snapshot {snapshot.seq}"
    refused = "".join(f", {seq} refused ({reason})" for seq, reason in recovery.refused.items())
    return used + refused


def _newest_usable(store: Store, recovery: Recovery, hash_seed: int) -> Model | None:
    for info in store.snapshots():
        try:
            model = load_snapshot(store, info.seq, hash_seed)
        except RulesDiffer as error:
            raise NewerRules(error) from error
        except (SnapshotDamaged, SnapshotMissing) as error:
            log.error("snapshot %d is refused, trying the one before it: %s", info.seq, error)
            recovery.refused[info.seq] = str(error)
        else:
            recovery.snapshot = info
            return model
    return None


def _replay(
    store: Store,
    model: Model,
    clock: Callable[[], float],
    recovery: Recovery,
    hash_seed: int,
    strict: bool,
) -> Model:
    """The model after the events that follow it in the log.

    `strict`: the learners it begins with are not from a snapshot, so RecoveryError when the log
    changes learners there are none of.

    A restore mark replaces the state, so what came before the last mark does not matter: a mark
    whose snapshot is gone is an error only when no later mark follows.
    """
    lost: RecoveryError | None = None
    said = clock()
    looked = 0
    for request in _requests(store, model.seq):
        [(seq, first), *_] = request
        recovery.replayed += len(request)
        if first.kind == "restore":
            try:
                in_force = model.rules
                model = load_snapshot(store, first.restored, hash_seed)
                model.restored(seq, first.restored, in_force)
                lost = None
                strict = False
                request = request[1:]
            except (SnapshotDamaged, SnapshotMissing) as error:
                lost = RecoveryError(
                    f"event {seq} went back to snapshot {first.restored}, which is not usable: "
                    f"{error}",
                    BACKUP,
                )
        if lost is not None and first.kind == "rules":
            model.use_rules(first.rules)
        if lost is None:
            if strict:
                _fit(model, request)
            _apply(model, request)
        if recovery.replayed - looked >= LOOK_EVENTS:
            looked = recovery.replayed
            if recovery.given_up:
                raise RecoveryError("the service was stopped while it recovered", "start it again")
            if clock() - said >= SAY_SECONDS:
                said = clock()
                log.info("replaying event %d of %d", seq, recovery.last_seq)
    if lost is not None:
        raise lost
    return model


def _fit(model: Model, request: list[tuple[int, Event]]) -> None:
    """Raise RecoveryError when a request changes the learners of another model than this."""
    for seq, event in request:
        if event.kind in ("promote", "configure"):
            try:
                model.check(event)
            except (UnknownName, OptionError) as error:
                raise RecoveryError(
                    f"event {seq} does not fit the learners of the settings: {error}",
                    NAME,
                ) from error


def _requests(store: Store, after: int) -> Iterator[list[tuple[int, Event]]]:
    """The events of the log with their numbers, those of one request together."""
    request: list[tuple[int, Event]] = []
    for seq, payload in store.read(after):
        event = Event.from_bytes(payload)
        if request and not event.joined:
            yield request
            request = []
        request.append((seq, event))
    if request:
        yield request


def _apply(model: Model, request: list[tuple[int, Event]]) -> None:
    """What the ApplyLoop does, at one go."""
    try:
        repeated = model.repeats([event for _, event in request])
    except EventConflict:
        model.pass_over(len(request))
        return
    for position, (seq, event) in enumerate(request):
        if position in repeated:
            model.pass_over()
        else:
            model.apply(seq, event)

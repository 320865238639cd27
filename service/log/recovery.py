"""Recovery: the newest usable snapshot, and the events after it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from manyclass.core import rules
from manyclass.core.errors import (
    EventError,
    OptionError,
    RulesDiffer,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.service.errors import (
    BACKUP,
    NAME_THE_LEARNERS,
    NewerRules,
    OlderRules,
    RecoveryError,
)
from manyclass.service.log.interpreter import (
    Interpreter,
    Loaded,
    NoState,
    OneModel,
    StateNeeded,
    apply_all,
)
from manyclass.service.log.outcomes import Outcomes
from manyclass.service.log.snapshot_loader import load_snapshot, load_state
from manyclass.service.store.errors import LogDamaged, LogTrimmed, SnapshotDamaged, SnapshotMissing
from manyclass.service.store.protocol import SnapshotInfo, Store

log = logging.getLogger(__name__)

AGAIN = "start the service again: another process may have taken a newer snapshot meanwhile"
LOG_SECONDS = 5.0  # between two log messages on the progress of a replay
CHECK_EVENTS = 1000  # events between two checks of the clock and of `given_up`


@dataclass(slots=True)
class Recovery:
    """The progress of a recovery, written by its thread and read by the event loop."""

    snapshot: SnapshotInfo | None = None  # the loaded snapshot
    refused: dict[int, str] = field(default_factory=dict)  # number of a damaged snapshot -> reason
    replayed: int = 0
    last_seq: int = 0  # the end of the replay
    seconds: float = 0.0
    rules_raised_at: int = 0  # number of the event by which this process raised the rules
    given_up: bool = False  # set by the event loop to stop the recovery
    outcomes: Outcomes = field(default_factory=Outcomes)  # of replayed and later events


def recover(
    store: Store,
    model_set: Callable[[], ModelSet] | ModelSet | Options,
    clock: Callable[[], float],
    recovery: Recovery,
    hash_seed: int = 0,
    named: bool = True,
    text: TextAnalysis = DEFAULT_TEXT,
) -> Model:
    """Return the model after the last event of the log. Blocks: run it in a thread.

    If a snapshot includes the last event, its rules may have an older version: the caller must then
    apply the event that raises them.

    A store without events gets a snapshot of the empty model first, so that the learners and the
    text analysis of a log are always stored before its events. If other processes append meanwhile,
    the model includes at least the events that the log had at first. `model_set` and `text` are
    needed only if no snapshot is usable. The log is then replayed from its beginning, but only if
    both were `named` in the settings, because other learners would make another model. Raises
    RecoveryError and StoreError.
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
            f"the whole log has to be replayed ({_base(recovery)}), but its learners and its text"
            " analysis are not known",
            NAME_THE_LEARNERS,
        )
    if model is None:
        model = Model(model_set() if callable(model_set) else model_set, hash_seed, text)
        if not replays_all:
            model = _begun(store, model, recovery, hash_seed)
        else:
            log.warning(
                "no snapshot is usable: replaying the whole log with the learners of the settings"
                " and the rules of this release"
            )
    restored = model
    try:
        if replays_all:
            model.rules = _rules_at_first(store)
        model = _Replay(store, clock, recovery, hash_seed, replays_all).after(model)
    except RulesDiffer as error:
        if error.is_newer:
            raise NewerRules(error) from error
        stale = None if replays_all else restored
        raise OlderRules(_base(recovery), error, stale) from error
    except LogTrimmed as error:
        raise RecoveryError(
            f"the log cannot be replayed after {_base(recovery)}: {error}",
            BACKUP if recovery.snapshot is None or recovery.refused else AGAIN,
        ) from error
    except LogDamaged as error:
        raise RecoveryError(
            f"the log cannot be replayed after {_base(recovery)}: {error}", BACKUP
        ) from error
    except EventError as error:
        raise RecoveryError(
            f"the log cannot be replayed after {_base(recovery)}: {error}",
            f"if a newer release has used the store, start that; else {BACKUP}",
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
    """Return the version of the rules with which a whole log without a snapshot began.

    A log with an event that raises the rules began under older rules. Other logs do not record the
    version: the operator, who names the first learners, must also start the right release.
    """
    raised = any(Event.from_bytes(payload).kind == "rules" for _, payload in store.read(0))
    return 1 if raised else rules.RULES


def _begun(store: Store, model: Model, recovery: Recovery, hash_seed: int) -> Model:
    """Return the model with which every process on this store begins: the first stored one."""
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
        except SnapshotMissing:
            log.warning("snapshot %d was deleted meanwhile; trying the previous one", info.seq)
        except SnapshotDamaged as error:
            log.error("snapshot %d is refused; trying the previous one: %s", info.seq, error)
            recovery.refused[info.seq] = str(error)
        else:
            recovery.snapshot = info
            return model
    return None


class _Replay:
    """A replay of the log, from the events after a state up to the end."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        recovery: Recovery,
        hash_seed: int,
        is_strict: bool,
    ) -> None:
        """`is_strict` is true if the learners are from the settings, not from a snapshot; then an
        event that changes another learner is an error.
        """
        self._store = store
        self._clock = clock
        self._recovery = recovery
        self._hash_seed = hash_seed
        self._is_strict = is_strict
        self._lost: RecoveryError | None = None

    def after(self, model: Model) -> Model:
        """Return the model after the events that follow it.

        A restore mark replaces the state, so earlier events do not matter: a mark whose state is
        gone is an error only if no later restore mark has a usable snapshot.
        """
        holder = OneModel(model)
        interpreter = Interpreter(holder, self._recovery.outcomes, check=self._check)
        apply_all(interpreter.log(self._counted(model.seq)), self._load)
        if self._lost is not None:
            raise self._lost
        return holder.model

    def _counted(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield and count the events after `after`. Raises RecoveryError when given up."""
        recovery, logged_at = self._recovery, self._clock()
        for seq, payload in self._store.read(after):
            recovery.replayed += 1
            if recovery.replayed % CHECK_EVENTS == 0:
                if recovery.given_up:
                    raise RecoveryError(
                        "the service was stopped during recovery", "start the service again"
                    )
                if self._clock() - logged_at >= LOG_SECONDS:
                    logged_at = self._clock()
                    log.info("replaying event %d of %d", seq, recovery.last_seq)
            yield seq, payload

    def _load(self, needed: StateNeeded) -> Loaded:
        """Return the state that a mark names."""
        try:
            loaded = load_state(self._store, needed, self._hash_seed)
        except (SnapshotDamaged, SnapshotMissing) as error:
            self._lost = _lost_at(needed, error)
            return NoState.LOST
        if needed.mark.kind == "restore":
            self._lost, self._is_strict = None, False
        return loaded

    def _check(self, model: Model, request: Sequence[Event]) -> None:
        """Raise RecoveryError if a request changes learners that the model does not have."""
        if not self._is_strict:
            return
        for seq, event in enumerate(request, model.seq + 1):
            if event.kind in ("promote", "configure"):
                try:
                    model.check(event)
                except (UnknownName, OptionError) as error:
                    raise RecoveryError(
                        f"event {seq} contradicts the learners of the settings: {error}",
                        NAME_THE_LEARNERS,
                    ) from error


def _lost_at(needed: StateNeeded, error: SnapshotDamaged | SnapshotMissing) -> RecoveryError:
    """Return the error of a mark whose state is damaged or was deleted for a newer one."""
    mark = needed.mark
    if mark.kind == "restore":
        change = f"restored snapshot {mark.restored}"
    else:
        change = "adopted a rebuilt state"
    hint = BACKUP if isinstance(error, SnapshotDamaged) else f"{AGAIN}; if that fails, {BACKUP}"
    return RecoveryError(f"event {needed.seq} {change}, which is not usable: {error}", hint)

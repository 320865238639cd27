"""The errors of the service that a caller can act on, beside those of `core` and of the store."""

from typing import TYPE_CHECKING, Any

from manyclass.core.errors import RequestConflict, RulesDiffer
from manyclass.service.store.errors import (
    LogDamaged,
    LogTrimmed,
    SegmentMissing,
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from manyclass.core.model import Model

RETRY_AFTER = 1.0  # seconds; a full queue is shorter, or the store is back, after about as long
BACKUP = "put a backup of the store in its place, or move the store away to begin anew"
NAME_THE_LEARNERS = (
    "name the learners the log was begun with in MANYCLASS_LEARNER and MANYCLASS_SHADOWS, and its"
    f" analysis of texts in MANYCLASS_TEXT, or {BACKUP}"
)


class Rejected(Exception):
    """Base of the errors that reject events. None of the events was kept."""


class NotReady(Rejected):
    """The state is not there: it is being restored, could not be, or the service is stopping."""

    def __init__(self, status: str, reason: str | None = None) -> None:
        super().__init__(f"the service is {status}" + (f": {reason}" if reason else ""))
        self.status = status
        self.reason = reason
        self.retry_after = RETRY_AFTER


class QueueFull(Rejected):
    """More events wait to be learned than the settings allow."""

    hint = (
        "send again after retry_after seconds, or raise MANYCLASS_MAX_QUEUE_EVENTS or"
        " MANYCLASS_MAX_QUEUE_BYTES"
    )

    def __init__(self, events: int, bytes: int) -> None:
        super().__init__(f"{events} events ({bytes} bytes) already wait to be learned")
        self.events = events
        self.bytes = bytes
        self.retry_after = RETRY_AFTER


class RebuildRefused(Exception):
    """The history cannot be learned again now. Nothing was changed."""


class MemoryShort(Rejected):
    """The system has less memory than a rebuild needs."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(
            f"a rebuild needs about {needed} bytes of memory, and {available} are available"
        )
        self.retry_after = 60.0


class HistoryOff(Exception):
    """The service keeps no history of events."""

    def __init__(self) -> None:
        super().__init__(
            "this service keeps no history of events: it needs MANYCLASS_HISTORY=yes and a store"
            " sqlite:PATH or redis://HOST/DB"
        )


class RecoveryError(Exception):
    """The state could not be restored whole, so the service serves nothing instead of a part."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


class NewerRules(RecoveryError):
    """A newer release has raised the version of the rules."""

    def __init__(self, error: RulesDiffer) -> None:
        super().__init__(str(error), "start the newer release on this store")


class OlderRules(RecoveryError):
    """An older release has to apply events of the log.

    `model` is the state before these events, None when there is none.
    """

    def __init__(self, base: str, error: RulesDiffer, model: "Model | None") -> None:
        super().__init__(
            f"events after {base} were learned by an older release: {error}",
            "start one process of the older release on this store, and stop it by SIGTERM once"
            " /stats says that it leads: it leaves a snapshot that holds them"
            + (
                f"; if it refuses the store, which has no snapshot, {BACKUP}"
                if model is None
                else ""
            ),
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


def with_hint(error: Exception) -> str:
    """Return the error and its hint. For the log: the text may hold the place of the store."""
    hint = error.hint if isinstance(error, StoreError | QueueFull | RequestConflict) else ""
    return f"{error}; {hint}" if hint else str(error)


def without_place(error: Exception) -> str:
    """Return the error for clients, of a store with its hint and without the store's place."""
    if not isinstance(error, StoreError):
        return str(error)
    match error:
        case SnapshotMissing() | SnapshotDamaged() | SegmentMissing() | LogDamaged() | LogTrimmed():
            return with_hint(error)
        case StoreFull():
            kind = "the store is full"
        case StoreUnavailable():
            kind = "the store is not available"
        case StoreDamaged():
            kind = "the store is damaged"
        case _:
            kind = "the store cannot do this"
    if error.hint:
        return f"{kind}; {error.hint}"
    # Stores put the path before the words of what broke below them.
    return kind if error.__cause__ is not None else f"{kind}: {error}"

"""The errors of the service that a caller can act on; `core` and the store have their own."""

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

RETRY_AFTER = 1.0  # seconds after which the queue is probably shorter or the store back
BACKUP = "replace the store by a backup, or move it away to start with an empty one"
NAME_THE_LEARNERS = (
    "set MANYCLASS_LEARNER, MANYCLASS_SHADOWS and MANYCLASS_TEXT to the learners and the text"
    f" analysis with which the log began, or {BACKUP}"
)


class Rejected(Exception):
    """Base of the errors that reject events. None of the events was kept."""


class NotReady(Rejected):
    """There is no state: it is being restored or could not be, or the service is stopping."""

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
    """The state cannot be rebuilt now. Nothing was changed."""


class AdviceRefused(Exception):
    """The learners cannot be compared now."""


class MemoryShort(Rejected):
    """The system has less memory than a rebuild, say, needs."""

    def __init__(self, what: str, needed: int, available: int) -> None:
        super().__init__(
            f"{what} needs about {needed} bytes of memory, and {available} are available"
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
    """The state could not be restored completely; the service does not serve an incomplete one."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


class NewerRules(RecoveryError):
    """A newer release has raised the version of the rules."""

    def __init__(self, error: RulesDiffer) -> None:
        super().__init__(str(error), "start the newer release on this store")


class OlderRules(RecoveryError):
    """The log has events that only an older release can apply.

    `model` is the state before these events, or None.
    """

    def __init__(self, base: str, error: RulesDiffer, model: "Model | None") -> None:
        super().__init__(
            f"events after {base} were learned by an older release: {error}",
            "start one process of the older release on this store, and stop it with SIGTERM once"
            " /stats says that it leads: it leaves a snapshot that includes these events"
            + (
                f"; if it refuses the store, which has no snapshot, {BACKUP}"
                if model is None
                else ""
            ),
        )
        self.model = model


class OptionsDiffer(Exception):
    """The learners or options of the stored model differ from the settings: name -> (stored, set).

    `stored` has the environment variables that mean the stored learners.
    """

    def __init__(self, differences: dict[str, tuple[Any, Any]], stored: str) -> None:
        listed = ", ".join(
            f"{name} is {stored!r} in the store and {asked!r} in the settings"
            for name, (stored, asked) in differences.items()
        )
        self.hint = (
            f"start with {stored} and no other limits, or with --reconfigure to change the model to"
            " the settings"
        )
        super().__init__(f"the stored model has other options: {listed}; {self.hint}")
        self.differences = differences


def with_hint(error: Exception) -> str:
    """Return the error and its hint, for the log: the text may contain the address of the store."""
    hint = error.hint if isinstance(error, StoreError | QueueFull | RequestConflict) else ""
    return f"{error}; {hint}" if hint else str(error)


def without_place(error: Exception) -> str:
    """Return the error for clients; a store error has its hint but not the store's address."""
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
    # With a cause, the text of the error may contain the path of the store.
    return kind if error.__cause__ is not None else f"{kind}: {error}"

"""The mapping of every error to problem+json (RFC 9457). No other module does this."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec
from fastapi.exceptions import RequestValidationError
from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException

from manyclass.core.errors import (
    DescriptionsFull,
    DimensionConflict,
    EventConflict,
    InstanceError,
    LearnerHalfChanged,
    OptionError,
    PlacementConflict,
    PlacementFault,
    RenameConflict,
    TaxonomyMissing,
    UnknownName,
)
from manyclass.service.errors import (
    AdviceRefused,
    HistoryOff,
    MemoryShort,
    NotReady,
    QueueFull,
    RebuildRefused,
    with_hint,
    without_place,
)
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    LogRewound,
    SnapshotDamaged,
    SnapshotMissing,
    StoreError,
)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 1  # Retry-After of errors without a time of their own
OUT_OF_MEMORY_SECONDS = 5  # Retry-After when memory ran out

ROOT = "#"  # the pointer to a whole body

Place = tuple[str | int, ...]


class Fault(msgspec.Struct, frozen=True):
    """A fault in a request: at a JSON pointer into its body, or in a parameter."""

    detail: str
    pointer: str | UnsetType = UNSET
    parameter: str | UnsetType = UNSET


class FirstLabel(msgspec.Struct, frozen=True):
    """The label that an instance has already: the key and the number of its event, its reviewer,
    its classes, and its time in unix seconds. What the history does not reach is null."""

    key: str
    seq: int
    reviewer: str | None
    classes: list[str] | None
    time: float | None


class ProblemDocument(msgspec.Struct):
    """A refusal by RFC 9457. A refused request changes nothing. `label` is the label that an
    instance has already, if another one was refused."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Fault] | UnsetType = UNSET
    label: FirstLabel | UnsetType = UNSET


class Problem(Exception):
    """A refusal with its status, raised by any code that finds a fault in a request."""

    def __init__(
        self,
        status: int,
        detail: str,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.faults = tuple(faults)
        self.headers = dict(headers or {})
        self.label: FirstLabel | UnsetType = UNSET

    @classmethod
    def at(cls, status: int, detail: str, *place: str | int) -> "Problem":
        """Return the problem of one fault at this position of a body."""
        return cls(status, detail, [Fault(detail, pointer(place))])

    def about(self, label: FirstLabel | UnsetType) -> "Problem":
        """Return the same problem with the label that an instance has."""
        self.label = label
        return self

    def within(self, *place: str | int) -> "Problem":
        """Return the same problem with its faults below `place` in a larger body."""
        faults = self.faults or (Fault(self.detail, ROOT),)
        moved = [
            Fault(fault.detail, pointer(place) + fault.pointer.removeprefix(ROOT))
            for fault in faults
            if fault.pointer is not UNSET
        ]
        return Problem(self.status, self.detail, moved, self.headers).about(self.label)

    def document(self) -> ProblemDocument:
        """Return the body of the answer."""
        title = HTTPStatus(self.status).phrase
        errors = [*self.faults] or UNSET
        return ProblemDocument("about:blank", title, self.status, self.detail, errors, self.label)

    def answer(self) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Return status, headers and body in the types of ASGI."""
        body = msgspec.json.encode(self.document())
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in self.headers.items()),
        ]
        return self.status, headers, body


class ClientGone(Exception):
    """The client left before its request was complete."""


def pointer(place: Place) -> str:
    """Return a position in a body as a JSON pointer in the form of a URI fragment (RFC 9457)."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in place)
    return ROOT + "".join("/" + quote(step, safe="~", errors="replace") for step in steps)


def invalid(detail: str, *place: str | int) -> Problem:
    """Return the problem of a well-formed body with one fault at this position."""
    return Problem.at(422, detail, *place)


def no_parameters(query: bytes) -> Problem:
    """Return the problem of parameters in the URL of a call with a body; it names the first."""
    name = next(iter(parse_qs(query.decode("latin-1"), keep_blank_values=True)), "")
    detail = "This call takes no parameters in its URL; put them into the body."
    return Problem(422, detail, [Fault(detail, parameter=name[:100])] if name else ())


def unavailable(detail: str, retry_after: float = RETRY_SECONDS) -> Problem:
    """Return the refusal of a request that may succeed later."""
    return Problem(503, detail, headers={"Retry-After": str(max(1, round(retry_after)))})


_SEND_AGAIN = (
    "they may still be learned: sending them again is safe with the same event_id, but without one"
    " they may be learned twice"
)

_OF_THE_ROUTER = {
    404: "There is no such path; /docs lists all paths.",
    405: "The path does not support this method; /docs lists the methods of each path.",
}


def problem_of(error: BaseException) -> Problem:
    """Return the problem of an error, or a bare 500 for an error that is not listed here."""
    match error:
        case Problem():
            return error
        case msgspec.ValidationError():
            detail, place = parted(str(error))
            return invalid(detail, *place)
        case msgspec.DecodeError():
            return Problem(400, f"The body is not JSON: {error}.")
        case InstanceError():
            return invalid(str(error), *error.where)
        case UnknownName():
            return Problem(404, str(error))
        case TaxonomyMissing():
            return invalid(str(error), "decode")
        case EventConflict():
            detail = f"event_id {error.event_id!r} was seen with other content; {error.hint}"
            return Problem(409, detail, [Fault(detail, "#/event_id")])
        case PlacementConflict():
            return Problem(409, with_hint(error), [Fault(str(error), pointer(error.where))])
        case DimensionConflict() | PlacementFault():
            return invalid(str(error), *error.where)
        case RebuildRefused() | AdviceRefused():
            return Problem(409, str(error))
        case HistoryOff():
            return Problem(404, str(error))
        case QueueFull() | NotReady() | MemoryShort():
            return unavailable(with_hint(error), error.retry_after)
        case RenameConflict() | DescriptionsFull():
            return Problem(409, str(error))
        case SnapshotMissing():
            return Problem(404, without_place(error))
        case OptionError():
            return Problem(409, str(error))
        case SnapshotDamaged():
            return Problem(409, without_place(error))
        case CommitOutcomeUnknown():
            return unavailable(f"it is not known whether the store has the events; {_SEND_AGAIN}")
        case LogRewound():
            return unavailable(f"the store has lost its last events; {_SEND_AGAIN}")
        case StoreError():
            return unavailable(without_place(error))
        case MemoryError():
            return unavailable("The process is out of memory.", OUT_OF_MEMORY_SECONDS)
        case LearnerHalfChanged():
            return unavailable("Memory ran out during a change; restart this process.")
        case RequestValidationError():
            return _bad_parameters(error)
        case HTTPException():  # of the router
            detail = _OF_THE_ROUTER.get(error.status_code, str(error.detail))
            return Problem(error.status_code, detail, headers=error.headers)
    return Problem(500, "The service failed to answer; see its log for the reason.")


# The messages of msgspec end with the position: "Expected `int`, got `str` - at `$.instances[3].k`"
_PLACE = re.compile(r"^(?P<detail>.*?)(?: - at (?:`key` in )?`\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<position>\d+)\]")


def parted(message: str) -> tuple[str, Place]:
    """Return the detail and the position in a message of msgspec."""
    match = _PLACE.match(message)
    if match is None:
        return message, ()
    place: Place = tuple(
        int(step["position"]) if step["position"] else step["key"]
        for step in _STEP.finditer((match["path"] or "").split("[...]")[0])  # a map's key is hidden
    )
    return match["detail"], place


def _bad_parameters(error: RequestValidationError) -> Problem:
    details: Sequence[Any] = error.errors()
    faults = [Fault(each["msg"], parameter=str(each["loc"][-1])) for each in details]
    return Problem(422, "; ".join(f"{fault.parameter}: {fault.detail}" for fault in faults), faults)

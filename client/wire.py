"""Requests and answers as HTTP, for every kind of client."""

from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from typing import Literal, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from manyclass.client.encoding import Parameters, checked_name
from manyclass.client.errors import Problem, RequestRefused, ServiceUnreachable
from manyclass.client.proxies import by_proxy

Answer = TypeVar("Answer")
Moment = float | str | datetime  # unix seconds, a time by RFC 3339 or a date, or a datetime


def rank_options(
    k: int,
    threshold: float | None,
    among: Sequence[str | int] | None,
    min_confidence: float | None,
    min_accuracy: float | None,
    probabilities: bool,
    min_probability: float | None,
    min_precision: float | None,
    decode: Literal["taxo"] | None,
    explain: bool,
    min_seq: int,
    keep: bool,
) -> dict[str, object]:
    """Return the members of a ranking request besides its instances.

    Raises ValueError for a number that is not finite, which JSON cannot express.
    """
    if threshold is not None and not isfinite(threshold):
        raise ValueError("threshold must be a finite number")
    limits = {
        "min_confidence": min_confidence,
        "min_accuracy": min_accuracy,
        "min_probability": min_probability,
        "min_precision": min_precision,
    }
    for name, limit in limits.items():
        if limit is not None and not 0 <= limit <= 1:
            raise ValueError(f"{name} must be from 0 to 1")
    how: dict[str, object] = {"k": k}
    if explain:
        how["explain"] = True
    if probabilities:
        how["probabilities"] = True
    if min_seq:
        how["min_seq"] = min_seq
    if not keep:
        how["keep"] = False
    if threshold is not None:
        how["threshold"] = threshold
    if among is not None:
        how["among"] = among
    how |= {name: limit for name, limit in limits.items() if limit is not None}
    if decode is not None:
        how["decode"] = decode
    return how


def event_filter(
    of_class: str | None,
    source: str | None,
    reviewer: str | None,
    batch: str | None,
    instance_id: str | None,
    text: str | None,
    since: Moment | None,
    until: Moment | None,
    wrong: bool,
    undone: bool,
    oldest_first: bool,
) -> dict[str, str | int | float]:
    """Return the parameters that choose events of the history and their order."""
    given = {
        "class": of_class,
        "source": source,
        "reviewer": reviewer,
        "batch": batch,
        "id": instance_id,
        "text": text,
        "since": _as_text(since),
        "until": _as_text(until),
    }
    chosen: dict[str, str | int | float] = {
        name: value for name, value in given.items() if value is not None
    }
    if wrong:
        chosen["wrong"] = "yes"
    if undone:
        chosen["undone"] = "yes"
    if oldest_first:
        chosen["order"] = "oldest"
    return chosen


def _as_text(moment: Moment | None) -> str | float | None:
    return moment.isoformat() if isinstance(moment, datetime) else moment


def error_filter(last: int, limit: int, seconds: float | None) -> Parameters:
    """Return the parameters that bound a count of errors."""
    return counted_events(last, seconds) | {"limit": limit}


def counted_events(last: int, seconds: float | None) -> dict[str, str | int | float]:
    """Return the parameters of the events to count, and of the time to wait."""
    return {"last": last} if seconds is None else {"last": last, "seconds": seconds}


def path_of(kind: str, name: str) -> str:
    """Return the path of a class, a feature, a learner or an event, its name percent-encoded."""
    # Dots too, because a name that consists of dots would be a step up the path.
    return f"/{kind}/{quote(checked_name(name, kind), safe='').replace('.', '%2E')}"


def refusal(response: httpx.Response) -> RequestRefused:
    """Return the error of an answer; an answer of another server may have no details."""
    try:
        problem = msgspec.json.decode(response.content, type=Problem)
    except msgspec.DecodeError:
        problem = Problem(detail=by_proxy(str(response.url)).removeprefix(", "))
    return RequestRefused(
        response.status_code,
        problem.title or response.reason_phrase,
        problem.detail,
        problem.errors,
        retry_after(response),
        problem.label,
    )


def unreachable(url: str, error: Exception) -> ServiceUnreachable:
    """Return the error of a request without an answer; it names the proxy, if there is one."""
    return ServiceUnreachable(url, (str(error) or type(error).__name__) + by_proxy(url))


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds after which a server asks for the request again, if it does."""
    # The service does not use the other form of the header, a date.
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isascii() and seconds.isdecimal() else None


def decoded(response: httpx.Response, answer: type[Answer]) -> Answer:
    """Return the answer in a response. Raises RequestRefused, or ServiceUnreachable for an answer
    of another server."""
    if not response.is_success:
        raise refusal(response)
    try:
        return msgspec.json.decode(response.content, type=answer)
    except msgspec.DecodeError as error:
        url = str(response.url)
        said = f"not an answer of this service: {error}{by_proxy(url)}"
        raise ServiceUnreachable(url, said) from error

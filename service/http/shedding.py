"""Kinds of requests that a connection treats differently, and the pause after a shed request.

A client that repeats a shed request at once is slowed down: its connection is not read for a while.
The pause grows with the number of connections, so that all of them together cost little. Pauses
differ randomly, so that connections shed in one burst do not return in one burst.
"""

from collections.abc import Mapping
from random import uniform

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from manyclass.service.http.asgi import path_of
from manyclass.service.http.request_body import NDJSON, media_type

RANK = "/rank"
LEARN = "/learn"
LIVEZ, READYZ = "/livez", "/readyz"
READS = ("GET", "HEAD")
READY_QUERIES = (b"", b"to=rank", b"to=learn")
PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 1.0
SPREAD = 0.25  # largest relative difference of a pause from the mean
SHED_A_SECOND = 1_000
PROXY_HEADERS = (b"via", b"forwarded", b"x-forwarded-for")  # a proxy sends one of these


def is_ranking(cycle: RequestResponseCycle) -> bool:
    """Return whether the request is a ranking, which may be shed."""
    return cycle.scope["path"] == RANK and cycle.scope["method"] == "POST"


def is_health_check(scope: Mapping[str, object]) -> bool:
    """Return whether this is a valid GET or HEAD of /livez or /readyz, which is never refused.

    With other parameters, it costs as much as any GET and is treated like one.
    """
    if scope["method"] not in READS:
        return False
    if path_of(scope) == READYZ:
        return scope["query_string"] in READY_QUERIES
    return is_liveness_check(scope)


def is_liveness_check(scope: Mapping[str, object]) -> bool:
    """Return whether this is a valid GET or HEAD of /livez, whose answer is prepared."""
    return scope["method"] in READS and path_of(scope) == LIVEZ and not scope["query_string"]


def is_read(cycle: RequestResponseCycle) -> bool:
    """Return whether the request only reads, so that it may be shed."""
    return cycle.scope["method"] in READS and not is_health_check(cycle.scope)


def is_stream(cycle: RequestResponseCycle) -> bool:
    """Return whether the request is a stream of events, which may take long."""
    scope = cycle.scope
    is_learn = scope["path"] == LEARN and scope["method"] == "POST"
    return is_learn and media_type(dict(scope["headers"])) == NDJSON


def has_encoding(cycle: RequestResponseCycle) -> bool:
    """Return whether the body is gzipped, or has another encoding, which is refused."""
    # A list, because this runs for each ranking and a generator takes three times as long.
    return b"content-encoding" in [name for name, _ in cycle.scope["headers"]]


def came_by_proxy(cycle: RequestResponseCycle) -> bool:
    """Return whether a proxy sent the request; its connection carries requests of many clients."""
    return any(name in PROXY_HEADERS for name, _ in cycle.scope["headers"])


def pause_after_shedding(connections: int) -> float:
    """Return the seconds for which a connection is not read after a refusal."""
    pause = min(max(PAUSE_SECONDS, connections / SHED_A_SECOND), LONGEST_PAUSE_SECONDS)
    return pause * uniform(1 - SPREAD, 1 + SPREAD)

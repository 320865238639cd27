"""Maps errors of the server and the client library to errors of the store."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterError,
    ConnectionError,
    InvalidResponse,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from manyclass.service.store.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable

GOES_ON = "the service continues by itself when the server can do this again"
FULL_HINT = (
    "raise maxmemory or make room on the server's disk; the service then continues by itself"
)
REPLACED_HINT = (
    "put the old data back, or save the state (`manyclass snapshot save FILE`) and restart all"
    " processes to begin with the present data"
)
REPLICA_HINT = "name the server that accepts writes, or use redis+sentinel://"
_FULL = re.compile(r"\bOOM\b|No space left on device")
# A word at the begin of an answer, or within it if a script raised the error.
_AWAY = {
    "READONLY": REPLICA_HINT,
    "LOADING": GOES_ON,
    "MASTERDOWN": GOES_ON,
    "CLUSTERDOWN": GOES_ON,
    "UNBLOCKED": GOES_ON,
    "BUSY": "a script keeps the server busy; see SCRIPT KILL",
    "MISCONF": "the server cannot write its files; see its log",
    "NOREPLICAS": "fewer replicas are connected than min-replicas-to-write requires",
    "REPLACED": REPLACED_HINT,
    "NOLEASE": "only the leading process does this",
    "NEEDED": "take a newer snapshot first",
    "REWOUND": "the server lost its last writes, and the state is restored again",
    "TRIMMED": "the leading process has newer ones",
    "SWEPT": "it took too long; try again",
    "STALE": GOES_ON,
    "NOTLAST": "other events were appended first",
    "UNSETTLED": "the leading process settles it; try again",
    "NOREBUILT": "another process leads now and has given it up; rebuild again",
    "FOREIGN": "`manyclass copy` the store to another name, and keep other programs from its keys",
}


@contextmanager
def errors_of_store(place: str) -> Iterator[None]:
    """Map errors of the client library to errors of the store; `place` is for the message."""
    try:
        yield
    except RedisError as error:
        raise store_error(place, error) from error


def lost(error: RedisError) -> bool:
    """Return whether the answer is missing, so that the server may run the command or not."""
    answers = (
        AuthenticationError,
        BusyLoadingError,
    )  # subclasses of ConnectionError in the library
    silence = (ConnectionError, TimeoutError, InvalidResponse)
    return isinstance(error, silence) and not isinstance(error, answers)


def moved(error: RedisError) -> bool:
    """Return whether the server refused because another server has the keys now."""
    return isinstance(error, MovedError | ReadOnlyError)


def store_error(place: str, error: RedisError) -> StoreError:
    text = str(error)
    message = f"Redis at {place}: {text}"
    if isinstance(error, AuthenticationError | NoPermissionError):
        return StoreError(
            message, "MANYCLASS_STORE must have a user and a password with this permission"
        )
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return StoreError(message, "name a file with the authority that signed it: ?ca_file=PATH")
    if isinstance(error, OutOfMemoryError) or _FULL.search(text):
        return StoreFull(message, FULL_HINT)
    if isinstance(error, ReadOnlyError):
        return StoreUnavailable(message, REPLICA_HINT)
    if not isinstance(error, ResponseError):
        return StoreUnavailable(message, GOES_ON)
    # The cluster is not whole, or moves the slot of our keys from node to node.
    if isinstance(error, AskError | ClusterError | TryAgainError):
        return StoreUnavailable(message, GOES_ON)
    for word, hint in _AWAY.items():
        if re.search(rf"\b{word}\b", text):
            return StoreUnavailable(message, hint)
    if "NOFACTS" in text or "WRONGTYPE" in text:
        return StoreDamaged(
            message,
            "if the keys belong to another program, use another ?name=; else restore a backup",
        )
    return StoreError(message)

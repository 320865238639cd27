"""Rewrites the files of a Redis server, so that they hold nothing of deleted keys."""

import logging
import time
from collections.abc import Callable

from manyclass.service.store.errors import StoreError, StoreUnavailable
from manyclass.service.store.redis.errors import GOES_ON
from manyclass.service.store.redis.server import Info, parse_info
from manyclass.service.store.redis.session import Session

log = logging.getLogger(__name__)

POLL_SECONDS = 0.2
LONGEST_SECONDS = 3600.0
REFUSED = ("NOPERM", "unknown command")


def rewrite_files(session: Session) -> None:
    """Let the server rewrite its append-only file and its dump; return when that is done.

    A server that refuses the commands, as many rented ones do, keeps them until it rewrites them by
    itself: that is logged. Raises StoreError.
    """
    info = _info(session)
    if info.get("aof_enabled") == "1":
        _run(session, ("BGREWRITEAOF",), _rewrites_log, "aof_last_bgrewrite_status")
    if info.get("rdb_last_save_time", "0") != "0" and _dumps(session):
        _run(session, ("BGSAVE", "SCHEDULE"), _dumps_now, "rdb_last_bgsave_status")


def _run(
    session: Session, command: tuple[str, ...], is_running: Callable[[Info], bool], status: str
) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    _wait(session, is_running, until)  # one that began earlier holds what was deleted since
    try:
        session.call(*command)
    except StoreError as error:
        if not any(word in str(error) for word in REFUSED):
            raise
        log.warning("the files of Redis keep deleted events until it rewrites them: %s", error)
        return
    info = _wait(session, is_running, until)
    if info.get(status, "ok") != "ok":
        raise StoreUnavailable(f"{command[0]} failed: see the log of the Redis server", GOES_ON)


def _wait(session: Session, is_running: Callable[[Info], bool], until: float) -> Info:
    while is_running(info := _info(session)):
        if time.monotonic() > until or session.closed.is_set():
            raise StoreUnavailable("the Redis server is still rewriting its files", GOES_ON)
        time.sleep(POLL_SECONDS)
    return info


def _rewrites_log(info: Info) -> bool:
    return "1" in (info.get("aof_rewrite_in_progress"), info.get("aof_rewrite_scheduled"))


def _dumps_now(info: Info) -> bool:
    return "1" in (info.get("rdb_bgsave_in_progress"), info.get("rdb_bgsave_scheduled"))


def _dumps(session: Session) -> bool:
    """Return whether the server writes dumps by itself, or may do so."""
    try:
        answer = session.call("CONFIG", "GET", "save")
    except StoreError:  # forbidden
        return True
    return len(answer) != 2 or bool(answer[1])


def _info(session: Session) -> Info:
    return parse_info(session.call("INFO", "persistence"))

"""The history of events: list and delete; correct.py corrects."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from manyclass.core.event import Event
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.model import Model
from manyclass.service.engine import Engine
from manyclass.service.history.reader import BY_NUMBER, Filter, Record, fields_of
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import Problem
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.routes.names import Name
from manyclass.service.http.schemas.events import Deleted, EventPage, EventRecord
from manyclass.service.http.schemas.parts import LARGEST_SEQ

router = APIRouter(tags=["events"])

AMENDED_AT_ONCE = 200  # events of one request to the log
PAGE_BYTES = 512 * 1024  # of the events of a page, which the event loop writes as JSON
MOST_DELETED = 100_000  # events of a source, in one call

Seconds = Annotated[float | None, Query(ge=0, le=1e11, description="unix seconds")]


async def find(engine: Engine, key: str) -> Record:
    """Return the event of a key. Raises Problem 404 if the history has it no longer."""
    record = await _found(engine, key)
    if record is None and (heartbeat := await engine.cluster.poll()) is not None:
        # Another process may have taught it a moment ago.
        await engine.reached(heartbeat.last_seq, engine.settings.rank_wait_seconds)
        record = await _found(engine, key)
    if record is None:
        raise Problem(404, f"The history has no event {key!r}: it is unknown, deleted or too old.")
    return record


async def _found(engine: Engine, key: str) -> Record | None:
    history, seq = engine.history, None
    if key.startswith(BY_NUMBER) and key.removeprefix(BY_NUMBER).isdecimal():
        seq = int(key.removeprefix(BY_NUMBER))
    elif (seen := engine.model.seen(key)) is not None:
        seq = seen[0]
    in_log = seq is not None and 0 < seq <= engine.model.seq
    return await asyncio.to_thread(history.find, seq) if seq is not None and in_log else None


@router.get("/events", **needs(Scope.LEARN, 404))
async def list_events(
    engine: TheEngine,
    of_class: Annotated[str | None, Query(alias="class", max_length=LONGEST_NAME)] = None,
    source: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    since: Seconds = None,
    until: Seconds = None,
    wrong: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[int | None, Query(ge=0, le=LARGEST_SEQ)] = None,
    order: Literal["newest", "oldest"] = "newest",
) -> EventPage:
    """List what was taught, newest first or oldest first, from behind event `after`.

    `class` and `source` are exact; `wrong` leaves only events whose true class was not ranked first
    before they were learned. Deleted events are not listed.
    """
    wanted = Filter(
        of_class=of_class,
        source=source,
        since=None if since is None else int(1000 * since),
        until=None if until is None else int(1000 * until),
        wrong=wrong,
    )
    page = await asyncio.to_thread(
        engine.history.page, wanted, limit, after, order == "newest", PAGE_BYTES
    )
    model = engine.model
    return EventPage(events=[shown(each, model) for each in page.records], next=page.next)


@router.get("/events/{name:name}", **needs(Scope.LEARN, 404))
async def get_event(engine: TheEngine, name: Name) -> EventRecord:
    """Return an event by its `event_id`, or by `seq:` and its number."""
    return shown(await find(engine, name), engine.model)


@router.delete("/events/{name:name}", **needs(Scope.ADMIN, 404, 413))
async def delete_event(engine: TheEngine, name: Name) -> Deleted:
    """Delete an event, as if it had never been taught. This is a durable event.

    At once it is not listed and not replayed. Its part in the weights is gone after the next
    rebuild (`POST /rebuild`), and so is every copy of it that the service has written.
    """
    record = await find(engine, name)
    return Deleted(seq=await _delete(engine, [record]), deleted=1, more=False)


@router.delete("/events", **needs(Scope.ADMIN, 404, 413))
async def delete_events(
    engine: TheEngine, source: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)]
) -> Deleted:
    """Delete all events of a source, as `DELETE /events/{name}` does: for example of a person."""
    wanted = Filter(source=source)
    seq, deleted = None, 0
    next_page: int | None = 0
    while next_page is not None and deleted < MOST_DELETED:
        limit = min(AMENDED_AT_ONCE, MOST_DELETED - deleted)
        page = await asyncio.to_thread(engine.history.page, wanted, limit, next_page, False)
        if page.records:
            seq = await _delete(engine, page.records)
        deleted += len(page.records)
        next_page = page.next
    return Deleted(seq=seq, deleted=deleted, more=next_page is not None)


async def _delete(engine: Engine, records: list[Record]) -> int:
    deletions = [
        Event.amend(each.seq, each.event.instance, [], each.classes, each.event.weight)
        for each in records
    ]
    results = await engine.submit(deletions, wait=True)
    return results[-1].seq


def shown(record: Record, model: Model) -> EventRecord:
    """Return a record as it is answered."""
    return EventRecord(**fields_of(record, model))

"""The history of events: list and delete; correct.py corrects them."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal, cast

from fastapi import Query, Request, Response
from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from manyclass.core.event import Event
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.model import Model
from manyclass.service.engine import Engine
from manyclass.service.history.event_keys import named_by, number_key
from manyclass.service.history.folded import folded
from manyclass.service.history.history import History
from manyclass.service.history.reader import Filter, Record, fields_of
from manyclass.service.http.auth import Scope
from manyclass.service.http.moments import FORM, LAST, moment_of
from manyclass.service.http.problems import Fault, Problem
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.names import Name
from manyclass.service.http.schemas.events import Deleted, EventPage, EventRecord
from manyclass.service.http.schemas.parts import LARGEST_SEQ
from manyclass.service.ingest.erasure import Erasure
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.ingest.stored_instance import LONGEST_ID

router = router_of("events")

AMENDED_AT_ONCE = 200  # events in one request to the log
PAGE_BYTES = 512 * 1024  # of the events on a page
LONGEST_SEARCH = 1000  # characters
MOST_DELETED = 100_000  # events of an origin in one call

InstanceId = Annotated[
    str | None,
    Query(
        alias="id",
        min_length=1,
        max_length=LONGEST_ID,
        description="List only events that label the ranked instance with this id.",
    ),
]
InThread = Callable[..., Awaitable[Any]]  # as ReadingThreads.run

_MOMENT: dict[str, Any] = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": LAST},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "date"},
    ]
}


def _origin_name(description: str) -> Any:
    return Query(min_length=1, max_length=LONGEST_NAME, description=description)


def _moment(given: object, ends: bool = False) -> float:
    try:
        return moment_of(given, ends)
    except ValueError as error:
        raise PydanticCustomError("moment", "{why}", {"why": str(error)}) from error


Since = Annotated[
    float | None,
    BeforeValidator(_moment),
    WithJsonSchema(_MOMENT),
    Query(
        description=f"List only events from this time on: {FORM}. A date stands for its first"
        " moment."
    ),
]
Until = Annotated[
    float | None,
    BeforeValidator(partial(_moment, ends=True)),
    WithJsonSchema(_MOMENT),
    Query(
        description=f"List only events up to this time: {FORM}. A date stands for its last moment."
    ),
]
OfClass = Annotated[
    str | None,
    Query(
        alias="class",
        max_length=LONGEST_NAME,
        description="List only events with exactly this true class.",
    ),
]
Source = Annotated[
    str | None,
    Query(max_length=LONGEST_NAME, description="List only events with exactly this source."),
]
Reviewer = Annotated[
    str | None,
    Query(max_length=LONGEST_NAME, description="List only events with exactly this reviewer."),
]
Batch = Annotated[
    str | None,
    Query(max_length=LONGEST_NAME, description="List only events of exactly this batch."),
]
Words = Annotated[
    str | None,
    Query(
        alias="text",
        max_length=LONGEST_SEARCH,
        description="List only events that contain each of these words, without regard to case and"
        " accents: in the text or the names of features, in an id, the source, the reviewer or the"
        " batch. A part of a word is enough.",
    ),
]
Wrong = Annotated[
    bool,
    Query(
        description="List only events whose true class was not ranked first before they were"
        " learned."
    ),
]
Undone = Annotated[bool, Query(description="List also events that a restore has undone.")]
Vectors = Annotated[bool, Query(description="Show the numbers of vectors, in `vector`.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="The largest number of events.")]
After = Annotated[
    int | None,
    Query(
        ge=0,
        le=LARGEST_SEQ,
        description="List events after this one in the order: the `next` of the previous page.",
    ),
]
Order = Annotated[Literal["newest", "oldest"], Query(description="The events to list first.")]


async def find(engine: Engine, key: str, in_thread: InThread) -> Record:
    """Return the event of a key; among several with its id, the event that the state includes.

    Raises Problem 404 if the history has no such event, 409 if the key names several events.
    """
    found = await find_all(engine, key, in_thread)
    in_state = [each for each in found if not each.is_undone]
    if len(in_state) > 1:
        raise _ambiguous(key, in_state, engine.model)
    return in_state[0] if in_state else found[-1]


async def find_all(engine: Engine, key: str, in_thread: InThread) -> list[Record]:
    """Return the event of a key, or all events that label the instance of an id; also events with
    the same id that restores have undone.

    Raises Problem 404 if the history has no such event, 409 if the key names events of different
    ids.
    """
    found = await _found(engine, key, in_thread)
    if not found and (heartbeat := await engine.cluster.poll()) is not None:
        # Another process may have learned it a moment ago.
        await engine.reached(heartbeat.last_seq, engine.settings.rank_wait_seconds)
        found = await _found(engine, key, in_thread)
    found = found or await _of_instance(engine, key, in_thread)
    if not found:
        raise Problem(404, f"The history has no event {key!r}: it is unknown, deleted or too old.")
    return found


async def _found(engine: Engine, key: str, in_thread: InThread) -> list[Record]:
    """Return the events of a key, oldest first. Raises Problem 409 if the key is ambiguous."""
    model = engine.model
    number, event_ids, _ = named_by(key)
    seen = {event_id: (model.seen(event_id) or (0, 0))[0] for event_id in event_ids}
    meanings = await in_thread(_meanings, engine.history, number or 0, seen)
    records = {each.seq: each for meaning in meanings for each in meaning}
    found = [records[each] for each in sorted(records)]
    if not any(len(meaning) == len(records) for meaning in meanings):
        raise _ambiguous(key, found, model)
    return found


async def _of_instance(engine: Engine, key: str, in_thread: InThread) -> list[Record]:
    """Return the events that label the instance of an id, oldest first.

    Reads the whole history, in pages.
    """
    instance_id = named_by(key).instance_id
    wanted = Filter(instance_id=instance_id, with_undone=True)
    found: list[Record] = []
    after = None if instance_id is None else 0
    while after is not None:
        page = await in_thread(engine.history.page, wanted, AMENDED_AT_ONCE, after, False)
        found += page.records
        after = page.next
    return found


def _ambiguous(key: str, records: list[Record], model: Model) -> Problem:
    """Return the problem of a key that names several events; it lists a key for each."""
    ids = {each.event.event_id or "" for each in records}
    keys = (f"{number_key(each.seq, model, ids)!r} is event {each.seq}" for each in records)
    return Problem(409, f"{key!r} names more than one event: {', '.join(keys)}.")


def _meanings(history: History, number: int, seen: dict[str, int]) -> list[list[Record]]:
    """Return the events with this number, and the events with each id; `seen` maps the id to the
    number of its event in the state.
    """

    def of(seq: int) -> list[Record]:
        record = history.find(seq) if 0 < seq <= history.live.model.seq else None
        return [] if record is None else [record]

    return [of(number), *([*history.undone_of(each), *of(seen[each])] for each in seen)]


@router.get("/events", response_model=EventPage, **needs(Scope.LEARN, 404))
async def list_events(
    engine: TheEngine,
    reads: TheReads,
    of_class: OfClass = None,
    source: Source = None,
    reviewer: Reviewer = None,
    batch: Batch = None,
    instance_id: InstanceId = None,
    words: Words = None,
    since: Since = None,
    until: Until = None,
    wrong: Wrong = False,
    undone: Undone = False,
    vectors: Vectors = False,
    limit: Limit = 100,
    after: After = None,
    order: Order = "newest",
) -> Response:
    """List the learned events, newest first or oldest first, after event `after`.

    An event is listed if it matches all parameters. The state does not include events that a
    restore has undone; they stay in the history until they are deleted, and `undone` lists them
    too. Deleted events are not listed.
    """
    history, model = engine.history, engine.model
    wanted = Filter(
        of_class=None if of_class is None else model.aliases.get(of_class, of_class),
        source=source,
        reviewer=reviewer,
        batch=batch,
        instance_id=instance_id,
        words=() if words is None else tuple(folded(words).split()),
        since=None if since is None else int(1000 * since),
        until=None if until is None else int(1000 * until),
        wrong=wrong,
        with_undone=undone,
    )

    def page() -> dict[str, Any]:
        found = history.page(wanted, limit, after, order == "newest", PAGE_BYTES)
        events = [shown(each, model, vectors) for each in found.records]
        return {"events": events, "next": found.next}

    return await reads.page(page)


@router.get("/events/{name:name}", response_model=EventRecord, **needs(Scope.LEARN, 404, 409))
async def get_event(
    engine: TheEngine, reads: TheReads, name: Name, vectors: Vectors = False
) -> Response:
    """Return an event by its `event_id` (or `id:` and its `event_id`), by `seq:` and its number, or
    by the `id` of the ranked instance that it labels.

    The instance is looked up only if no event has this `event_id`. If `name` is the id of one event
    and the number of another, or several events label the instance, the answer is 409 with a key
    for each event.
    """
    record = await find(engine, name, reads.in_thread)
    return await reads.page(lambda: shown(record, engine.model, vectors))


@router.delete("/events/{name:name}", **needs(Scope.ADMIN, 404, 409, 413))
async def delete_event(engine: TheEngine, reads: TheReads, request: Request, name: Name) -> Deleted:
    """Delete an event, as if it had never been learned. The deletion is a durable event.

    From now on the event is neither listed nor replayed. The next rebuild (`POST /rebuild`) removes
    its effect on the weights and every copy of it that the service has written. Events with the
    same id that a restore has undone are deleted too. The `id` of a ranked instance deletes all
    events that label it, and removes it from the queue of review. If `name` is the id of one event
    and the number of another, the answer is
    409 with a key for each event.
    """
    queue: ReviewQueue = request.app.state.queue
    instance_id = named_by(name).instance_id
    named = [] if instance_id is None else [instance_id]
    waiting = await asyncio.to_thread(queue.remove, named)
    try:
        records = await find_all(engine, name, reads.in_thread)
    except Problem as problem:
        if problem.status == 404 and waiting:
            erasure: Erasure = request.app.state.erasure
            await erasure.of_ids(named)
            return Deleted(seq=None, deleted=0, waiting=waiting, more=False)
        raise
    await _remove_waiting(queue, records)
    seq = await _delete(engine, records)
    return Deleted(seq=seq, deleted=len(records), waiting=waiting, more=False)


@router.delete("/events", **needs(Scope.ADMIN, 404, 413, 422))
async def delete_events(
    engine: TheEngine,
    request: Request,
    source: Annotated[
        str | None, _origin_name("The source of the events to delete, such as a person.")
    ] = None,
    reviewer: Annotated[str | None, _origin_name("The reviewer whose events are deleted.")] = None,
    batch: Annotated[
        str | None, _origin_name("The batch of the events to delete, such as a file.")
    ] = None,
) -> Deleted:
    """Delete all events of a `source`, a `reviewer` or a `batch`, as `DELETE /events/{name}` does.

    With several of them, an event is deleted if it matches all. This includes events that a restore
    has undone. Instances of the source or the batch that wait for review are removed too, unless a
    `reviewer` is named. With the `source` alone, ranked instances that wait for a label in the
    memory of a process are erased too: those of the source, and the instances that its events
    label.
    """
    if source is None and reviewer is None and batch is None:
        detail = "Name the `source`, the `reviewer` or the `batch` of the events to delete."
        raise Problem(422, detail, [Fault(detail, parameter="source")])
    queue: ReviewQueue = request.app.state.queue
    erasure: Erasure = request.app.state.erasure
    waiting = 0
    if reviewer is None:
        waiting = await erasure.of_origin(source, batch)
    else:
        await asyncio.to_thread(queue.pairs.forget, reviewer=reviewer)
    wanted = Filter(source=source, reviewer=reviewer, batch=batch, with_undone=True)
    seq, deleted = None, 0
    next_page: int | None = 0
    while next_page is not None and deleted < MOST_DELETED:
        limit = min(AMENDED_AT_ONCE, MOST_DELETED - deleted)
        page = await asyncio.to_thread(engine.history.page, wanted, limit, next_page, False)
        if page.records:
            if reviewer is None and batch is None:  # of a person, not of work to be done again
                await erasure.of_ids(_labelled_by(page.records))
            else:
                await _remove_waiting(queue, page.records)
            seq = await _delete(engine, page.records)
        deleted += len(page.records)
        next_page = page.next
    return Deleted(seq=seq, deleted=deleted, waiting=waiting, more=next_page is not None)


async def _remove_waiting(queue: ReviewQueue, records: list[Record]) -> None:
    """Remove the instances that the events label from the queue, which keeps them for a while."""
    ids = _labelled_by(records)
    if ids:
        await asyncio.to_thread(queue.remove, ids)


def _labelled_by(records: list[Record]) -> list[str]:
    """Return the ids of the instances that the events label."""
    return [each.event.instance_id for each in records if each.event.instance_id is not None]


async def _delete(engine: Engine, records: list[Record]) -> int:
    for at in range(0, len(records), AMENDED_AT_ONCE):
        deletions = [_deletion(each) for each in records[at : at + AMENDED_AT_ONCE]]
        results = await engine.submit(deletions, wait=True)
    return results[-1].seq


def _deletion(record: Record) -> Event:
    """Return the event that deletes a recorded one. The state does not include an undone event, so
    its deletion needs no instance.
    """
    event = record.event
    if record.is_undone:
        return Event.amend(record.seq, Instance({}), [], [], event.weight)
    return Event.amend(
        record.seq,
        event.instance,
        [],
        record.classes,
        event.weight,
        text=event.text,
        reading=event.reading,
    )


def shown(record: Record, model: Model, with_vector: bool = False) -> dict[str, Any]:
    """Return the fields of an EventRecord, perhaps with the numbers of its vector."""
    fields = cast(dict[str, Any], fields_of(record, model, with_vector))
    fields["not"] = fields.pop("rejected")
    return fields

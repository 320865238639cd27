"""GET /review: the waiting instances with the most useful labels."""

import asyncio
import time
from collections.abc import Sequence
from heapq import nsmallest
from typing import Annotated, Any, NamedTuple

from fastapi import Query, Request, Response
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from manyclass.core.enrolled import Enrolled
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.text import TextAnalysis
from manyclass.service.engine import Engine
from manyclass.service.history.error_count import MOST_SUSPECTS, ErrorCounts
from manyclass.service.history.event_keys import key_of
from manyclass.service.history.likely_errors import Suspect
from manyclass.service.history.reader import Record
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import invalid
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of, signer_of
from manyclass.service.http.routes.label_errors import recorded
from manyclass.service.http.routes.learners import enrolled
from manyclass.service.http.schemas.review import (
    DEFAULT_REVIEWED,
    MOST_FEATURES,
    MOST_REVIEWED,
    Review,
)
from manyclass.service.ingest.pending_labels import MOST_SERVED
from manyclass.service.ingest.queued_instance import Choice, shown_text
from manyclass.service.ingest.review_queue import LEASE_SECONDS, PASSED_OVER, ReviewQueue
from manyclass.service.ingest.second_labels import Labelled
from manyclass.service.ingest.stored_instance import ServedClasses, WaitingInstance

router = router_of("learn")

MOST_COUNTED = 10_000  # newest events, among which suspects are found
COUNT_SECONDS = 0.1  # for which an answer waits for the count; it has what was found by then
MOST_RANKED_AGAIN = 10_000  # instances that another learner ranks for one request
STRATEGIES = "uncertain", "suspect", "random"
OF_CLASS = "class:"
SECOND_IN = 5  # at most one of so many instances of a list is for a second label


def _strategy(given: str) -> str:
    if given in STRATEGIES or (given.startswith(OF_CLASS) and given != OF_CLASS):
        return given
    known = f"{', '.join(STRATEGIES)}, or {OF_CLASS}NAME with the name of a class"
    raise PydanticCustomError("strategy", "must be {known}", {"known": known})


def _name(description: str) -> Any:
    return Query(min_length=1, max_length=LONGEST_NAME, description=description)


@router.get("/review", response_model=Review, **needs(Scope.LEARN, 404, 422))
async def review(
    engine: TheEngine,
    reads: TheReads,
    request: Request,
    limit: Annotated[
        int, Query(ge=1, le=MOST_REVIEWED, description="The largest number of instances.")
    ] = DEFAULT_REVIEWED,
    learner: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Rank the instances with this learner, named as in GET /learners.",
        ),
    ] = None,
    source: Annotated[str | None, _name("List only instances of this source.")] = None,
    batch: Annotated[str | None, _name("List only instances of this batch.")] = None,
    reviewer: Annotated[
        str | None, _name("Lease the instances to this person, and list none that others have.")
    ] = None,
    lease: Annotated[
        bool,
        Query(
            description="False: only list the instances, also those that others have, and lease"
            " none, whatever name the key has."
        ),
    ] = True,
    abstained: Annotated[
        bool,
        Query(
            description="List only instances that were not answered automatically: instances ranked"
            " without an answer, because the confidence was below the limit, and instances given by"
            " POST /review."
        ),
    ] = False,
    strategy: Annotated[
        str,
        Query(
            max_length=len(OF_CLASS) + LONGEST_NAME,
            json_schema_extra={"pattern": f"^({'|'.join(STRATEGIES)}|{OF_CLASS}[\\s\\S]+)$"},
            description="The instances to list first: `uncertain`, those of the lowest confidence;"
            " `random`; `class:X`, only those of which class X was ranked first; or `suspect`,"
            " learned events whose label is likely wrong, as in `GET /suspects`.",
        ),
        AfterValidator(_strategy),
    ] = "uncertain",
) -> Response:
    """Return instances that wait for a label, least certain first.

    Ranked instances and instances given by `POST /review` wait in a queue, which the processes of a
    store share, and which survives a restart. It is bounded in number, bytes and time: beyond, the
    most certain ones go. Instances are ordered by the confidence with which they were served.
    Instances without one come first: none of their features was known, they were ranked `among`
    given classes, or fewer than 100 outcomes were known. Among equals, the oldest comes first.
    Ranked instances without features and vector are left out. `ranked`, `probabilities` and
    `confidence` are those of the primary learner now, which may have learned since.

    A label is an event sent to /learn with the `id`; an instance stays on the list until it is
    labelled or expires. An event with `not` and without `classes` does not count as a label. With
    `learner`, for example a shadow, this learner ranks the instances instead, and its confidence
    orders the list.

    With the strategy `suspect`, the list has learned events instead, whose `confidence` is that the
    label is wrong. `PUT /events/{name}` with their `event` corrects or confirms the label.

    With `reviewer`, or a key with a name, the instances are leased to this person for two minutes:
    no other reviewer gets them. `POST /review/leases` renews and ends leases. Without one, or with
    `lease=false`, the list has all instances, also leased ones. With `MANYCLASS_REVIEW_TWICE`, up
    to a fifth of the list of a reviewer has instances that others have labelled, marked by
    `second`, without their label and with the ranking that was served before it; `GET
    /review/agreement` compares.

    Only the first 4,096 bytes of a text are shown. A service that keeps no history drops the texts.
    """
    queue: ReviewQueue = request.app.state.queue
    name = signer_of(request).person(reviewer) if lease else None
    kind, _, first = strategy.partition(":")
    if kind == "suspect":
        if abstained:
            raise invalid("`abstained` chooses among rankings; suspects are events.")
        counts: ErrorCounts = request.app.state.error_counts
        count = await counts.of(engine.history, engine.model, MOST_COUNTED, COUNT_SECONDS)
        number, suspects = await reads.in_thread(
            _suspects, engine, queue, count.suspects(MOST_SUSPECTS, source, batch), name, limit
        )
        return await reads.page(lambda: _page(engine, queue, name, number, suspects))
    by = None if learner is None else enrolled(engine.model, learner)
    choice = Choice(source, batch, first or None, abstained, is_random=kind == "random")
    twice = Labelled([], 0)
    if name is not None and by is None:
        twice = await queue.choose_labelled(choice, -(-limit // SECOND_IN), name)
    ids = await queue.waiting(choice)
    number = len(ids)
    analysis = engine.model.text
    if by is None:
        most = limit - len(twice.instances)
        taken = await asyncio.to_thread(queue.take, ids, most, name)
        primary = engine.model.answering
        waiting = await reads.in_thread(
            lambda: [_ranked_by(primary, _read_by(analysis, each)) for each in taken]
        )
    else:
        waiting = await reads.in_thread(
            _least_certain_of, by, analysis, queue, ids[:MOST_RANKED_AGAIN], limit, name
        )
    # The model has learned the first label: its present ranking would show it.
    second = [_shown(_read_by(analysis, each)) | {"second": True} for each in twice.instances]
    return await reads.page(
        lambda: _page(
            engine, queue, name, number + twice.number, [each.shown() for each in waiting] + second
        )
    )


def _page(
    engine: Engine,
    queue: ReviewQueue,
    name: str | None,
    number: int,
    instances: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the fields of a Review."""
    shared = engine.cluster.shared
    return {
        "process": None if shared is None else shared.name,
        "reviewer": name,
        "lease_seconds": LEASE_SECONDS,
        "waiting": number,
        "failing": queue.failing,
        "instances": instances,
    }


def _suspects(
    engine: Engine,
    queue: ReviewQueue,
    suspects: list[Suspect],
    reviewer: str | None,
    limit: int,
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of events whose label is likely wrong, and some of them as instances.

    They are leased to the reviewer if there is one. Only as many are read from the history as are
    wanted: the number may have events further down that were corrected since they were counted.
    Blocks. Raises StoreError.
    """
    number, shown = len(suspects), list[dict[str, Any]]()
    for begin in range(0, len(suspects), limit):
        some = suspects[begin : begin + limit]
        found = {
            f"event:{key_of(record.seq, record.event.event_id, engine.model)}": (suspect, record)
            for suspect, record in recorded(some, engine.history)
        }
        number -= len(some) - len(found)
        wanted = limit - len(shown)
        ids = list(found)[:wanted]
        if reviewer is not None:
            ids = queue.lease(list(found), reviewer, wanted)
        shown += [_shown_suspect(each, *found[each]) for each in ids]
        if len(shown) == limit:
            break
    return number, shown


def _shown_suspect(instance_id: str, suspect: Suspect, record: Record) -> dict[str, Any]:
    """Return the fields of a ReviewInstance for an event."""
    event = record.event
    served = ServedClasses((suspect.suggested, *record.classes)[:MOST_SERVED], None, False)
    age = max(0.0, time.time() - record.time / 1000)
    waiting = WaitingInstance(
        instance_id,
        bytes(event.instance),
        age,
        served,
        event.source,
        *shown_text(event.text),
        batch=event.batch,
    )
    key = instance_id.removeprefix("event:")
    label = {"event": key, "classes": record.classes, "confidence": suspect.confidence}
    return _shown(waiting) | label


def _read_by(analysis: TextAnalysis, waiting: WaitingInstance) -> WaitingInstance:
    """Return an instance as this analysis reads its text; a former analysis may have read it."""
    reading = waiting.reading
    if reading is None or reading.analysis == analysis or waiting.text is None:
        return waiting
    instance = analysis.instance_of(waiting.text, reading.most_features).instance
    former = Instance.from_bytes(waiting.data)
    return waiting._replace(data=bytes(instance.with_vector_of(former)))


class _Ranked(NamedTuple):
    """An instance with the present ranking of a learner, and the probabilities of its classes."""

    waiting: WaitingInstance
    probabilities: Sequence[float | None]

    def shown(self) -> dict[str, Any]:
        """Return the fields of a ReviewInstance."""
        return _shown(self.waiting) | {"probabilities": self.probabilities}

    def certainty(self) -> tuple[float, float]:
        """Return a key that orders the least certain instance first, and the oldest of equals."""
        confidence = self.waiting.served.confidence
        return -1.0 if confidence is None else confidence, -self.waiting.age


def _least_certain_of(
    learner: Enrolled,
    analysis: TextAnalysis,
    queue: ReviewQueue,
    ids: list[str],
    limit: int,
    reviewer: str | None,
) -> list[_Ranked]:
    """Return instances that wait for a label, those least certain to `learner` first, leased to the
    reviewer if there is one. Blocks. Raises StoreError.
    """
    ranked = (_ranked_by(learner, _read_by(analysis, each)) for each in queue.read(ids))
    if reviewer is None:
        return nsmallest(limit, ranked, key=_Ranked.certainty)
    found = nsmallest(limit + PASSED_OVER, ranked, key=_Ranked.certainty)
    held = {*queue.lease([each.waiting.id for each in found], reviewer, limit)}
    return [each for each in found if each.waiting.id in held]


def _ranked_by(learner: Enrolled, waiting: WaitingInstance) -> _Ranked:
    instance = Instance.from_bytes(waiting.data)
    ranked, confidence, found = learner.answer(instance, MOST_SERVED, None, probabilities=True)
    now = ServedClasses(
        tuple(name for name, _ in ranked),
        None if confidence is None else round(confidence, 6),
        waiting.served.abstained,
    )
    return _Ranked(waiting._replace(served=now), found)


def _shown(waiting: WaitingInstance) -> dict[str, Any]:
    """Return the fields of a ReviewInstance."""
    instance = Instance.from_bytes(waiting.data)
    features = instance.items()
    return {
        "id": waiting.id,
        "ranked": waiting.served.classes,
        "probabilities": [None] * len(waiting.served.classes),
        "confidence": waiting.served.confidence,
        "abstained": waiting.served.abstained,
        "age": max(0.0, waiting.age),
        "source": waiting.source,
        "batch": waiting.batch,
        "text": waiting.text,
        "text_cut": waiting.is_text_cut,
        "event": None,
        "classes": [],
        "second": False,
        "features": dict(features[:MOST_FEATURES]),
        "omitted_features": max(0, len(features) - MOST_FEATURES),
        "dimension": instance.dimension or None,
    }

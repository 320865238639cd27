"""The builder of events from the bodies of clients."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from manyclass.core.errors import DimensionConflict, EventConflict
from manyclass.core.event import Event
from manyclass.core.outcome import EventKey
from manyclass.core.text import AnalysedText, TextAnalysis
from manyclass.service.engine import Engine
from manyclass.service.http.instance_labels import (
    InstanceLabels,
    Label,
    is_label_id,
    labelled_id,
)
from manyclass.service.http.instance_warnings import warnings_of
from manyclass.service.http.instances import (
    features_of,
    instance_of,
    is_large,
    vector_of,
)
from manyclass.service.http.labels import Labels
from manyclass.service.http.problems import Fault, Problem, invalid, problem_of, unavailable
from manyclass.service.http.schemas.learn import MOST_PAIRS, LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import WarningDocument
from manyclass.service.http.second_labels import SecondLabels
from manyclass.service.http.time_slice import run_in_thread
from manyclass.service.ingest.peer_lookup import PeerLookup
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.ingest.stored_instance import Absence, StoredInstance
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics

Known = Mapping[str, StoredInstance | Absence]  # by id


class Built(NamedTuple):
    """The event of a form with its instance, the Result of the event that the form repeats, or the
    amendment of a label that it replaces."""

    event: Event | Result
    read: AnalysedText | None

    @property
    def size(self) -> int:
        """Return the approximate bytes in memory; the many features of a text are kept twice."""
        return 2 * len(bytes(self.event)) if isinstance(self.event, Event) else 0


class EventBuilder:
    """The builder of events from forms.

        form ──► event                                       (features or text, vector)
        form ──► instance of its id ──► event                (pending, or from a peer)
        form ──► Result of the event that it repeats         (known by its event_id)
        form ──► the same, or an amendment of it             (a further label of an id)

    A retry of a delayed label may come after its instance has expired. So its event_id is looked up
    before its instance, and the engine receives the Result instead of an event.
    """

    def __init__(
        self,
        engine: Engine,
        pending: PendingLabels,
        peer_lookup: PeerLookup,
        metrics: Metrics,
        most_features: int,
        keeps_texts: bool,
        labels: InstanceLabels,
        queue: ReviewQueue,
        second_labels: SecondLabels,
    ) -> None:
        """`keeps_texts` is true with a history: events have texts and the ids of instances."""
        self._engine = engine
        self._pending = pending
        self._peer_lookup = peer_lookup
        self._metrics = metrics
        self._most_features = most_features
        self._keeps_texts = keeps_texts
        self._labels = labels
        self._queue = queue
        self._second_labels = second_labels

    async def instances(self, forms: Iterable[LearnEvent | LearnRequest]) -> Known:
        """Return the instance of each id in the forms, from this process or else from another.

        Where an instance was given for review, its label is of that, not of a ranking by this id.
        """
        known: dict[str, StoredInstance | Absence] = {}
        lacking: dict[str, Absence] = {}
        given: list[str] = []
        for form in forms:
            if form.id is None:
                continue
            known[form.id] = found = self._pending.find(form.id)
            if isinstance(found, Absence) and not self._was_learned(form):
                lacking[form.id] = found
            elif self._queue.is_given(form.id):
                given.append(form.id)
        if lacking or given:
            for instance_id, stored in (await self._queue.find([*lacking, *given])).items():
                known[instance_id] = stored
                lacking.pop(instance_id, None)
        if lacking:
            for instance_id, said in (await self._peer_lookup.find(lacking)).items():
                known[instance_id] = (
                    said if isinstance(said, StoredInstance) else max(said, lacking[instance_id])
                )
        return known

    async def event(self, form: LearnEvent | LearnRequest, known: Known) -> Built:
        """Return the event of a form, or the Result of the event that the form repeats.

        `known` is the result of `instances` for this form and possibly others. The instance is made
        in a thread if it is large, or if another text analysis has read it before.
        """
        if form.id is not None:
            labels, stored = Labels.of(form), known[form.id]
            form.event_id = _own_event_id(form, form.id, labels)
            _check_replacing(form, labels)
            label = None
            if form.event_id is None and labels.classes:
                label = await self._labels.find(form.id)
                if label.seq is not None:
                    await self._second_labels.note(form, labels, label)
                    again = await self._labels.again(form, labels, label)
                    if isinstance(again, Event):
                        self._engine.model.check(again)
                    return Built(again, None)
            if isinstance(stored, StoredInstance):
                stored = await self._as_read_now(stored, labels)
            return self._event_of_id(form, form.id, stored, labels, label)
        if form.replace:
            raise _replaces_nothing()
        analysis = self._engine.model.text
        if not is_large(form):
            return self._built(form, analysis)
        Labels.of(form)
        return await run_in_thread(self._built, form, analysis)

    async def _as_read_now(
        self, stored: StoredInstance, labels: Labels
    ) -> StoredInstance | Absence:
        """Return a ranked instance as the present analysis reads it, with at most as many features
        as can be learned with all labels."""
        analysis, most = self._engine.model.text, labels.most_features
        if stored.is_read_by(analysis) and len(stored.instance) <= most:
            return stored
        return await run_in_thread(stored.read_again, analysis, most)

    def _built(self, form: LearnEvent | LearnRequest, analysis: TextAnalysis) -> Built:
        read = instance_of(form, analysis, self._most_features)
        labels = Labels.of(form)
        if form.text is not None and len(read.instance) > labels.most_features:
            read = instance_of(form, analysis, labels.most_features)
        return Built(self._event_of(form, read, labels), read)

    def _event_of_id(
        self,
        form: LearnEvent | LearnRequest,
        instance_id: str,
        stored: StoredInstance | Absence,
        labels: Labels,
        label: Label | None,
    ) -> Built:
        event_id = form.event_id
        fingerprint = 0
        if label is not None:
            event_id, fingerprint = label.event_id, labels.of_instance(instance_id)
        elif event_id is not None:
            fingerprint = labels.fingerprint(instance_id)
            repeated = self._engine.model.repeats([EventKey(event_id, fingerprint)])
            if repeated:
                return Built(Result.of_retry(repeated[0]), None)
        if isinstance(stored, Absence):
            raise self._without_instance(instance_id, stored)
        self._metrics.label_delay.observe(stored.age)
        instance = stored.instance
        is_cut = stored.reading is not None and len(instance) == labels.most_features
        read = AnalysedText(instance, 0, is_cut, stored.reading)
        try:
            event = self._learn(form, read, labels, event_id, fingerprint, stored)
        except DimensionConflict as conflict:
            detail = (
                f"The instance {instance_id!r} was ranked with a vector that cannot be learned:"
                f" {conflict}. Send the label with the text or the features instead of the `id`."
            )
            raise invalid(detail, "id") from conflict
        return Built(event, read)

    def learned(
        self, instance_id: str | None, known: Known, event: Event | Result, result: Result
    ) -> None:
        """Score the served ranking of an instance by its delayed label, once it is learned.

        A duplicate is not scored, because its id may refer to a newer ranking by now.
        """
        if instance_id is None:
            return
        if result.duplicate or isinstance(event, Result):
            return
        if event.classes:
            is_own = event.kind == "learn" and not is_label_id(event.event_id or "")
            self._queue.labelled(instance_id, is_own)
            if event.reviewer is not None and event.kind == "learn" and not is_own:
                self._queue.pairs.labelled_by(instance_id, event.reviewer, event.classes)
        stored = known[instance_id]
        if isinstance(stored, StoredInstance):
            self._peer_lookup.learned(stored, event.classes, result.rank)

    async def problem_of(self, error: Exception) -> Problem:
        """Return the problem of an error; that of a label names the label that came first."""
        if isinstance(error, EventConflict) and is_label_id(error.event_id):
            return await self._labels.problem_of(error)
        return problem_of(error)

    def _event_of(
        self, form: LearnEvent | LearnRequest, read: AnalysedText, labels: Labels
    ) -> Event:
        if form.event_id is None:
            return self._learn(form, read, labels, None, 0)
        fingerprint = labels.fingerprint(read.instance, form.text)
        return self._learn(form, read, labels, form.event_id, fingerprint)

    def _learn(
        self,
        form: LearnEvent | LearnRequest,
        read: AnalysedText,
        labels: Labels,
        event_id: str | None,
        fingerprint: int,
        ranked: StoredInstance | None = None,
    ) -> Event:
        """Return the event. An event of a `ranked` instance has the ranked text, the id, and the
        source of the ranking unless the form has one.
        """
        instance, source, batch, text = read.instance, form.source, form.batch, form.text
        if ranked is not None:
            source, batch = source or ranked.source, batch or ranked.batch
            text = ranked.text
        if len(instance) > labels.most_features:
            raise invalid(
                "The number of features times the number of classes of an event is at most"
                f" {MOST_PAIRS}; this event has {len(instance)} features.",
                "classes" if labels.classes else "not",
            )
        event = Event.learn(
            instance,
            labels.classes,
            event_id,
            fingerprint,
            labels.rejected,
            labels.weight,
            labels.parents,
            source,
            text if self._keeps_texts else None,
            instance_id=form.id if self._keeps_texts else None,
            reading=read.reading,
            reviewer=form.reviewer,
            batch=batch,
        )
        self._engine.model.check(event)  # here the position of a fault is known
        return event

    def _without_instance(self, instance_id: str, absence: Absence) -> Problem:
        match absence:
            case Absence.NO_ANSWER:
                return unavailable(
                    f"A process that may have ranked the id {instance_id!r} did not answer."
                )
            case Absence.TOO_LATE:
                self._metrics.delayed_labels_expired += 1
                status, detail = 410, f"The instance with the id {instance_id!r} is no longer kept."
            case Absence.NEVER_SEEN:
                status, detail = 404, f"No instance was ranked with the id {instance_id!r}."
            case Absence.TEXT_NOT_KEPT:
                status = 410
                detail = (
                    f"The text analysis has changed since the id {instance_id!r} was ranked, and"
                    " without a history (MANYCLASS_HISTORY) its text is not kept: send the label"
                    " with the text."
                )
        return Problem(status, detail, [Fault(detail, "#/id")])

    def _was_learned(self, form: LearnEvent | LearnRequest) -> bool:
        event_id = form.event_id
        is_own = event_id is not None and not is_label_id(event_id)
        return is_own and self._engine.model.seen(str(event_id)) is not None

    def warnings_of(
        self, form: LearnEvent | LearnRequest, built: Built, *place: str | int
    ) -> list[WarningDocument]:
        """Return the warnings about the instance of the event of a form; none for a retry."""
        if built.read is None:
            return []
        return warnings_of(self._metrics, "learn", self._engine.model, form, built.read, *place)


def _own_event_id(form: LearnEvent | LearnRequest, instance_id: str, labels: Labels) -> str | None:
    """Return the `event_id` of a form with an `id`, None for the id of the label of this instance.

    Raises Problem for the id of the label of another one, which that one could not have any more.
    """
    event_id = form.event_id
    if event_id is None or not is_label_id(event_id):
        return event_id
    if labelled_id(event_id) != instance_id or not labels.classes:
        raise invalid(
            f"{event_id!r} is the `event_id` of the label of the instance"
            f" {labelled_id(event_id)!r}: give this event another one, or none.",
            "event_id",
        )
    return None


def _check_replacing(form: LearnEvent | LearnRequest, labels: Labels) -> None:
    """Raise Problem for an instance beside its id, and if there is no label to replace."""
    if features_of(form) is not None or form.text is not None or vector_of(form) is not None:
        raise invalid("An event has either an instance or the `id` of one, not both.", "id")
    if form.replace and (form.event_id is not None or not labels.classes):
        raise _replaces_nothing()


def _replaces_nothing() -> Problem:
    return invalid(
        "`replace` corrects the label of an `id`, with `classes` and without an `event_id`.",
        "replace",
    )

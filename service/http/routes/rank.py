"""POST /rank: the best classes of one instance, or of many."""

from collections.abc import Sequence
from itertools import starmap
from time import perf_counter
from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from manyclass.core.descriptions import Description
from manyclass.core.errors import InstanceError
from manyclass.core.event import Text
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.model import Model
from manyclass.core.text import AnalysedText, Reading, TextAnalysis
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.errors import NotReady
from manyclass.service.http.admission import Places
from manyclass.service.http.answer_limits import abstains, limit_of, probable
from manyclass.service.http.asgi import Headers
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.batches import BatchBody, BatchRankings
from manyclass.service.http.call import Call, CallRequest
from manyclass.service.http.decoding import decode, whole
from manyclass.service.http.explanations import explain, nearest_events
from manyclass.service.http.instance_warnings import warnings_of, warnings_of_names
from manyclass.service.http.instances import (
    LARGE_BYTES,
    instance_of,
    is_large,
    large_instance_of,
)
from manyclass.service.http.large_body import LargeBodies
from manyclass.service.http.limits import Limits
from manyclass.service.http.memory_budget import Reservation
from manyclass.service.http.problems import Problem, invalid, problem_of, unavailable
from manyclass.service.http.ranking_options import check_instances, check_options, classes_among
from manyclass.service.http.schemas.parts import WarningDocument
from manyclass.service.http.schemas.rank import (
    MOST_RANKED_AT_ONCE,
    RankAnswer,
    Ranked,
    RankInstance,
    RankRequest,
    RankResult,
)
from manyclass.service.http.time_slice import TimeSlice, run_in_thread
from manyclass.service.http.titles import Titles
from manyclass.service.ingest.pending_labels import MOST_SERVED, PendingLabels
from manyclass.service.observability.metrics import Metrics

EXPLAINED_AT_ONCE = 5_000  # features times classes, explained without a pause
# source and text of an instance, and how the text was read
Note = tuple[str | None, Text | None, Reading | None] | None
BLOCK_SECONDS = 0.001  # of ranking many instances; changes of the model wait meanwhile
NOT_READY_502 = b"not-ready=502"  # a Prefer header that deploy/nginx/nginx.conf sets

_decoder = msgspec.json.Decoder(RankRequest)
_encode = msgspec.json.Encoder().encode


class Rank(Call):
    """The call that ranks the classes of one instance, or of many."""

    path = "/rank"
    title = "rank"
    tag = "rank"
    scope = Scope.RANK
    statuses = (502,)
    reads: ClassVar = {"application/json": ["RankRequest"]}
    writes: ClassVar = {"application/json": ["RankAnswer", "RankManyAnswer"]}

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        pending: PendingLabels,
        metrics: Metrics,
        limits: Limits,
        titles: Titles,
    ) -> None:
        super().__init__(keys, limits.budget)
        self._titles = titles
        self._settings = settings
        self._most_features = settings.max_features_per_instance
        self._engine = engine
        self._pending = pending
        self._metrics = metrics
        self._admission = limits.admission
        self._large = LargeBodies(RankRequest, RankInstance, "instances", settings.max_batch)

    async def answer(self, request: CallRequest) -> bytes | list[bytes]:
        """Return the k best classes of an instance, or of each of many instances, best first. The
        state does not change.

        The answer has the `id` of the request, or a new one; /learn can label the instance by this
        `id` later, and /review can list the instances of a `source`. The process keeps the
        instance, its source and its text in memory until the label comes or the time is up; a
        service without a history drops the text. With `keep` false, for example for a text
        that is only tried, nothing is kept.

        `explain` adds to each class the features that voted for it, heaviest first, at most 1,000;
        in a label tree it also adds `path`, the nodes from below the root to the class, each with
        at most 10 features. If classes have descriptions, or the instance has a vector, it adds the
        `parts` of the score, the votes of the `description` of a class, and the `nearest` learned
        events of the class by their vectors, as a search of 0.1 s through the newest events of the
        history finds them. If no feature is known, `ranked` is empty, except with learners that
        rank every instance, such as label trees.

        `confidence` is the probability that the best class is right; `k` and `threshold` do not
        change it. With `min_confidence`, the service abstains if the confidence is lower or
        unknown: `abstained` is true and `ranked` is empty. With `min_accuracy`, it abstains below
        the least limit of confidence whose answers were right at least this often among the newest
        10,000 outcomes (`GET /operating-points`); `limit` is the limit applied, the larger one with
        `min_confidence` beside it. If no limit reaches the accuracy yet, `limit` is null, and the
        service always abstains.

        `probabilities` adds to each class the probability that it is right, also for events with
        several classes: that of the first is the confidence, and no class has a larger one than the
        class before it. With `min_probability`, only classes with at least this probability are
        returned; with `min_precision`, those from the least limit of probability on above which
        classes were right at least this often, and `limit` is that limit. Without such a class the
        service abstains. `k` is still the largest number of classes. `min_accuracy` and
        `min_precision` cannot be used together, nor probabilities with `decode`.

        `among` restricts the ranking to at most 1,000 classes. Their scores are the same as in a
        ranking of all classes, except that the members of a committee vote among these classes
        alone. Classes that are unknown or not retrieved are left out. `confidence` is then null
        because it is learned from rankings of all classes; limits of confidence and accuracy, and
        probabilities, are refused.

        `decode` with `taxo` orders the classes by their `expected_loss`, least first: half the
        number of edges on the path from this class to the true class in the taxonomy, averaged over
        the probabilities of the 50 classes with the highest scores, or of the classes in `among`.
        `threshold` still compares scores, and `confidence` is still that of the class with the
        highest score. With `decode`, `k` is at most 50; without a taxonomy, `decode` is refused.

        A `vector`, such as an embedding, may stand beside `features` or `text`, or alone. All
        vectors of a store have the same dimension.

        `warnings` lists instances without features and vector (texts without words, and `features`
        without a value other than 0), values below 0 that the primary learner ignores, texts of
        which some words or features were left out (words longer than a name may be, more features
        than allowed), and names in `among` that no class has.

        With `explain`, `k` is at most 50, and a request has at most 20 instances. Without it, the
        number of instances times `k`, or times the number of classes in `among`, is at most 20,000.
        Events may be learned while many instances are ranked: each ranking includes event `seq` and
        possibly later events.

        Processes on one store learn each other's events with a short delay. With `min_seq`, for
        example the `seq` that /learn returned, the process waits until it has learned that event;
        after the time limit the answer is 503.
        """
        model = self._model(request.headers)
        admission = self._admission
        places = admission.places(b"content-encoding" in request.headers)
        held = request.reservation
        body = await request.json_body(self._settings.max_body_bytes)
        if len(body) > LARGE_BYTES:
            with admission.in_slices(places), admission.large(len(body)):
                batch = await run_in_thread(self._batch, body, model)
                if batch is not None:
                    return await self._plain(model, batch, held)
                form = await self._large.request(body)
                return await self._answer(model, form, admission.long, held)
        batch = self._batch(body, model)
        if batch is not None:
            with admission.in_slices(places):
                return await self._plain(model, batch, held)
        form = decode(_decoder, body)
        if form.instances is None and not form.explain:
            return await self._answer(model, form, places, held)
        with admission.in_slices(places):
            return await self._answer(model, form, admission.long, held)

    def _model(self, headers: Headers) -> Model:
        """Return the model in use. Raises NotReady before there is one, or the requested 502.

        A proxy takes a process without a model out of rotation, but keeps a process that sheds a
        ranking. It can distinguish the two only by the status, so it asks for a status other than
        503.
        """
        try:
            return self._engine.model
        except NotReady as error:
            if headers.get(b"prefer") == NOT_READY_502:
                problem = problem_of(error)
                raise Problem(502, problem.detail, headers=problem.headers) from error
            raise

    def _batch(self, body: bytes, model: Model) -> BatchBody | None:
        """Return a plain body of many instances whose answer has no warning. Return None for other
        bodies, above a limit, and before the model has learned event `min_seq`.

        Instances are counted once all are read: they may take part of the memory until then.
        """
        most = self._settings.max_batch, self._most_features, self._budget.limit // 4
        batch = BatchBody.read(body, model.text, *most)
        if batch is None or batch.min_seq > model.seq:
            return None
        if batch.has_signs and model.options.without_signs:
            return None
        if (instance := batch.with_vector) is not None:
            try:
                model.check_vector(instance)
            except InstanceError:
                return None
        return batch if len(batch) * batch.k <= MOST_RANKED_AT_ONCE else None

    async def _answer(
        self, model: Model, request: RankRequest, places: Places, held: Reservation
    ) -> bytes | list[bytes]:
        check_options(request)
        among = classes_among(request)
        if request.instances is not None:
            return await self._many(model, request, request.instances, among, places, held)
        if places is self._admission.long and is_large(request):
            read = await large_instance_of(request, model.text, self._most_features)
        else:
            read = instance_of(request, model.text, self._most_features)
        if request.min_seq:
            analysis, model = model.text, await self._model_after(request.min_seq, places)
            if model.text != analysis:  # another analysis has read the text
                return await self._answer(model, request, places, held)
        instance, note = read.instance, _note(request, read)
        model.check_vector(instance)
        if among is None and request.decode is None and not request.explain:
            body = self._plainly(model, request, instance, note)
            warnings = warnings_of(self._metrics, "rank", model, request, read)
            if warnings:
                return b"".join((body[:-1], b',"warnings":', _encode(warnings), b"}"))
            return body
        seq = model.seq
        instance_id, ranked, confidence, limit, abstained = self._rank(
            model, request, request, instance, note, among
        )
        answer = RankAnswer(
            id=instance_id,
            seq=seq,
            ranked=[],
            confidence=confidence,
            limit=limit,
            abstained=abstained,
        )
        warnings = warnings_of(self._metrics, "rank", model, request, read)
        if among is not None:
            warnings += warnings_of_names(model, among)
        if warnings:
            answer.warnings = warnings
        if request.explain:
            return await self._explained(model, instance, answer, ranked, TimeSlice())
        answer.ranked = ranked
        return _encode(answer)

    def _plainly(self, model: Model, request: RankRequest, instance: Instance, note: Note) -> bytes:
        """Return the answer for one instance without `warnings`, ranked in native code."""
        rankings = _batch_of(request, [instance], [request.id], [note], model.seq)
        return self._block(model, rankings)

    async def _many(
        self,
        model: Model,
        request: RankRequest,
        forms: Sequence[RankInstance],
        among: list[str] | None,
        places: Places,
        held: Reservation,
    ) -> list[bytes]:
        check_instances(request, forms, among, self._settings.max_batch)
        time_slice = TimeSlice()
        read = []
        notes = []
        for position, form in enumerate(forms):
            read.append(await self._instance(position, form, model.text))
            held.add(len(bytes(read[-1].instance)))  # a text makes many features
            notes.append(_note(form, read[-1], "instances", position))
            if time_slice.is_over:
                await time_slice.renew()
        if request.min_seq:
            analysis, model = model.text, await self._model_after(request.min_seq, places)
            if model.text != analysis:  # another analysis has read the texts
                return await self._many(model, request, forms, among, places, held)
        warnings: list[WarningDocument] = []
        for position, (form, each) in enumerate(zip(forms, read, strict=True)):
            place = "instances", position
            try:
                model.check_vector(each.instance)
            except InstanceError as error:
                raise problem_of(error).within(*place) from error
            warnings += warnings_of(self._metrics, "rank", model, form, each, *place)
        instances = [each.instance for each in read]
        if among is None and request.decode is None and not request.explain:
            ids = [form.id for form in forms]
            rankings = _batch_of(request, instances, ids, notes)
            parts = await self._in_blocks(model, rankings, time_slice)
        else:
            parts = await self._one_by_one(
                model, request, forms, instances, notes, among, time_slice
            )
        if among is not None:
            warnings += warnings_of_names(model, among)
        if warnings:
            parts += b',"warnings":', _encode(warnings)
        parts.append(b"}")
        return parts

    async def _plain(self, model: Model, body: BatchBody, held: Reservation) -> list[bytes]:
        held.add(body.size)
        rankings = BatchRankings.of_body(body)
        return [*await self._in_blocks(model, rankings, TimeSlice()), b"}"]

    # Events may be learned between two rankings, so `seq` is the number before the first ranking.

    async def _in_blocks(
        self, model: Model, rankings: BatchRankings, time_slice: TimeSlice
    ) -> list[bytes]:
        """Return the answer up to its results, ranked in native code."""
        parts = [b'{"seq":%d,"results":[' % model.seq]
        while not rankings.is_done:
            if time_slice.is_over:
                await time_slice.renew()
            parts += self._block(model, rankings), b","
        parts[-1] = b"]"
        return parts

    def _block(self, model: Model, rankings: BatchRankings) -> bytes:
        """Return the results of the next instances; changes of the model wait meanwhile."""
        results = rankings.rank_block(
            model.answering,
            self._pending,
            self._titles,
            self._metrics.rank_duration,
            BLOCK_SECONDS,
        )
        self._metrics.abstained += rankings.abstained
        return results

    async def _one_by_one(
        self,
        model: Model,
        request: RankRequest,
        forms: Sequence[RankInstance],
        instances: Sequence[Instance],
        notes: Sequence[Note],
        among: list[str] | None,
        time_slice: TimeSlice,
    ) -> list[bytes]:
        """Return the answer up to its results, with options that native code does not handle."""
        parts = [b'{"seq":%d,"results":[' % model.seq]
        for form, instance, note in zip(forms, instances, notes, strict=True):
            instance_id, ranked, confidence, limit, abstained = self._rank(
                model, request, form, instance, note, among
            )
            result = RankResult(
                id=instance_id, ranked=[], confidence=confidence, limit=limit, abstained=abstained
            )
            if request.explain:
                parts += await self._explained(model, instance, result, ranked, time_slice)
            else:
                result.ranked = ranked
                parts.append(_encode(result))
            parts.append(b",")
            if time_slice.is_over:
                await time_slice.renew()
        parts[-1] = b"]"
        return parts

    async def _model_after(self, min_seq: float, places: Places) -> Model:
        """Return the model once it has learned that event; Problem 503 after the time limit."""
        seq = whole(min_seq, "min_seq") if isinstance(min_seq, float) else min_seq
        with places.left():
            reached = await self._engine.reached(seq, self._settings.rank_wait_seconds)
        if not reached:
            raise unavailable(
                f"Event {seq} has not reached this process within"
                f" {self._settings.rank_wait_seconds:g} s; its last event is"
                f" {self._engine.model.seq}."
            )
        return self._engine.model

    async def _instance(
        self, position: int, form: RankInstance, analysis: TextAnalysis
    ) -> AnalysedText:
        try:
            if is_large(form):
                return await large_instance_of(form, analysis, self._most_features)
            return instance_of(form, analysis, self._most_features)
        except Exception as error:
            raise problem_of(error).within("instances", position) from error

    def _rank(
        self,
        model: Model,
        request: RankRequest,
        form: RankInstance,
        instance: Instance,
        note: Note,
        among: list[str] | None,
    ) -> tuple[
        str | UnsetType, list[Ranked], float | None, float | UnsetType | None, bool | UnsetType
    ]:
        """Rank an instance, and keep it until its label comes. Return its id, the ranked classes,
        the confidence, the limit applied for `min_accuracy`, and True for an abstention.
        """
        began = perf_counter()
        how = instance, int(request.wanted), request.threshold, among
        probabilities: Sequence[float | None] = ()
        found: Sequence[tuple[str, float] | tuple[str, float, float]]
        if request.decode is None:
            found, confidence, probabilities = model.answer(*how, request.gives_probabilities)
        else:
            found, confidence = model.decode(*how)
        self._metrics.rank_duration.observe(perf_counter() - began)
        limit = limit_of(model, request)
        abstained = abstains(request, limit, confidence)
        ranked = list(starmap(Ranked, found))
        for each, probability in zip(ranked, probabilities, strict=False):  # or there are none
            each.probability = probability
        if not abstained:
            ranked = probable(request, limit, ranked)
        for each in ranked if len(self._titles) else ():
            each.title = model.descriptions.get(each.name, Description()).title or UNSET
        classes = [each.name for each in ranked[:MOST_SERVED]]
        instance_id = UNSET if form.id is None else form.id
        if request.is_kept:
            instance_id = self._pending.keep(
                instance, form.id, classes, confidence, abstained, *(note or ())
            )
        if abstained:
            self._metrics.abstained += 1
            return instance_id, [], confidence, limit, True
        return instance_id, ranked, confidence, limit, UNSET

    async def _explained(
        self,
        model: Model,
        instance: Instance,
        answer: RankAnswer | RankResult,
        ranked: list[Ranked],
        time_slice: TimeSlice,
    ) -> list[bytes]:
        """Return the answer as JSON, in one piece for each class with its explanation.

        If the instance has very many features, events may be learned between two classes.
        """
        if not ranked:
            return [_encode(answer)]
        # This mark cannot occur in a name: its quotes would be escaped.
        begin, empty, end = _encode(answer).partition(b'"ranked":[]')
        parts = [begin + empty[:-1]]
        nearest = await nearest_events(self._engine, instance, ranked)
        at_once = max(1, EXPLAINED_AT_ONCE // max(1, len(instance)))
        for at in range(0, len(ranked), at_once):
            some = ranked[at : at + at_once]
            explain(model, instance, some, nearest)
            for each in some:
                parts += _encode(each), b","
                if time_slice.is_over:
                    await time_slice.renew()
        parts[-1] = b"]" + end
        return parts


def _note(form: RankInstance, read: AnalysedText, *place: str | int) -> Note:
    """Return the source and the text of an instance, to keep them until its label comes."""
    if form.source is None and form.text is None:
        return None
    source = form.source
    if source is not None and len(source.encode()) > LONGEST_NAME:
        raise invalid(f"`source` has at most {LONGEST_NAME} bytes.", *place, "source")
    return source, form.text, read.reading


def _batch_of(
    request: RankRequest,
    instances: list[Instance],
    ids: list[str | None],
    notes: list[Note],
    seq: int | None = None,
) -> BatchRankings:
    """Return the rankings of instances in native code, as the request wants them."""
    return BatchRankings.of(
        instances,
        ids,
        notes,
        int(request.wanted),
        request.threshold,
        request.min_confidence,
        request.min_accuracy,
        request.min_probability,
        request.min_precision,
        request.gives_probabilities,
        request.is_kept,
        seq=seq,
    )

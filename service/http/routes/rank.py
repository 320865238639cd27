"""POST /rank. Hot: reads and writes its bodies itself."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from time import perf_counter

import msgspec
from fastapi import APIRouter
from msgspec import UNSET, UnsetType

from manyclass.core.event import Instance
from manyclass.core.index import Node
from manyclass.core.model import Model
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.errors import NotReady
from manyclass.service.http.admission import Admission
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.large_body import LARGE_BYTES, LargeBodies, is_large, large_instance_of
from manyclass.service.http.memory_budget import Hold
from manyclass.service.http.problems import Problem, invalid, problem_of, unavailable
from manyclass.service.http.request_body import Headers, Receive, Send, read_body, require_json
from manyclass.service.http.routes.contract import hot, one_of
from manyclass.service.http.schemas import (
    MOST_EXPLAINED,
    MOST_EXPLAINED_INSTANCES,
    MOST_MOVES,
    MOST_RANKED_AT_ONCE,
    MOST_VOTES,
    PathNode,
    RankAnswer,
    Ranked,
    RankInstance,
    RankRequest,
    RankResult,
    Vote,
    check_many,
    decode,
    instance_of,
    warning_of,
    whole,
)
from manyclass.service.http.turn import Turn
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.metrics import Metrics

router = APIRouter(tags=["rank"])


@router.post(
    "/rank",
    **hot(
        Scope.RANK,
        502,
        reads={"application/json": one_of("RankRequest")},
        writes={"application/json": one_of("RankAnswer", "RankManyAnswer")},
    ),
)
async def rank() -> None:
    """The classes that fit an instance, or each of many, best first. Changes nothing.

    `id` is echoed, or made: with it /learn can refer to the instance later. `explain` adds to each
    class the features that voted for it, heaviest first, 1,000 at most; of a label tree, `path`
    has the nodes below the root down to the class, with what moved each, 10 features at most.
    Nothing known about any feature makes an empty list, but for learners that rank every instance:
    label trees, `frequency` and committees with one of these.

    `confidence` is the probability that the first class of all is right, whatever `k` and
    `threshold` let through. With `min_confidence` a ranking that is less sure, or of which nothing
    is known yet, is `withheld`: `ranked` is empty.

    `warnings` names instances without features: texts without words, and no value above 0.

    With `explain`, `k` is 50 at most and the instances are 20 at most; without, the number of
    instances times `k` is 20,000 at most. Events may be learned while many are ranked: each ranking
    has seen the event numbered `seq`, and perhaps later ones.

    Of several processes on one store, each learns what the others were taught a moment later. With
    `min_seq`, the `seq` of an answer of /learn for instance, any of them answers with what that
    event taught: it waits for it, and when it does not come in time says 503.
    """
    raise AssertionError("the front answers this call")


NOT_READY_502 = b"not-ready=502"  # a Prefer header that deploy/nginx/nginx.conf sets
EXPLAINED_AT_ONCE = 5_000  # features times classes

_decoder = msgspec.json.Decoder(RankRequest)
_encode = msgspec.json.Encoder().encode


class Rank:
    """Answers which classes fit an instance, or each of many, best first. Changes nothing."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        late: PendingLabels,
        metrics: Metrics,
        admission: Admission,
    ) -> None:
        self._most_bytes = settings.max_body_bytes
        self._most_instances = settings.max_batch
        self._most_features = settings.max_features_per_instance
        self._wait_seconds = settings.rank_wait_seconds
        self._engine = engine
        self._keys = keys
        self._late = late
        self._metrics = metrics
        self._admission = admission
        self._large = LargeBodies(RankRequest, RankInstance, "instances", settings.max_batch)

    def _model(self, headers: Headers) -> Model:
        """Return the model in use; before there is one, raise NotReady or what a proxy asked for.

        A proxy takes a process without a model out of rotation, and keeps one that sheds a ranking.
        It tells the two apart by the status only, and asks for another one than 503.
        """
        try:
            return self._engine.model
        except NotReady as error:
            if headers.get(b"prefer") == NOT_READY_502:
                problem = problem_of(error)
                raise Problem(502, problem.detail, headers=problem.headers) from error
            raise

    async def answer(
        self, headers: Headers, receive: Receive, send: Send, hold: Hold
    ) -> bytes | list[bytes]:
        """The body of the answer; raises what `problem_of` understands."""
        self._keys.require(Scope.RANK, headers.get(b"authorization"))
        model = self._model(headers)
        require_json(headers)
        body = await read_body(headers, receive, self._most_bytes, hold)
        if len(body) <= LARGE_BYTES:
            return await self._answer(model, decode(_decoder, body), False)
        with self._admission.large(len(body)):
            return await self._answer(model, await self._large.request(body), True)

    async def _answer(self, model: Model, request: RankRequest, large: bool) -> bytes | list[bytes]:
        if isinstance(request.k, float):
            whole(request.k, "k")
        if request.explain and request.k > MOST_EXPLAINED:
            raise invalid(f"`k` is at most {MOST_EXPLAINED} with `explain`.", "k")
        if request.instances is not UNSET:
            return await self._many(model, request, request.instances)
        if large and is_large(request):
            instance = await large_instance_of(request, self._most_features)
        else:
            instance = instance_of(request, self._most_features)
        if request.min_seq:
            model = await self._model_after(request.min_seq)
        seq = model.seq
        ranked, confidence, withheld = self._rank(model, request, instance)
        answer = RankAnswer(self._keep(request, instance), seq, [], confidence, withheld)
        if not len(instance):
            self._metrics.without_features["rank"] += 1
            answer.warnings = [warning_of(request)]
        if request.explain:
            return await self._explained(model, instance, answer, ranked, Turn())
        answer.ranked = list(starmap(Ranked, ranked))
        return _encode(answer)

    async def _many(
        self, model: Model, request: RankRequest, forms: Sequence[RankInstance]
    ) -> list[bytes]:
        self._check(request, forms)
        turn = Turn()
        instances = []
        warnings = []
        for position, form in enumerate(forms):
            instances.append(instance := await self._instance(position, form))
            if not len(instance):
                warnings.append(warning_of(form, "instances", position))
            if turn.is_over:
                await turn.pass_on()
        if request.min_seq:
            model = await self._model_after(request.min_seq)
        # Others have their turns: each ranking has seen this event or later ones.
        parts = [b'{"seq":%d,"results":[' % model.seq]
        for form, instance in zip(forms, instances, strict=True):
            ranked, confidence, withheld = self._rank(model, request, instance)
            result = RankResult(self._keep(form, instance), [], confidence, withheld)
            if request.explain:
                parts += await self._explained(model, instance, result, ranked, turn)
            else:
                result.ranked = list(starmap(Ranked, ranked))
                parts.append(_encode(result))
            parts.append(b",")
            if turn.is_over:
                await turn.pass_on()
        parts[-1] = b"]"
        if warnings:
            self._metrics.without_features["rank"] += len(warnings)
            parts += b',"warnings":', _encode(warnings)
        parts.append(b"}")
        return parts

    async def _model_after(self, min_seq: float) -> Model:
        """The model when it has seen that event; Problem 503 when this takes too long."""
        seq = whole(min_seq, "min_seq") if isinstance(min_seq, float) else min_seq
        with self._admission.waiting():
            reached = await self._engine.reached(seq, self._wait_seconds)
        if not reached:
            raise unavailable(
                f"Event {seq} has not come here within {self._wait_seconds:g} s; the last one that"
                f" has is {self._engine.model.seq}."
            )
        return self._engine.model

    def _check(self, request: RankRequest, forms: Sequence[RankInstance]) -> None:
        """Raise what stands against ranking so many, before any work is done."""
        most = self._most_instances
        check_many(request, RankInstance, "instances", forms, most, "instance to rank")
        if request.explain and len(forms) > MOST_EXPLAINED_INSTANCES:
            detail = f"A request has at most {MOST_EXPLAINED_INSTANCES} instances with `explain`."
            raise invalid(detail, "instances", MOST_EXPLAINED_INSTANCES)
        if len(forms) * request.k > MOST_RANKED_AT_ONCE:
            detail = f"The number of instances times `k` is at most {MOST_RANKED_AT_ONCE}."
            raise invalid(detail, "instances", int(MOST_RANKED_AT_ONCE // request.k))

    async def _instance(self, position: int, form: RankInstance) -> Instance:
        try:
            if is_large(form):
                return await large_instance_of(form, self._most_features)
            return instance_of(form, self._most_features)
        except Exception as error:
            raise problem_of(error).within("instances", position) from error

    def _rank(
        self, model: Model, request: RankRequest, instance: Instance
    ) -> tuple[list[tuple[str, float]], float | None, bool | UnsetType]:
        """What is ranked, the confidence, and whether the ranking is withheld."""
        began = perf_counter()
        ranked, confidence = model.answer(instance, int(request.k), request.threshold)
        self._metrics.rank_duration.observe(perf_counter() - began)
        least = request.min_confidence
        if least is not None and (confidence is None or confidence < least):
            self._metrics.withheld += 1
            return [], confidence, True
        return ranked, confidence, UNSET

    async def _explained(
        self,
        model: Model,
        instance: Instance,
        answer: RankAnswer | RankResult,
        ranked: list[tuple[str, float]],
        turn: Turn,
    ) -> list[bytes]:
        """The answer as JSON, each class with its reasons a part.

        Between two classes of an instance with very many features events may be learned.
        """
        if not ranked:
            return [_encode(answer)]
        # A name with these signs would have its quotes escaped.
        begin, empty, end = _encode(answer).partition(b'"ranked":[]')
        parts = [begin + empty[:-1]]
        at_once = max(1, EXPLAINED_AT_ONCE // max(1, len(instance)))
        for at in range(0, len(ranked), at_once):
            for each in _with_reasons(model, instance, ranked[at : at + at_once]):
                parts += _encode(each), b","
                if turn.is_over:
                    await turn.pass_on()
        parts[-1] = b"]" + end
        return parts

    def _keep(self, form: RankInstance, instance: Instance) -> str:
        return self._late.keep(instance, None if form.id is UNSET else form.id)


def _with_reasons(
    model: Model, instance: Instance, ranked: list[tuple[str, float]]
) -> Iterator[Ranked]:
    """Yield the classes with the features that voted for them, and the paths to them."""
    names = [name for name, _ in ranked]
    reasons = model.explain(instance, names, MOST_VOTES)
    paths = model.paths(instance, names, MOST_MOVES)
    for (name, score), votes, nodes in zip(ranked, reasons, paths, strict=True):
        yield Ranked(name, score, list(starmap(Vote, votes)), _path(nodes))


def _path(nodes: Sequence[Node]) -> list[PathNode] | UnsetType:
    if not nodes:
        return UNSET
    return [
        PathNode(node.classes, node.probability, node.bias, list(starmap(Vote, node.moved)))
        for node in nodes
    ]

"""POST /rank. Hot: reads and writes its bodies itself."""

from collections.abc import Sequence
from itertools import starmap
from time import perf_counter

import msgspec
from fastapi import APIRouter
from msgspec import UNSET

from core.event import Instance
from core.model import Model
from service.body import Headers, Receive, Send, read_body, require_json
from service.engine import Engine
from service.errors import invalid, problem_of
from service.keys import Keys, Scope
from service.late import LateLabels
from service.metrics import Metrics
from service.routes.contract import hot, one_of
from service.schemas import (
    RankAnswer,
    Ranked,
    RankInstance,
    RankManyAnswer,
    RankRequest,
    RankResult,
    Vote,
    decode,
    instance_of,
    whole,
)
from service.settings import Settings

router = APIRouter(tags=["rank"])


@router.post(
    "/rank",
    **hot(
        Scope.RANK,
        reads={"application/json": one_of("RankRequest")},
        writes={"application/json": one_of("RankAnswer", "RankManyAnswer")},
    ),
)
async def rank() -> None:
    """The classes that fit an instance, or each of many, best first. Changes nothing.

    `id` is echoed, or made: with it /learn can refer to the instance later. `explain` adds to each
    class the features that voted for it, heaviest first. Nothing known about any feature makes an
    empty list.
    """
    raise AssertionError("the front answers this call")


_decoder = msgspec.json.Decoder(RankRequest)
_encode = msgspec.json.Encoder().encode


class Rank:
    """Answers which classes fit an instance, or each of many, best first. Changes nothing."""

    def __init__(
        self, settings: Settings, engine: Engine, keys: Keys, late: LateLabels, metrics: Metrics
    ) -> None:
        self._most_bytes = settings.max_body_bytes
        self._most_instances = settings.max_batch
        self._most_features = settings.max_features_per_instance
        self._engine = engine
        self._keys = keys
        self._late = late
        self._metrics = metrics

    async def answer(self, headers: Headers, receive: Receive, send: Send) -> bytes:
        """The body of the answer; raises what `problem_of` understands."""
        self._keys.require(Scope.RANK, headers.get(b"authorization"))
        model = self._engine.model  # NotReady before there is one
        require_json(headers)
        request = decode(_decoder, await read_body(headers, receive, self._most_bytes))
        if isinstance(request.k, float):
            whole(request.k, "k")
        if request.instances is not UNSET:
            return self._many(model, request, request.instances)
        instance = instance_of(request, self._most_features)
        ranked = self._rank(model, request, instance)
        return _encode(RankAnswer(self._keep(request, instance), model.seq, ranked))

    def _many(self, model: Model, request: RankRequest, forms: Sequence[RankInstance]) -> bytes:
        for name in ("features", "text", "id"):
            if getattr(request, name) is not UNSET:
                raise invalid(f"`{name}` belongs into each of `instances`.", name)
        if not forms:
            raise invalid("There is no instance to rank.", "instances")
        if len(forms) > self._most_instances:
            detail = f"A request has at most {self._most_instances} instances."
            raise invalid(detail, "instances", self._most_instances)
        instances = [self._instance(position, form) for position, form in enumerate(forms)]
        results = [
            RankResult(self._keep(form, instance), self._rank(model, request, instance))
            for form, instance in zip(forms, instances, strict=True)
        ]
        return _encode(RankManyAnswer(model.seq, results))

    def _instance(self, position: int, form: RankInstance) -> Instance:
        try:
            return instance_of(form, self._most_features)
        except Exception as error:
            raise problem_of(error).within("instances", position) from error

    def _rank(self, model: Model, request: RankRequest, instance: Instance) -> list[Ranked]:
        began = perf_counter()
        ranked = model.rank(instance, int(request.k), request.threshold)
        self._metrics.rank_duration.observe(perf_counter() - began)
        if not request.explain:
            return list(starmap(Ranked, ranked))
        reasons = model.explain(instance, [name for name, _ in ranked])
        return [
            Ranked(name, score, [Vote(feature, gave) for feature, gave in votes])
            for (name, score), votes in zip(ranked, reasons, strict=True)
        ]

    def _keep(self, form: RankInstance, instance: Instance) -> str:
        return self._late.keep(instance, None if form.id is UNSET else form.id)

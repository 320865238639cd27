"""GET and DELETE of classes and features by name: any Unicode, slashes and line ends included."""

import asyncio
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.convertors import StringConvertor, register_url_convertor

from manyclass.core.event import Event
from manyclass.core.instance import LONGEST_NAME
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import Problem
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.schemas.names import (
    ClassCount,
    ClassDetail,
    ClassPage,
    ClassWeight,
    FeatureDetail,
    FeatureWeight,
    Forgotten,
)

router = APIRouter(tags=["names"])


class _Name(StringConvertor):
    regex = "(?s:.*)"


register_url_convertor("name", _Name())

_InPath = Annotated[
    str, Path(min_length=1, max_length=LONGEST_NAME, description="percent-encoded UTF-8")
]


async def _name(request: Request, name: _InPath) -> str:
    """Return the name at the end of a path. Raises Problem 400 if it is not UTF-8.

    The server replaces other bytes by a character, which may make another name.
    """
    try:
        unquote_to_bytes(request.scope.get("raw_path", b"")).decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "The path is not percent-encoded UTF-8.") from error
    return name


Name = Annotated[str, Depends(_name)]


@router.get("/classes", **needs(Scope.RANK, 400, 422))
async def list_classes(
    engine: TheEngine,
    prefix: Annotated[str, Query(max_length=LONGEST_NAME)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[str, Query(max_length=LONGEST_NAME)] = "",
) -> ClassPage:
    """List classes whose name begins with `prefix`, by UTF-8 bytes, from behind `after`."""
    page = await asyncio.to_thread(engine.model.learner.class_page, prefix, after, limit)
    return ClassPage(
        classes=[ClassCount(name=name, learned=learned) for name, learned in page],
        next=page[-1][0] if len(page) == limit else None,
    )


@router.get("/classes/{name:name}", **needs(Scope.RANK, 400, 404, 422))
async def get_class(
    engine: TheEngine,
    name: Name,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> ClassDetail:
    """Return a class and the `limit` features that vote most for it. Reads every feature."""
    found: dict[str, Any] = await asyncio.to_thread(engine.model.learner.class_, name, limit)
    return ClassDetail(
        name=name,
        learned=found["learned"],
        features=[
            FeatureWeight(feature=feature, weight=weight) for feature, weight in found["features"]
        ],
    )


@router.get("/features/{name:name}", **needs(Scope.RANK, 400, 404, 422))
async def get_feature(engine: TheEngine, name: Name) -> FeatureDetail:
    """Return a feature, its count of events, and the classes it votes for."""
    # reads all nodes of a label tree
    found: dict[str, Any] = await asyncio.to_thread(engine.model.learner.feature, name)
    return FeatureDetail(
        feature=name,
        times_seen=found["times_seen"],
        rating=found["rating"],
        outdegree=found["outdegree"],
        edges=[ClassWeight(name=edge, weight=weight) for edge, weight in found["edges"]],
    )


@router.delete("/classes/{name:name}", **needs(Scope.ADMIN, 400, 404, 413, 422))
async def forget_class(engine: TheEngine, name: Name) -> Forgotten:
    """Forget a class: no feature votes for it any more. This is a durable event."""
    [result] = await engine.submit([Event.forget_class(name)])
    return Forgotten(seq=result.seq)


@router.delete("/features/{name:name}", **needs(Scope.ADMIN, 400, 404, 413, 422))
async def forget_feature(engine: TheEngine, name: Name) -> Forgotten:
    """Forget a feature and its votes. This is a durable event."""
    [result] = await engine.submit([Event.forget_feature(name)])
    return Forgotten(seq=result.seq)

"""GET and DELETE of classes and features by name: any Unicode, slashes and line ends included.

put_class.py places classes in the taxonomy and describes them, titles.py gives titles.
"""

from heapq import nsmallest
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response
from starlette.convertors import StringConvertor, register_url_convertor

from manyclass.core.aliases import former_names
from manyclass.core.descriptions import LONGEST_TITLE, Description
from manyclass.core.event import Event
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.model import Model
from manyclass.core.ranked_classes import Order
from manyclass.service.http.auth import Scope
from manyclass.service.http.class_listing import found_classes
from manyclass.service.http.described_classes import TheDescribed
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import (
    NAME_DESCRIPTION,
    TheEngine,
    name_in_path,
    needs,
    router_of,
)
from manyclass.service.http.schemas.names import (
    AliasPage,
    ClassDetail,
    ClassPage,
    FeatureDetail,
    FeaturePage,
    Forgotten,
)

router = router_of("names")


class _Name(StringConvertor):
    regex = "(?s:.*)"


register_url_convertor("name", _Name())

_InPath = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME, description=NAME_DESCRIPTION)]
Prefix = Annotated[
    str,
    Query(max_length=LONGEST_NAME, description="List only names that begin with this text."),
]
PageLimit = Annotated[int, Query(ge=1, le=1000, description="The largest number of names.")]
AfterName = Annotated[
    str,
    Query(
        max_length=LONGEST_NAME,
        description="List names after this one: the `next` of the previous page.",
    ),
]


ClassOrder = Annotated[
    Order,
    Query(description="List the classes by name, the most frequent first, or the newest first."),
]
SearchText = Annotated[
    str,
    Query(
        max_length=LONGEST_TITLE,
        description="List classes that have a name with this text in it: the title, another name or"
        " the name itself, in any case, with and without accents.",
    ),
]


async def _name(request: Request, name: _InPath) -> str:
    """Return the name at the end of the path; the parameter declares it for the document."""
    _ = name
    return name_in_path(request.scope)


Name = Annotated[str, Depends(_name)]


def _texts(model: Model, name: str) -> dict[str, Any]:
    """Return the members of an answer that describe a class."""
    described = model.descriptions.get(name, Description())
    return {
        "title": described.title,
        "description": described.description,
        "alt_labels": described.alt_labels,
        "has_vector": described.instance.has_vector,
    }


@router.get("/classes", response_model=ClassPage, **needs(Scope.RANK, 400, 422))
async def list_classes(
    engine: TheEngine,
    reads: TheReads,
    described: TheDescribed,
    prefix: Prefix = "",
    limit: PageLimit = 100,
    after: AfterName = "",
    order: ClassOrder = "name",
    search: SearchText = "",
) -> Response:
    """List the classes whose names begin with `prefix`, after the class `after`: in order of their
    UTF-8 bytes, by their number of events, or the newest first. A class with a description is
    listed before its first event too.

    With `search`, list the classes that have a name with this text in it, in another order: those
    with a name that begins with the text, those with a word that begins with it, all others. A
    class without a description is found by the beginning of its name, where the case of the first
    letter does not count.
    """
    model = engine.model

    def page() -> dict[str, Any]:
        if search.strip():
            found = found_classes(model, described.search, search, prefix, after, limit)
        else:
            found = model.classes.page(order, prefix, after, limit)
        return {
            "classes": [
                {
                    "class": name,
                    "learned": learned,
                    "path": model.taxonomy.path(name),
                    **_texts(model, name),
                }
                for name, learned in found
            ],
            "next": found[-1][0] if len(found) == limit else None,
        }

    return await reads.page(page)


@router.get("/aliases", response_model=AliasPage, **needs(Scope.RANK, 422))
async def list_aliases(
    engine: TheEngine,
    reads: TheReads,
    limit: PageLimit = 100,
    after: AfterName = "",
) -> Response:
    """List the former names of renamed and merged classes, each with the class that an event of
    this name counts for, after the former name `after`: in order of their code points.
    """
    aliases = dict(engine.model.aliases)

    def page() -> dict[str, Any]:
        found = nsmallest(limit, (each for each in aliases.items() if each[0] > after))
        return {
            "aliases": [{"former": former, "class": name} for former, name in found],
            "next": found[-1][0] if len(found) == limit else None,
        }

    return await reads.page(page)


@router.get("/features", response_model=FeaturePage, **needs(Scope.RANK, 400, 422))
async def list_features(
    engine: TheEngine,
    reads: TheReads,
    prefix: Prefix = "",
    limit: PageLimit = 100,
    after: AfterName = "",
) -> Response:
    """List the features whose names begin with `prefix`, in order of their UTF-8 bytes, after the
    name `after`.

    The first listings after a start read all names and sort them step by step. The sorted order
    takes about 6 bytes of memory per name.
    """
    learner = engine.model.learner

    def page() -> dict[str, Any]:
        found = learner.feature_page(prefix, after, limit)
        return {
            "features": [{"feature": name, "times_seen": times} for name, times in found],
            "next": found[-1][0] if len(found) == limit else None,
        }

    return await reads.page(page)


@router.get("/classes/{name:name}", response_model=ClassDetail, **needs(Scope.RANK, 400, 404, 422))
async def get_class(
    engine: TheEngine,
    reads: TheReads,
    name: Name,
    limit: Annotated[
        int, Query(ge=1, le=10_000, description="The largest number of features, and of children.")
    ] = 100,
    after: Annotated[
        str | None,
        Query(
            max_length=LONGEST_NAME,
            description="List children after this one: the `next` of the previous page.",
        ),
    ] = None,
) -> Response:
    """Return a class, the `limit` features that vote most for it, and its place in the taxonomy.

    The call reads every feature. It lists up to `limit` children after the child `after`. A name
    that is in the taxonomy or has a description but was never learned has no features. A former
    name, as after a rename or a merge, stands for the class: `class` in the answer is its present
    name.
    """
    model = engine.model
    name = model.aliases.get(name, name)
    former = sorted(former_names(name, model.aliases))
    path = model.taxonomy.path(name)
    children = model.taxonomy.children(name, after, limit) if path else []

    def detail() -> dict[str, Any]:
        found: dict[str, Any] = {"features": []}
        is_known = path or name in model.classes
        if is_known and not model.learner.has_class(name):
            found["learned"] = model.classes.taught(name)
        else:
            found = model.learner.class_(name, limit)
        return {
            "class": name,
            "learned": found["learned"],
            "features": [
                {"feature": feature, "weight": weight} for feature, weight in found["features"]
            ],
            "parent": path[-2] if len(path) > 1 else None,
            "path": path,
            "children": children,
            "next": children[-1] if len(children) == limit else None,
            "former_names": former,
            **_texts(model, name),
        }

    return await reads.page(detail)


@router.get(
    "/features/{name:name}", response_model=FeatureDetail, **needs(Scope.RANK, 400, 404, 422)
)
async def get_feature(engine: TheEngine, reads: TheReads, name: Name) -> Response:
    """Return a feature, the number of events that had it, and the classes it votes for."""
    learner = engine.model.learner

    def detail() -> dict[str, Any]:
        found: dict[str, Any] = learner.feature(name)  # reads all nodes of a label tree
        return {
            "feature": name,
            "times_seen": found["times_seen"],
            "rating": found["rating"],
            "outdegree": found["outdegree"],
            "edges": [{"class": edge, "weight": weight} for edge, weight in found["edges"]],
        }

    return await reads.page(detail)


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

"""GET /taxonomy: the nodes of the taxonomy below a parent."""

from typing import Annotated, Any

from fastapi import Query, Response

from manyclass.core.descriptions import Description
from manyclass.core.instance import LONGEST_NAME
from manyclass.service.http.auth import Scope
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.names import PageLimit
from manyclass.service.http.schemas.taxonomy import TaxonomyPage

router = router_of("names")


@router.get("/taxonomy", response_model=TaxonomyPage, **needs(Scope.RANK, 404, 422))
async def list_taxonomy(
    engine: TheEngine,
    reads: TheReads,
    parent: Annotated[
        str | None,
        Query(max_length=LONGEST_NAME, description="List the children of this node."),
    ] = None,
    after: Annotated[
        str | None,
        Query(
            max_length=LONGEST_NAME,
            description="List nodes after this one: the `next` of the previous page.",
        ),
    ] = None,
    limit: PageLimit = 100,
) -> Response:
    """List the nodes of the taxonomy below `parent`, or those at the top."""
    model = engine.model
    taxonomy = model.taxonomy
    parent = None if parent is None else model.aliases.get(parent, parent)

    def page() -> dict[str, Any]:
        names = taxonomy.children(parent or None, after or None, limit)
        nodes = []
        for name in names:
            nodes.append(
                {
                    "class": name,
                    "title": model.descriptions.get(name, Description()).title,
                    "learned": model.classes.taught(name),
                    "has_children": bool(taxonomy.children(name, None, 1)),
                }
            )
        return {"nodes": nodes, "next": names[-1] if len(names) == limit else None}

    return await reads.page(page)

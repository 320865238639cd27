"""The explanations of a ranking: votes of features, paths, parts of scores, and nearest events."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, starmap

from msgspec import UNSET, UnsetType

from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.core.outcome import Node
from manyclass.service.engine import Engine
from manyclass.service.history.nearest import Near, nearest_of
from manyclass.service.http.schemas.rank import (
    MOST_MOVES,
    MOST_VOTES,
    FamilyScore,
    NearEvent,
    PathNode,
    Ranked,
    ScoreParts,
    Vote,
)
from manyclass.service.http.time_slice import run_in_thread


async def nearest_events(
    engine: Engine, instance: Instance, ranked: Sequence[Ranked]
) -> Mapping[str, Sequence[Near]]:
    """Return the nearest learned events of each class by their vectors, nearest first.

    It is empty for an instance without a vector, and without a history.
    """
    if not instance.has_vector or not engine.keeps_history:
        return {}
    classes = [each.name for each in ranked]
    return await run_in_thread(nearest_of, engine.history.reader, instance, classes)


def explain(
    model: Model,
    instance: Instance,
    ranked: Sequence[Ranked],
    nearest: Mapping[str, Sequence[Near]],
) -> None:
    """Add to each class its votes, its path, the parts of its score and its nearest events."""
    names = [each.name for each in ranked]
    reasons = model.explain(instance, names, MOST_VOTES)
    paths = model.paths(instance, names, MOST_MOVES)
    for each, votes, nodes in zip(ranked, reasons, paths, strict=True):
        each.features = list(starmap(Vote, votes))
        each.path = _path(nodes)
        each.families = _families(nodes)
    parts = model.explain_parts(instance, names, MOST_VOTES)
    if parts is None:
        return
    for each, part in zip(ranked, parts, strict=True):
        each.parts = ScoreParts(part.words, part.names, part.vectors)
        if part.description:
            each.description = list(starmap(Vote, part.description))
        if each.name in nearest:
            each.nearest = [NearEvent(one.seq, one.similarity) for one in nearest[each.name]]


def _path(nodes: Sequence[Node]) -> list[PathNode] | UnsetType:
    if not nodes or nodes[0].name:
        return UNSET
    return [
        PathNode(node.classes, node.probability, node.bias, list(starmap(Vote, node.moved)))
        for node in nodes
    ]


def _families(nodes: Sequence[Node]) -> list[FamilyScore] | UnsetType:
    if not nodes or not nodes[0].name:
        return UNSET
    sums = accumulate(node.score for node in nodes)
    return [
        FamilyScore(node.name, node.score, total, list(starmap(Vote, node.moved)))
        for node, total in zip(nodes, sums, strict=True)
    ]

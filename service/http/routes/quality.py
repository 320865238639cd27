"""Quality: the accuracy of the newest events by class, source, parent and time."""

from collections import Counter
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import Query, Response

from manyclass.core.instance import LONGEST_NAME
from manyclass.core.model import Model
from manyclass.core.taxonomy import Taxonomy
from manyclass.service.history.error_count import ErrorCount
from manyclass.service.history.likely_errors import ClassCounts, Confusions
from manyclass.service.history.quality import WEEK, Quality, Ranks
from manyclass.service.http.auth import Scope
from manyclass.service.http.described_classes import TheDescribed
from manyclass.service.http.reads import TheReads
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.routes.label_errors import Last, Seconds, TheCounts
from manyclass.service.http.schemas.quality import ClassQualityPage, QualityReport

router = router_of("stats")

MOST_SOURCES = 100
MOST_PARENTS = 1_000
MOST_CHANGED = 10
MOST_CONFUSIONS = 3
LEAST_FOR_TREND = 5  # events of a class in the newest week, and before
NO_RANKS = Ranks()

Sort = Literal["errors", "events", "recall", "precision", "r5", "trend", "class"]


@router.get("/quality", response_model=QualityReport, **needs(Scope.LEARN, 404))
async def get_quality(
    engine: TheEngine,
    reads: TheReads,
    counts: TheCounts,
    last: Last = 10_000,
    seconds: Seconds = None,
) -> Response:
    """Return the accuracy of the newest events: in all, along the history, by week, by source and
    by parent in the taxonomy; and how features, classes and confidence drift.

    The events count as they ranked before they were learned, with corrected labels. With `seconds`,
    the answer does not wait until all are counted, as for `/confusions`.
    """
    count = await counts.of(engine.history, engine.model, last, seconds)
    model = engine.model
    return await reads.page(lambda: _report(count, model))


def _report(count: ErrorCount, model: Model) -> dict[str, Any]:
    """Return the fields of a QualityReport."""
    with count.counted() as (found, _):
        sources = sorted(found.sources.items(), key=lambda item: -item[1].events)[:MOST_SOURCES]
        mix = found.mix(MOST_CHANGED)
        return {
            "seq": count.seq,
            "complete": count.is_done,
            "all": _recall(found.all),
            "begin": found.oldest / 1000 or None,
            "end": found.newest / 1000 or None,
            "classes": len(model.classes),
            "seen_classes": len(found.by_class),
            "curve": [
                {
                    "seq": each.last_seq,
                    "time": each.time / 1000 or None,
                    **_recall(Ranks(each.events, each.first, each.five)),
                }
                for each in count.curve
            ],
            "weeks": [
                {
                    "end": (found.newest - at * WEEK) / 1000,
                    "unknown_features": found.unknown[at] if at < len(found.unknown) else None,
                    "confidence": found.confidences[at] if at < len(found.confidences) else None,
                    **_recall(week.ranks),
                }
                for at, week in enumerate(found.weeks)
            ],
            "class_mix": mix
            and {
                "distance": mix[0],
                "changed": [
                    {"class": each.name, "share": each.share, "before": each.before}
                    for each in mix[1]
                ],
            },
            "sources": [{"source": name, **_recall(ranks)} for name, ranks in sources],
            "parents": _parents(found, model.taxonomy),
        }


def _recall(ranks: Ranks) -> dict[str, Any]:
    return {
        "events": ranks.events,
        "r1": _share(ranks.first, ranks.events),
        "r5": _share(ranks.five, ranks.events),
    }


def _parents(found: Quality, taxonomy: Taxonomy) -> list[dict[str, Any]]:
    if not len(taxonomy):
        return []
    parents: dict[str | None, Ranks] = {}
    for label, ranks in found.by_label.items():
        for parent in {taxonomy.parent(name) for name in label}:
            whole = parents.get(parent, NO_RANKS)
            parents[parent] = Ranks(
                whole.events + ranks.events, whole.first + ranks.first, whole.five + ranks.five
            )
    classes = Counter(taxonomy.parent(name) for name in found.by_class)
    most = sorted(parents.items(), key=lambda item: -item[1].events)[:MOST_PARENTS]
    return [
        {"parent": parent, "classes": classes[parent], **_recall(ranks)} for parent, ranks in most
    ]


@router.get("/quality/classes", response_model=ClassQualityPage, **needs(Scope.LEARN, 404, 422))
async def list_class_quality(
    engine: TheEngine,
    reads: TheReads,
    counts: TheCounts,
    described: TheDescribed,
    last: Last = 10_000,
    sort: Annotated[
        Sort,
        Query(
            description="The order: most `errors` or `events` first; least `recall`, `precision`,"
            " `r5` or `trend` first; by name (`class`)."
        ),
    ] = "errors",
    reverse: Annotated[bool, Query(description="Reverse the order.")] = False,
    contains: Annotated[
        str,
        Query(
            max_length=LONGEST_NAME,
            description="List only classes with a name, title or other name that has this text.",
        ),
    ] = "",
    parent: Annotated[
        str | None,
        Query(
            max_length=LONGEST_NAME,
            description="List only classes below this parent in the taxonomy; empty: at the top.",
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="The largest number of classes.")] = 100,
    after: Annotated[
        int,
        Query(ge=0, description="Leave out so many classes: the `next` of the previous page."),
    ] = 0,
    seconds: Seconds = None,
) -> Response:
    """List the classes of the newest events with recall, precision, trend and confusions.

    An event counts for each of its true classes. Only the rank of the best of them is recorded. So
    an event with any of its classes ranked first is right for each of them, and the class ranked
    first instead, on which `precision` and `confusions` depend, is the best other class of the
    present model.
    """
    count = await counts.of(engine.history, engine.model, last, seconds)
    model = engine.model

    def page() -> dict[str, Any]:
        with count.counted() as (found, confusions):
            wanted = contains.casefold()
            called = set(chain.from_iterable(described.search.find(contains))) if wanted else ()
            matching = [
                (_figure(sort, name, each, found), -each.true, name)
                for name, each in confusions.classes.items()
                if (not wanted or wanted in name.casefold() or name in called)
                and (parent is None or (model.taxonomy.parent(name) or "") == parent)
            ]
            known = [each for each in matching if each[0] is not None]
            unknown = [each for each in matching if each[0] is None]
            known.sort(reverse=reverse)
            unknown.sort(key=lambda each: each[1:])
            shown = [name for *_, name in (known + unknown)[after : after + limit]]
            instead = _instead(set(shown), confusions)
            end = after + len(shown)
            return {
                "seq": count.seq,
                "complete": count.is_done,
                "total": len(matching),
                "classes": [
                    _row(name, confusions.classes[name], found, model.taxonomy, instead)
                    for name in shown
                ],
                "next": end if end < len(matching) else None,
            }

    return await reads.page(page)


def _figure(sort: Sort, name: str, counts: ClassCounts, found: Quality) -> Any:
    """Return what to sort a class by, in ascending order; None if it is not known."""
    match sort:
        case "class":
            return name
        case "errors":
            return -counts.errors
        case "events":
            return -counts.true
        case "recall":
            return _share(counts.right, counts.true)
        case "precision":
            return _share(counts.right, counts.first)
        case "r5":
            return _r5(name, found)
        case "trend":
            return found.trend(name, LEAST_FOR_TREND)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _r5(name: str, found: Quality) -> float | None:
    ranks, _ = found.by_class.get(name, (NO_RANKS, NO_RANKS))
    return _share(ranks.five, ranks.events)


def _row(
    name: str,
    counts: ClassCounts,
    found: Quality,
    taxonomy: Taxonomy,
    instead: dict[str, Counter[str]],
) -> dict[str, Any]:
    """Return the fields of a ClassQuality."""
    most = instead.get(name, Counter()).most_common(MOST_CONFUSIONS)
    return {
        "class": name,
        "parent": taxonomy.parent(name),
        "events": counts.true,
        "first": counts.first,
        "recall": _share(counts.right, counts.true),
        "precision": _share(counts.right, counts.first),
        "r5": _r5(name, found),
        "trend": found.trend(name, LEAST_FOR_TREND),
        "confusions": [{"class": each, "count": times} for each, times in most],
    }


def _instead(names: set[str], confusions: Confusions) -> dict[str, Counter[str]]:
    """Return, for each of these classes, how often each class was ranked first instead."""
    found: dict[str, Counter[str]] = {}
    for (first, true), times in confusions.pairs.items():
        if true in names:
            found.setdefault(true, Counter())[first] += times
    return found

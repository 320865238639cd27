"""The example calls of the OpenAPI document, in an order in which their answers are true.

tests/service/http/openapi/test_examples.py makes the calls and compares the answers.
"""

from typing import Final

from manyclass.core.errors import TaxonomyMissing
from manyclass.service.http.openapi.example_call import (
    NDJSON,
    RECOVERY,
    SHADOW,
    UNDESCRIBED,
    Call,
    Json,
    known_class,
    lines,
    problem,
    scores,
    unknown,
    weights,
)
from manyclass.service.http.openapi.example_changes import CHANGES

_NOT_TEXT = (
    '`text` must be a string, or an object of 1 to 16 strings: "the goalie saved it" or'
    ' {"title": "ice hockey"} (got int)'
)
_NOT_CLASSES = '`classes` must be a list of names, 1 to 1000: ["hockey"] (got str)'
_NOT_LEARNED = (
    "ff cannot learn `not`; pa, mmp, arow, svm, path, hieron can, and a committee of these alone"
)
_NO_TAXONOMY = str(TaxonomyMissing())


def _accuracy(r1: float, mrr: float) -> Json:
    known = {"examples": 5, "r1": r1, "r5": 0.6, "r10": 0.6, "mrr": mrr}
    unknown = {"taxonomic_loss": None, "parent_accuracy": None}
    return {window: known | unknown for window in ("100", "1000", "10000")}


def _learner(
    name: str, primary: bool, options: Json, edges: int, size: int, resident: int, accuracy: Json
) -> Json:
    return {
        "learner": name,
        "primary": primary,
        "options": {"learner": name, **options},
        "features": 45,
        "classes": 2,
        "edges": edges,
        "learned": 5,
        "bytes": size,
        "resident_bytes": resident,
        "evicted_features": 0,
        "evicted_classes": 0,
        "mixture": {"words": 1.0, "neighbors": 0.0, "descriptions": None, "vectors": None},
        "learn_seconds": 0.000041,
        "accuracy": accuracy,
        "confidence": {
            "calibration_error": None,
            "brier": None,
            "reliability": [{"outcomes": 0, "confidence": None, "right": None}] * 10,
        },
        "members": [],
    }


_LEARNERS = [
    _learner("svm", True, {"C_negative": 0.2, "replay": 2}, 89, 5144, 6686, _accuracy(0.4, 0.5)),
    _learner("ff", False, {"min_weight": 0.01, "rating": 10}, 59, 3082, 3984, _accuracy(0.2, 0.4)),
]
_NO_OUTCOMES: Json = {
    "outcomes": 0,
    "right": 0,
    "accuracy": None,
    "classes": 0,
    "targets": [{"target": 0.95, "point": None}],
    "best": None,
    "curve": [],
}
_STATS = {
    "seq": 5,
    "digest": None,
    "process": None,
    "leads": None,
    "processes": None,
    "log_seq": 5,
    "store_unreachable_seconds": 0.0,
    "features": 45,
    "classes": 2,
    "edges": 89,
    "learned": 5,
    "bytes": 5144,
    "resident_bytes": 6686,
    "evicted_features": 0,
    "evicted_classes": 0,
    "taxonomy": 0,
    "described": 0,
    "taxonomy_bytes": 128,
    "vectors": {"dimension": 0, "events": 0, "classes": 0, "bytes": 0, "resident_bytes": 448},
    "outdegrees": [0, 1, 44],
    "accuracy": _accuracy(0.4, 0.5),
    "learners": _LEARNERS,
    "late_labels": {"waiting": 5, "bytes": 2212},
    "health": {
        "disk": None,
        **{"store_full": False, "queued_events": 0, "refused_by_queue": 0},
        **{"failed_commits": 0, "snapshot_failures": 0, "review_stored": None},
    },
    "review": {"items": 5, "bytes": 2212, "failing": None},
    "history": {
        "first_seq": 1,
        "events": 5,
        "bytes": 0,
        "deleted_events": 0,
        "lost_events": 0,
        "failures": 0,
        "amendments": 0,
        "erasures": 0,
        "amendment_age_seconds": 0.0,
        "rebuild_failures": 0,
        "last_rebuild": None,
    },
    "served": {
        **{"first": 0, "later": 1, "missed": 0, "abstained": 0},
        **{"r1": 0.0, "r1_before_learning": 0.0},
    },
    "newest_snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "recovery": RECOVERY,
    "durability": "none",
    "settings": {"MANYCLASS_SHADOWS": "ff", "MANYCLASS_MAX_BYTES": "4GiB"},
}
_PUCK_OVER_FENCE = ["a", "puck", "over", "the", "fence"]
CALLS: Final = (
    Call("livez", "the process runs", {"status": "live"}),
    Call(
        "readyz",
        "ready to learn",
        {
            **{"status": "ready", "seq": 0, "learns": True, "reason": None, "detail": None},
            **{"review_stored": None},
            "recovery": RECOVERY,
        },
        parameters={"to": "learn"},
    ),
    Call(
        "learn",
        "one event",
        {"seq": 1, "accepted": 1, "duplicates": 0, "rank_before": None, "updated": True},
        body={"text": "The goalie stopped the puck", "classes": ["hockey"]},
    ),
    Call(
        "learn",
        "many events",
        {"seq": 3, "accepted": 2, "duplicates": 0, "ranks_before": [None, 1]},
        body={
            "events": [
                {"features": {"ball": 2, "fence": 1}, "classes": ["baseball"], "event_id": "e-1"},
                {"features": ["goalie", "ice"], "classes": ["hockey"]},
            ]
        },
    ),
    Call(
        "learn",
        "a stream of events",
        lines(
            {
                "kind": "fault",
                "line": 2,
                "status": 422,
                "detail": _NOT_TEXT,
                "errors": [{"detail": _NOT_TEXT, "pointer": "#/text"}],
            },
            {
                "kind": "summary",
                "lines": 2,
                "accepted": 1,
                "duplicates": 0,
                "rejected": 1,
                "seq": 4,
                "r1": 1.0,
                "r5": 1.0,
            },
        ),
        body=lines(
            {"text": "a ball over the fence", "classes": ["baseball"]},
            {"text": 5, "classes": ["baseball"]},
        ),
        media=NDJSON,
    ),
    Call(
        "rank",
        "one instance",
        {
            "id": "q-1",
            "seq": 4,
            "ranked": scores(baseball=0.468, hockey=0.181),
            "confidence": None,
        },
        body={"text": "a puck over the fence", "id": "q-1"},
    ),
    Call(
        "rank",
        "explained",
        {
            "id": "q-2",
            "seq": 4,
            "ranked": [
                {
                    "class": "hockey",
                    "score": 0.139,
                    "features": [{"feature": "puck", "score": 0.139}],
                }
            ],
            "confidence": None,
        },
        body={"features": ["puck"], "id": "q-2", "source": "inbox", "k": 1, "explain": True},
    ),
    Call(
        "rank",
        "given classes alone",
        {
            "id": "q-5",
            "seq": 4,
            "ranked": scores(hockey=0.181),
            "confidence": None,
            "warnings": [{"detail": "No class is named 'golf'.", "pointer": "#/among"}],
        },
        body={"text": "a puck over the fence", "id": "q-5", "among": ["hockey", "golf"]},
    ),
    Call(
        "rank",
        "many instances",
        {
            "seq": 4,
            "results": [
                {"id": "q-3", "ranked": scores(baseball=0.682), "confidence": None},
                {"id": "q-4", "ranked": scores(hockey=0.238), "confidence": None},
            ],
        },
        body={
            "instances": [{"features": {"ball": 1}, "id": "q-3"}, {"text": "ice", "id": "q-4"}],
            "k": 1,
        },
    ),
    Call(
        "rank",
        "a text and its vector",
        {"seq": 4, "ranked": scores(baseball=0.468, hockey=0.181), "confidence": None},
        body={"text": "a puck over the fence", "vector": [0.12, -0.5], "keep": False},
    ),
    Call(
        "rank",
        "a vector of one number",
        problem(422, "a vector has from 2 to 3072 numbers, not 1", "#/vector"),
        422,
        body={"text": "a puck", "vector": [0.5]},
    ),
    Call(
        "rank",
        "a misspelt key",
        problem(422, "There is no key `txt` here; did you mean `text`?", "#/txt"),
        422,
        body={"txt": "a puck"},
    ),
    Call(
        "rank",
        "by expected loss without a taxonomy",
        problem(422, _NO_TAXONOMY, "#/decode"),
        422,
        body={"text": "a puck", "decode": "taxo"},
    ),
    Call(
        "learn",
        "a late label",
        {"seq": 5, "accepted": 1, "duplicates": 0, "rank_before": 2, "updated": True},
        body={"id": "q-1", "classes": ["hockey"]},
    ),
    Call(
        "learn",
        "an id that was not ranked",
        problem(404, "No instance was ranked with the id 'q-9'.", "#/id"),
        404,
        body={"id": "q-9", "classes": ["hockey"]},
    ),
    Call(
        "learn",
        "another event under a known event_id",
        problem(
            409,
            "event_id 'e-1' was seen with other content; give every event an id of its own, and"
            " send a retry unchanged",
            "#/event_id",
        ),
        409,
        body={"features": ["puck"], "classes": ["hockey"], "event_id": "e-1"},
    ),
    Call(
        "learn",
        "classes that are not a list",
        problem(422, _NOT_CLASSES, "#/classes"),
        422,
        body={"text": "a puck", "classes": "hockey"},
    ),
    Call(
        "learn",
        "a wrong class, with a shadow that cannot learn it",
        problem(422, _NOT_LEARNED, "#/not"),
        422,
        body={"text": "a puck", "not": ["baseball"]},
    ),
    Call(
        "review",
        "the two least certain",
        {
            "process": None,
            "reviewer": None,
            "lease_seconds": 120.0,
            "waiting": 4,
            "failing": None,
            "instances": [
                {
                    "id": "q-2",
                    "ranked": ["hockey", "baseball"],
                    "probabilities": [None, None],
                    "confidence": None,
                    "abstained": False,
                    "age": 41.7,
                    "source": "inbox",
                    "batch": None,
                    "text": None,
                    "text_cut": False,
                    "event": None,
                    "classes": [],
                    "second": False,
                    "features": {"puck": 1.0},
                    "omitted_features": 0,
                    "dimension": None,
                },
                {
                    "id": "q-5",
                    "ranked": ["hockey", "baseball"],
                    "probabilities": [None, None],
                    "confidence": None,
                    "abstained": False,
                    "age": 40.2,
                    "source": None,
                    "batch": None,
                    "text": "a puck over the fence",
                    "text_cut": False,
                    "event": None,
                    "classes": [],
                    "second": False,
                    "features": dict.fromkeys(_PUCK_OVER_FENCE, 1.0),
                    "omitted_features": 0,
                    "dimension": None,
                },
            ],
        },
        parameters={"limit": 2},
    ),
    Call(
        "review",
        "least certain by a shadow",
        {
            "process": None,
            "reviewer": None,
            "lease_seconds": 120.0,
            "waiting": 1,
            "failing": None,
            "instances": [
                {
                    "id": "q-2",
                    "ranked": ["hockey"],
                    "probabilities": [None],
                    "confidence": None,
                    "abstained": False,
                    "age": 41.8,
                    "source": "inbox",
                    "batch": None,
                    "text": None,
                    "text_cut": False,
                    "event": None,
                    "classes": [],
                    "second": False,
                    "features": {"puck": 1.0},
                    "omitted_features": 0,
                    "dimension": None,
                },
            ],
        },
        parameters={"limit": 1, "learner": SHADOW, "source": "inbox"},
    ),
    Call(
        "review",
        "an unknown learner",
        problem(404, "no learner is named 'pa'; the learners are 'svm', 'ff'"),
        parameters={"learner": "pa"},
        status=404,
    ),
    Call(
        "review_agreement",
        "nothing was labelled twice",
        {"percent": 0, "pairs": 0, "equal": 0, "kappa": None, "disagreements": []},
        parameters={"limit": 20},
    ),
    Call(
        "list_classes",
        "classes by prefix",
        {
            "classes": [{"class": "hockey", "learned": 3, "path": [], **UNDESCRIBED}],
            "next": None,
        },
        parameters={"prefix": "h", "limit": 10, "after": "a", "order": "name"},
    ),
    Call(
        "list_aliases",
        "no class was renamed yet",
        {"aliases": [], "next": None},
        parameters={"limit": 10, "after": ""},
    ),
    Call(
        "get_class",
        "a class and its heaviest features",
        known_class("hockey", learned=3, features=weights("feature", ice=0.516, goalie=0.446)),
        parameters={"name": "hockey", "limit": 2},
    ),
    unknown("get_class", "class", "cricket"),
    Call(
        "list_features",
        "features by prefix",
        {
            "features": [
                {"feature": "puck", "times_seen": 2},
                {"feature": "puck over", "times_seen": 1},
            ],
            "next": None,
        },
        parameters={"prefix": "p", "limit": 10, "after": "a"},
    ),
    Call(
        "get_feature",
        "a feature and its edges",
        {
            "feature": "puck",
            "times_seen": 2,
            "rating": 1.0,
            "outdegree": 2,
            "edges": weights("class", hockey=0.411, baseball=-0.078),
        },
        parameters={"name": "puck"},
    ),
    unknown("get_feature", "feature", "bat"),
    Call("list_learners", "two learners", {"seq": 5, "learners": _LEARNERS}),
    Call(
        "operating_points",
        "too few outcomes for a confidence",
        {
            "seq": 5,
            "learner": "svm",
            "newest": _NO_OUTCOMES,
            "all": _NO_OUTCOMES,
            "probabilities": {
                "rankings": 0,
                "true_classes": 0,
                "targets": [{"target": 0.95, "point": None}],
                "best": None,
                "curve": [],
            },
            "groups": {
                "by": "class",
                "total": 0,
                "reached": [{"target": 0.95, "groups": 0}],
                "groups": [],
                "next": None,
            },
        },
        parameters={
            **{"target": 0.95, "by": "class", "curve": True, "window": "all", "learner": "svm"},
            **{"limit": 100, "offset": 0},
        },
    ),
    Call("stats", "a small service", _STATS, parameters={"digest": "no"}),
    Call(
        "list_settings",
        "one of them",
        {
            "settings": {
                "MANYCLASS_PORT": {
                    "option": "--port",
                    "value": "8000",
                    "source": "default",
                    "default": "8000",
                    "help": "port to listen on; 0 chooses a free one",
                },
            }
        },
    ),
    Call(
        "metrics",
        "the first lines",
        "# HELP manyclass_request_duration_seconds time to answer a request, by endpoint and"
        " status\n# TYPE manyclass_request_duration_seconds histogram\n",
        media="text/plain",
    ),
    *CHANGES,
)

"""The example calls of the OpenAPI document, in an order in which their answers are true.

tests/service/http/openapi/test_examples.py makes the calls and compares the answers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from manyclass.core.errors import TaxonomyMissing
from manyclass.service.http.problems import MEDIA_TYPE

Json = Any

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
SHADOW: Final = "ff"  # of the example service; its primary learner is the default


@dataclass(frozen=True, slots=True)
class Call:
    """A call and its answer. Keys the answer has beyond the example's are left out of it."""

    operation: str
    summary: str
    answer: Json
    status: int = 200
    body: Json = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    media: str = JSON  # of the body and of the answer

    @property
    def answer_media(self) -> str:
        """The type of the answer's body."""
        return self.media if self.status < 400 else MEDIA_TYPE


def _problem(status: int, detail: str, place: str = "") -> Json:
    told = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return {**told, "errors": [{"detail": detail, "pointer": place}]} if place else told


def _unknown_event(operation: str, body: Json = None) -> Call:
    problem = _problem(404, "The history has no event 'e-99': it is unknown, deleted or too old.")
    return Call(operation, "an unknown event", problem, 404, body, {"name": "e-99"})


def _unknown(operation: str, kind: str, name: str) -> Call:
    problem = _problem(404, f"no {kind} is named {name!r}")
    return Call(operation, f"an unknown {kind}", problem, 404, parameters={"name": name})


def _scores(**scores: float) -> Json:
    return [{"class": name, "score": score} for name, score in scores.items()]


def _weights(key: str, **weights: float) -> Json:
    return [{key: name, "weight": weight} for name, weight in weights.items()]


def _lines(*objects: Json) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


_NOT_TEXT = (
    '`text` must be a string, or an object of 1 to 16 strings: "the goalie saved it" or'
    ' {"title": "ice hockey"} (got int)'
)
_NOT_CLASSES = '`classes` must be a list of names, 1 to 1000: ["hockey"] (got str)'
_NOT_LEARNED = (
    "ff cannot learn `not`; pa, mmp, arow, svm, path, hieron can, and a committee of these alone"
)
_NO_TAXONOMY = str(TaxonomyMissing())
_SNAPSHOT = {"seq": 5, "bytes": 13738, "taken_at": 1767225600.0}
_RECOVERY = {
    "snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "refused": {},
    "replayed": 0,
    "last_seq": 0,
    "seconds": 0.004,
}
_TAUGHT = {
    "seq": 12,
    "key": "e-7",
    "event_id": "e-7",
    "id": None,
    "time": 1767225600.0,
    "source": "anna",
    "classes": ["baseball"],
    "not": [],
    "weight": 1.0,
    "parents": {},
    "corrected": False,
    "undone": False,
    "rank_before": None,
    "outcome_known": True,
    "text": "the goalie saved it",
    "features": None,
}


def _class(name: str, **known: Json) -> Json:
    empty = {"learned": 0, "features": [], "parent": None, "path": [], "children": []}
    return {"class": name, **empty, **known, "next": None}


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
        "neighbor_weight": 0.0,
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
    "taxonomy_bytes": 128,
    "outdegrees": [0, 1, 44],
    "accuracy": _accuracy(0.4, 0.5),
    "learners": _LEARNERS,
    "late_labels": {"waiting": 5, "bytes": 2212},
    "history": {
        "first_seq": 1,
        "events": 5,
        "bytes": 0,
        "deleted_events": 0,
        "lost_events": 0,
        "failures": 0,
        "amendments": 0,
        "amendment_age_seconds": 0.0,
        "rebuild_failures": 0,
        "last_rebuild": None,
    },
    "served": {
        **{"first": 0, "later": 1, "missed": 0, "abstained": 0},
        **{"r1": 0.0, "r1_before_learning": 0.0},
    },
    "newest_snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "recovery": _RECOVERY,
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
            "recovery": _RECOVERY,
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
        _lines(
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
        body=_lines(
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
            "ranked": _scores(baseball=0.468, hockey=0.181),
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
            "ranked": _scores(hockey=0.181),
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
                {"id": "q-3", "ranked": _scores(baseball=0.682), "confidence": None},
                {"id": "q-4", "ranked": _scores(hockey=0.238), "confidence": None},
            ],
        },
        body={
            "instances": [{"features": {"ball": 1}, "id": "q-3"}, {"text": "ice", "id": "q-4"}],
            "k": 1,
        },
    ),
    Call(
        "rank",
        "a misspelt key",
        _problem(422, "There is no key `txt` here; did you mean `text`?", "#/txt"),
        422,
        body={"txt": "a puck"},
    ),
    Call(
        "rank",
        "by expected loss without a taxonomy",
        _problem(422, _NO_TAXONOMY, "#/decode"),
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
        _problem(404, "No instance was ranked under id 'q-9'.", "#/id"),
        404,
        body={"id": "q-9", "classes": ["hockey"]},
    ),
    Call(
        "learn",
        "another event under a known event_id",
        _problem(
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
        _problem(422, _NOT_CLASSES, "#/classes"),
        422,
        body={"text": "a puck", "classes": "hockey"},
    ),
    Call(
        "learn",
        "a wrong class, with a shadow that cannot learn it",
        _problem(422, _NOT_LEARNED, "#/not"),
        422,
        body={"text": "a puck", "not": ["baseball"]},
    ),
    Call(
        "review",
        "the two least certain",
        {
            "process": None,
            "instances": [
                {
                    "id": "q-2",
                    "ranked": ["hockey"],
                    "confidence": None,
                    "abstained": False,
                    "age": 41.7,
                    "source": "inbox",
                    "text": None,
                    "text_cut": False,
                    "features": {"puck": 1.0},
                    "omitted_features": 0,
                },
                {
                    "id": "q-5",
                    "ranked": ["hockey"],
                    "confidence": None,
                    "abstained": False,
                    "age": 40.2,
                    "source": None,
                    "text": "a puck over the fence",
                    "text_cut": False,
                    "features": dict.fromkeys(_PUCK_OVER_FENCE, 1.0),
                    "omitted_features": 0,
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
            "instances": [
                {
                    "id": "q-2",
                    "ranked": ["hockey"],
                    "confidence": None,
                    "abstained": False,
                    "age": 41.8,
                    "source": "inbox",
                    "text": None,
                    "text_cut": False,
                    "features": {"puck": 1.0},
                    "omitted_features": 0,
                },
            ],
        },
        parameters={"limit": 1, "learner": SHADOW, "source": "inbox"},
    ),
    Call(
        "review",
        "an unknown learner",
        _problem(404, "no learner is named 'pa'; there are 'svm', 'ff'"),
        parameters={"learner": "pa"},
        status=404,
    ),
    Call(
        "list_classes",
        "classes by prefix",
        {"classes": [{"class": "hockey", "learned": 3}], "next": None},
        parameters={"prefix": "h", "limit": 10, "after": "a"},
    ),
    Call(
        "get_class",
        "a class and its heaviest features",
        _class("hockey", learned=3, features=_weights("feature", ice=0.516, goalie=0.446)),
        parameters={"name": "hockey", "limit": 2},
    ),
    _unknown("get_class", "class", "cricket"),
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
            "edges": _weights("class", hockey=0.411, baseball=-0.078),
        },
        parameters={"name": "puck"},
    ),
    _unknown("get_feature", "feature", "bat"),
    Call("list_learners", "two learners", {"seq": 5, "learners": _LEARNERS}),
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
                    "help": "port to listen on; 0 takes a free one",
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
    Call("take_snapshot", "a snapshot", _SNAPSHOT, 201),
    Call("list_snapshots", "two snapshots", {"snapshots": [_SNAPSHOT, _RECOVERY["snapshot"]]}),
    Call("restore_snapshot", "back at event 5", {"seq": 6, "restored": 5}, parameters={"seq": 5}),
    Call(
        "restore_snapshot",
        "a snapshot that is not there",
        _problem(404, "there is no snapshot 3; `manyclass snapshot list` shows them"),
        404,
        parameters={"seq": 3},
    ),
    Call(
        "promote_learner",
        "the shadow becomes the primary learner",
        {"seq": 7, "learner": SHADOW},
        parameters={"name": SHADOW},
    ),
    Call(
        "promote_learner",
        "an unknown learner",
        _problem(404, "no learner is named 'pa'; there are 'ff', 'svm'"),
        404,
        parameters={"name": "pa"},
    ),
    Call(
        "place_class",
        "below its parent",
        {"seq": 8},
        body={"parent": "sports"},
        parameters={"name": "hockey"},
    ),
    Call(
        "place_class",
        "a class that has another parent",
        _problem(
            409,
            "class 'hockey' is below 'sports', not below 'games'; send the parent that it has, or"
            " move the class: PUT /classes/{name} with `move`, or `manyclass place --move`",
        ),
        409,
        body={"parent": "games"},
        parameters={"name": "hockey"},
    ),
    Call(
        "place_classes",
        "two classes, and their parent at the top",
        {"seq": 9},
        body={"parents": {"hockey": "sports", "baseball": "sports", "sports": None}},
    ),
    Call(
        "rank",
        "by expected taxonomic loss",
        {
            "id": "q-6",
            "seq": 9,
            "ranked": [
                {"class": "hockey", "score": 0.612, "expected_loss": 0.113},
                {"class": "baseball", "score": 0.348, "expected_loss": 0.887},
            ],
            "confidence": None,
        },
        body={"text": "a puck over the fence", "id": "q-6", "decode": "taxo"},
    ),
    Call(
        "place_classes",
        "a circle",
        _problem(
            422, "class 'sports' cannot be below 'hockey', which is below it", "#/parents/sports"
        ),
        422,
        body={"parents": {"sports": "hockey"}},
    ),
    Call(
        "get_class",
        "a parent in the taxonomy, and its children from behind one of them",
        _class("sports", path=["sports"], children=["baseball"]),
        parameters={"name": "sports", "after": "hockey"},
    ),
    Call("forget_class", "forgotten", {"seq": 10}, parameters={"name": "baseball"}),
    _unknown("forget_class", "class", "cricket"),
    Call("forget_feature", "forgotten", {"seq": 11}, parameters={"name": "puck"}),
    _unknown("forget_feature", "feature", "bat"),
    Call(
        "learn",
        "an event of a source",
        {"seq": 12, "accepted": 1, "duplicates": 0, "rank_before": None, "updated": True},
        body={
            "text": "the goalie saved it",
            "classes": ["baseball"],
            "event_id": "e-7",
            "source": "anna",
        },
    ),
    Call(
        "list_events",
        "what a source taught, and the learner had ranked otherwise",
        {"events": [_TAUGHT], "next": None},
        parameters={
            "class": "baseball",
            "source": "anna",
            "since": 0,
            "until": 1767312000,
            "wrong": True,
            "undone": False,
            "limit": 10,
            "after": 100,
            "order": "newest",
        },
    ),
    Call(
        "list_events",
        "the events that label a ranked instance",
        {"events": [], "next": None},
        parameters={"id": "q-9"},
    ),
    Call("get_event", "an event by its event_id", _TAUGHT, parameters={"name": "e-7"}),
    _unknown_event("get_event"),
    Call(
        "list_confusions",
        "the two newest events",
        {
            "seq": 12,
            "complete": True,
            "events": 2,
            "r1": 0.0,
            "pairs": [
                {"ranked_first": "hockey", "true": "baseball", "count": 1, "events": [12]},
                {"ranked_first": "baseball", "true": "hockey", "count": 1, "events": [5]},
            ],
            "classes": [
                {"class": "baseball", "events": 1, "recall": 0.0, "precision": 0.0},
                {"class": "hockey", "events": 1, "recall": 0.0, "precision": 0.0},
            ],
        },
        parameters={"last": 2, "limit": 10, "seconds": 0.5},
    ),
    Call(
        "list_suspects",
        "none before the model has a confidence",
        {"seq": 12, "complete": True, "suspects": []},
        parameters={"last": 1000, "limit": 10, "seconds": 0.5},
    ),
    Call(
        "correct_event",
        "another class",
        {"seq": 13, "amended": 12, "changed": True},
        body={"classes": ["hockey"]},
        parameters={"name": "e-7"},
    ),
    Call(
        "correct_event",
        "an event that was so already",
        {"seq": 12, "amended": 12, "changed": False},
        body={"classes": ["hockey"]},
        parameters={"name": "e-7"},
    ),
    _unknown_event("correct_event", {"classes": ["hockey"]}),
    Call(
        "delete_event",
        "deleted",
        {"seq": 14, "deleted": 1, "more": False},
        parameters={"name": "seq:3"},
    ),
    _unknown_event("delete_event"),
    Call(
        "delete_events",
        "the events of a source",
        {"seq": 15, "deleted": 1, "more": False},
        parameters={"source": "anna"},
    ),
    Call(
        "rebuild_status",
        "two amended events wait",
        {"running": False, "learned": 0, "waiting": 2, "last": None},
    ),
    Call(
        "rebuild",
        "learned again",
        {
            "seq": 16,
            "base": 0,
            "events": 10,
            "corrected": 0,
            "deleted": 2,
            "unreached": 0,
            "text": "words+pairs+characters",
            "seconds": 0.42,
            "finished_at": 1767225600.0,
        },
        body={"learner": "svm"},  # a shadow by now
    ),
    Call(
        "rebuild",
        "a learner that is not a shadow",
        _problem(409, "'ff' is the primary learner, not a shadow"),
        body={"learner": SHADOW},  # it was promoted above
        status=409,
    ),
    Call(
        "learn",
        "a class outside the taxonomy",
        {"seq": 17, "accepted": 1, "duplicates": 0, "rank_before": None, "updated": True},
        body={"features": ["net", "indoors"], "classes": ["futsal"]},
    ),
    Call(
        "rename_class",
        "renamed",
        {"seq": 18},
        body={"rename": "indoor football"},
        parameters={"name": "futsal"},
    ),
    Call(
        "rename_class",
        "a class of the taxonomy",
        _problem(409, "class 'hockey' is in the taxonomy; classes of a taxonomy keep their names"),
        409,
        body={"merge_into": "indoor football"},
        parameters={"name": "hockey"},
    ),
    Call(
        "rename_class",
        "an unknown class",
        _problem(404, "no class is named 'cricket'"),
        404,
        body={"rename": "wicket"},
        parameters={"name": "cricket"},
    ),
    Call(
        "rename_class",
        "a former name released",
        {"seq": 19},
        body={"release": True},
        parameters={"name": "futsal"},
    ),
    Call(
        "rebuild",
        "texts read by another analysis",
        {
            "seq": 19,
            "base": 0,
            "events": 11,
            "corrected": 0,
            "deleted": 0,
            "unreached": 0,
            "text": "words+pairs",
            "seconds": 0.42,
            "finished_at": 1767225600.0,
        },
        body={"text": "words+pairs"},
    ),
)

"""The examples of the OpenAPI document: calls of a service, in an order in which they are true.

The test of this module makes the calls and compares the answers.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import msgspec

from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.csrf import Origins
from manyclass.service.http.headers import headers_of
from manyclass.service.http.problems import MEDIA_TYPE, Fault, Problem, no_parameters, problem_of
from manyclass.service.http.request_body import needless_body, require_json
from manyclass.service.http.routes.contract import unknown_parameter
from manyclass.service.log.group_commit import NotReady
from manyclass.service.store.protocol import SnapshotDamaged

Json = Any

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
UNKNOWN: Final = "verbose"  # a parameter no call has
SHADOW: Final = "ff"  # of the service these calls are made to, whose learner is the default


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


def _unknown(kind: str, name: str) -> Json:
    return _problem(404, f"no {kind} is named {name!r}")


def _lines(*objects: Json) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


_NOT_TEXT = '`text` must be a string: "the goalie saved it" (got int)'
_SNAPSHOT = {"seq": 5, "bytes": 13738, "taken_at": 1767225600.0}
_RECOVERY = {
    "snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "refused": {},
    "replayed": 0,
    "last_seq": 0,
    "seconds": 0.004,
}
_ACCURACY = {
    window: {"examples": 5, "r1": 0.4, "r5": 0.6, "r10": 0.6, "mrr": 0.5}
    for window in ("100", "1000", "10000")
}


def _learner(name: str, role: str, options: Json, edges: int, size: int) -> Json:
    return {
        "learner": name,
        "role": role,
        "options": {"learner": name, **options},
        "features": 19,
        "classes": 2,
        "edges": edges,
        "learned": 5,
        "bytes": size,
        "resident_bytes": size + 966,
        "evicted_features": 0,
        "evicted_classes": 0,
        "learn_seconds": 0.000041,
        "accuracy": _ACCURACY,
        "confidence": {
            "calibration_error": None,
            "brier": None,
            "reliability": [{"outcomes": 0, "confidence": None, "right": None}] * 10,
        },
        "members": [],
    }


_LEARNERS = [
    _learner("svm", "answers", {"C_negative": 0.2, "replay": 2}, 37, 2530),
    _learner("ff", "shadow", {"min_weight": 0.01, "rating": 10}, 24, 1389),
]
_STATS = {
    "seq": 5,
    "digest": None,
    "process": None,
    "leads": None,
    "processes": None,
    "log_seq": 5,
    "store_away_seconds": 0.0,
    "features": 19,
    "classes": 2,
    "edges": 37,
    "learned": 5,
    "bytes": 2530,
    "resident_bytes": 3496,
    "evicted_features": 0,
    "evicted_classes": 0,
    "outdegrees": [0, 1, 18],
    "accuracy": _ACCURACY,
    "learners": _LEARNERS,
    "late_labels": {"waiting": 4, "bytes": 1588},
    "newest_snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "recovery": _RECOVERY,
    "durability": "none",
    "settings": {"MANYCLASS_SHADOWS": "ff", "MANYCLASS_MAX_BYTES": "4GiB"},
}

CALLS: Final = (
    Call("livez", "the process runs", {"status": "live"}),
    Call(
        "readyz",
        "ready to learn",
        {"status": "ready", "seq": 0, "recovery": _RECOVERY},
        parameters={"to": "learn"},
    ),
    Call(
        "learn",
        "one event",
        {"seq": 1, "accepted": 1, "duplicates": 0, "rank": None, "updated": True},
        body={"text": "The goalie stopped the puck", "classes": ["hockey"]},
    ),
    Call(
        "learn",
        "many events",
        {"seq": 3, "accepted": 2, "duplicates": 0, "ranks": [None, 1]},
        body={
            "events": [
                {
                    "features": {"ball": 2, "fence": 1},
                    "classes": ["baseball"],
                    "event_id": "e-1",
                },
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
            "ranked": [
                {"class": "baseball", "score": 0.409},
                {"class": "hockey", "score": 0.109},
            ],
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
                    "score": 0.21,
                    "features": [{"feature": "puck", "score": 0.21}],
                }
            ],
            "confidence": None,
        },
        body={"features": ["puck"], "id": "q-2", "k": 1, "explain": True},
    ),
    Call(
        "rank",
        "many instances",
        {
            "seq": 4,
            "results": [
                {
                    "id": "q-3",
                    "ranked": [{"class": "baseball", "score": 0.725}],
                    "confidence": None,
                },
                {
                    "id": "q-4",
                    "ranked": [{"class": "hockey", "score": 0.489}],
                    "confidence": None,
                },
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
        "learn",
        "a late label",
        {"seq": 5, "accepted": 1, "duplicates": 0, "rank": 2, "updated": True},
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
        _problem(
            422,
            '`classes` must be a list of names, 1 to 1000: ["hockey"] (got str)',
            "#/classes",
        ),
        422,
        body={"text": "a puck", "classes": "hockey"},
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
        {
            "class": "hockey",
            "learned": 3,
            "features": [
                {"feature": "goalie", "weight": 0.501},
                {"feature": "ice", "weight": 0.489},
            ],
        },
        parameters={"name": "hockey", "limit": 2},
    ),
    Call(
        "get_class",
        "an unknown class",
        _unknown("class", "cricket"),
        404,
        parameters={"name": "cricket"},
    ),
    Call(
        "get_feature",
        "a feature and its edges",
        {
            "feature": "puck",
            "times_seen": 2,
            "rating": 1.0,
            "outdegree": 2,
            "edges": [
                {"class": "hockey", "weight": 0.411},
                {"class": "baseball", "weight": -0.078},
            ],
        },
        parameters={"name": "puck"},
    ),
    Call(
        "get_feature",
        "an unknown feature",
        _unknown("feature", "bat"),
        404,
        parameters={"name": "bat"},
    ),
    Call("list_learners", "two learners", {"seq": 5, "learners": _LEARNERS}),
    Call("stats", "a small service", _STATS, parameters={"digest": "no"}),
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
        "the shadow answers",
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
    Call("forget_class", "forgotten", {"seq": 8}, parameters={"name": "baseball"}),
    Call(
        "forget_class",
        "an unknown class",
        _unknown("class", "cricket"),
        404,
        parameters={"name": "cricket"},
    ),
    Call("forget_feature", "forgotten", {"seq": 9}, parameters={"name": "puck"}),
    Call(
        "forget_feature",
        "an unknown feature",
        _unknown("feature", "bat"),
        404,
        parameters={"name": "bat"},
    ),
)


def general_problems(settings: Settings, open_to_all: bool) -> dict[int, Problem]:
    """Return a problem for each status that a call may end with whatever it is for, by status.

    Most are made by what refuses the request, so that they are what it says.
    """
    keys = ApiKeys(["rank-key"], [], ["admin-key"])
    other = {b"host": b"localhost", b"origin": b"https://elsewhere.example"}
    forbidden = (
        _raised(Origins("localhost", open_to_all=True).require, "POST", other)
        if open_to_all
        else _raised(keys.require, Scope.ADMIN, b"Bearer rank-key")
    )
    not_ready = problem_of(NotReady("recovering"))
    too_late = "The instance of id 'q-1' is no longer kept."
    return {
        400: _raised(headers_of, [(b"authorization", b"")] * 2),
        401: _raised(keys.require, Scope.ADMIN, None),
        403: forbidden,
        408: Problem(408, "Nothing more of this request came in 60 s."),
        409: problem_of(SnapshotDamaged(5, "manifest", "its checksum does not fit")),
        410: Problem(410, too_late, [Fault(too_late, ("id",))]),
        413: Problem(413, f"A body has at most {settings.max_body_bytes} bytes, unpacked."),
        415: _raised(require_json, {b"content-type": b"text/plain"}),
        431: Problem(431, "A URL and headers have at most 65536 bytes together."),
        502: Problem(502, not_ready.detail),  # by a Prefer header, see routes/rank.py
        503: not_ready,
    }


def _raised(check: Callable[..., object], *arguments: object) -> Problem:
    try:
        check(*arguments)
    except Problem as problem:
        return problem
    raise AssertionError(f"{check} refused nothing")


def add_examples(operation: dict[str, Any], problems: Mapping[int, Problem]) -> None:
    """Add to an operation of the document the examples of its parameters, body and answers.

    `problems` are those of `general_problems`, for what no call of CALLS ends with.
    """
    calls = [call for call in CALLS if call.operation == operation["operationId"]]
    for parameter in operation.get("parameters", ()):
        for call in calls:
            if parameter["name"] in call.parameters and call.status < 400:
                parameter["example"] = call.parameters[parameter["name"]]
    for call in calls:
        if call.body is not None and call.status != 422:  # else it is not what the schema allows
            _add(operation["requestBody"]["content"][call.media], call.summary, call.body)
        content = operation["responses"][str(call.status)]["content"]
        _add(content[call.answer_media], call.summary, call.answer)
    for status, response in operation["responses"].items():
        content = response["content"].get(MEDIA_TYPE)
        if status == "422":
            _add_problem(content, _unknown_parameter(operation))
        elif status == "413" and "requestBody" not in operation:
            _add_problem(content, needless_body())
        elif content is not None and "examples" not in content:
            _add_problem(content, problems[int(status)])


def _unknown_parameter(operation: dict[str, Any]) -> Problem:
    if "requestBody" in operation:
        return no_parameters(f"{UNKNOWN}=yes".encode())
    return unknown_parameter([UNKNOWN], operation)


def _add_problem(content: dict[str, Any], problem: Problem) -> None:
    _add(content, problem.detail, msgspec.to_builtins(problem.document()))


def _add(content: dict[str, Any], summary: str, value: Json) -> None:
    examples = content.setdefault("examples", {})
    examples[f"example-{len(examples) + 1}"] = {"summary": summary, "value": value}

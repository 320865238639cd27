"""A call of the OpenAPI document with its answer, and parts that many answers have."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

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


def problem(status: int, detail: str, place: str = "") -> Json:
    told = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return {**told, "errors": [{"detail": detail, "pointer": place}]} if place else told


def unknown_event(operation: str, body: Json = None) -> Call:
    refusal = problem(404, "The history has no event 'e-99': it is unknown, deleted or too old.")
    return Call(operation, "an unknown event", refusal, 404, body, {"name": "e-99"})


def unknown(operation: str, kind: str, name: str) -> Call:
    refusal = problem(404, f"no {kind} is named {name!r}")
    return Call(operation, f"an unknown {kind}", refusal, 404, parameters={"name": name})


def scores(**scores: float) -> Json:
    return [{"class": name, "score": score} for name, score in scores.items()]


def weights(key: str, **weights: float) -> Json:
    return [{key: name, "weight": weight} for name, weight in weights.items()]


def lines(*objects: Json) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


RECOVERY = {
    "snapshot": {"seq": 0, "bytes": 11610, "taken_at": 1767225600.0},
    "refused": {},
    "replayed": 0,
    "last_seq": 0,
    "seconds": 0.004,
}


UNDESCRIBED: Final[Json] = {
    "title": None,
    "description": None,
    "alt_labels": [],
    "has_vector": False,
}


def known_class(name: str, **known: Json) -> Json:
    empty = {"learned": 0, "features": [], "parent": None, "path": [], "children": []}
    empty |= {"former_names": [], **UNDESCRIBED}
    return {"class": name, **empty, **known, "next": None}

"""The OpenAPI document: FastAPI's, and the hot calls' bodies from the types that read them."""

from inspect import cleandoc
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from manyclass.core.event import LARGEST_VALUE, LONGEST_NAME
from manyclass.service import schemas
from manyclass.service.errors import ProblemDocument
from manyclass.service.routes.contract import REFERENCE
from manyclass.service.schemas import (
    DEFAULT_RANKED,
    LARGEST_SEQ,
    MOST_EXPLAINED,
    MOST_EXPLAINED_INSTANCES,
    MOST_RANKED,
    MOST_RANKED_AT_ONCE,
    MOST_VOTES,
)
from manyclass.service.settings import Settings

Schema = dict[str, Any]


_READ = [schemas.RankRequest, schemas.RankInstance, schemas.LearnRequest, schemas.LearnEvent]
_WRITTEN = [
    schemas.RankAnswer,
    schemas.RankManyAnswer,
    schemas.LearnAnswer,
    schemas.LearnManyAnswer,
    schemas.Progress,
    schemas.Summary,
    schemas.StreamFault,
    schemas.StreamWarning,
    schemas.StreamFailure,
    ProblemDocument,
]

# What manyclass.core.event checks, so that the types need not.
_NAME = {"minLength": 1, "maxLength": LONGEST_NAME}
_NAMES = {
    "type": "array",
    "items": {"anyOf": [{"type": "string", **_NAME}, {"type": "integer"}]},
}
_VALUES = {
    "type": "object",
    "propertyNames": _NAME,
    "additionalProperties": {"type": "number", "maximum": LARGEST_VALUE},
}

# A type that reads a body has all its fields; these are the combinations that make sense, each
# as the fields it must have and those it may have.
_RANKING = ["k", "threshold", "min_confidence", "explain", "min_seq"]
_FORMS: dict[str, dict[str, tuple[list[str], list[str]]]] = {
    "RankRequest": {
        "features": (["features"], ["id", *_RANKING]),
        "text": (["text"], ["id", *_RANKING]),
        "many": (["instances"], _RANKING),
    },
    "RankInstance": {
        "features": (["features"], ["id"]),
        "text": (["text"], ["id"]),
    },
    "LearnRequest": {
        "features": (["features", "classes"], ["event_id"]),
        "text": (["text", "classes"], ["event_id"]),
        "late label": (["id", "classes"], ["event_id"]),
        "many": (["events"], []),
    },
    "LearnEvent": {
        "features": (["features", "classes"], ["event_id"]),
        "text": (["text", "classes"], ["event_id"]),
        "late label": (["id", "classes"], ["event_id"]),
    },
}


def document(app: FastAPI, settings: Settings, open_to_all: bool) -> Schema:
    """The contract as it is with these settings: their limits in it, keys only where there are."""
    made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    components = made.setdefault("components", {})
    components["schemas"] = {**_ours(settings), **_theirs(components.get("schemas", {}))}
    if not open_to_all:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path in made["paths"].values():
        for operation in path.values():
            _say_who_may(operation, open_to_all)
    return made


def _ours(settings: Settings) -> Schema:
    _, components = msgspec.json.schema_components([*_READ, *_WRITTEN], ref_template=REFERENCE)
    for name, forms in _FORMS.items():
        _set_limits(components[name]["properties"], settings)
        components[name] = _one_of(components[name], forms)
    components["RankRequest"] |= _less_when_explained(settings)
    components["Problem"] = components.pop("ProblemDocument")
    for component in components.values():
        if "description" in component:
            component["description"] = cleandoc(component["description"])
    return components | {
        "LearnLines": {"type": "string", "description": "One LearnEvent a line."},
        "LearnStreamLines": {
            "type": "string",
            "description": "One Progress, StreamFault, StreamWarning, Summary or StreamFailure a"
            " line. The last one is a Summary, or a StreamFailure when the stream ended early.",
        },
    }


def _theirs(components: Schema) -> Schema:
    """FastAPI's components, without the errors that are not ours."""
    return {
        name: schema
        for name, schema in components.items()
        if name not in ("HTTPValidationError", "ValidationError")
    }


def _set_limits(properties: Schema, settings: Settings) -> None:
    most = settings.max_features_per_instance
    for name in properties.keys() & {"instances", "events"}:
        properties[name] |= {"minItems": 1, "maxItems": settings.max_batch}
    if "k" in properties:
        properties["k"] = {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_RANKED,
            "default": DEFAULT_RANKED,
            "description": f"At most {MOST_EXPLAINED} with `explain`. The number of `instances`"
            f" times `k` is at most {MOST_RANKED_AT_ONCE}.",
        }
    if "min_seq" in properties:
        properties["min_seq"] = {
            "type": "integer",
            "minimum": 0,
            "maximum": LARGEST_SEQ,
            "default": 0,
            "description": "The ranking has seen this event, or the answer is 503: it is waited for"
            f" at most {settings.rank_wait_seconds:g} s.",
        }
    if "explain" in properties:
        properties["explain"] |= {
            "description": "Whether each class comes with the features that voted for it, at most"
            f" {MOST_VOTES}. Then `k` is at most {MOST_EXPLAINED} and there are at most"
            f" {MOST_EXPLAINED_INSTANCES} `instances`."
        }
    if "classes" in properties:
        properties["classes"] |= _NAMES
    properties["features"] = {
        "anyOf": [_VALUES | {"maxProperties": most}, _NAMES | {"maxItems": most}],
        "description": "An object name → number, or an array of names, each worth 1; repeated ones"
        " add up. A value of 0 or less does not vote. A name is at most"
        f" {LONGEST_NAME} bytes of UTF-8; an integer stands for its decimal string.",
        "examples": [{"goal": 2, "ice": 1.5}, ["goal", "ice", "goal"]],
    }


def _less_when_explained(settings: Settings) -> Schema:
    most = min(settings.max_batch, MOST_EXPLAINED_INSTANCES)
    return {
        "if": {"properties": {"explain": {"const": True}}, "required": ["explain"]},
        "then": {
            "properties": {"k": {"maximum": MOST_EXPLAINED}, "instances": {"maxItems": most}},
        },
    }


def _one_of(whole: Schema, forms: dict[str, tuple[list[str], list[str]]]) -> Schema:
    properties = whole["properties"]
    return {
        "description": whole.get("description", ""),
        "oneOf": [
            {
                "title": form,
                "type": "object",
                "properties": {name: properties[name] for name in [*required, *optional]},
                "required": required,
                "additionalProperties": False,
            }
            for form, (required, optional) in forms.items()
        ],
    }


def _say_who_may(operation: Schema, open_to_all: bool) -> None:
    scope = operation.get("x-scope")
    if scope is None or open_to_all:
        operation["responses"].pop("401", None)
    else:
        operation["security"] = [{"key": []}]

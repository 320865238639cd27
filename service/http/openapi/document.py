"""The OpenAPI document: FastAPI's, and the bodies of calls from their msgspec types."""

from inspect import cleandoc
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from manyclass.core.descriptions import PARTS
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.core.instance import (
    LARGEST_VALUE,
    LEAST_DIMENSION,
    LONGEST_NAME,
    MOST_DIMENSION,
)
from manyclass.core.text import LONGEST_FIELD, MOST_FIELDS
from manyclass.service.config.settings import Settings
from manyclass.service.http.openapi.examples import add_examples, general_problems
from manyclass.service.http.problems import ProblemDocument
from manyclass.service.http.routes.contract import REFERENCE
from manyclass.service.http.schemas import (
    add_learner,
    advice,
    events,
    learn,
    put_class,
    rank,
    rebuild,
    rename,
    review,
    sheets,
    titles,
)
from manyclass.service.http.schemas.parts import LARGEST_SEQ
from manyclass.service.http.schemas.rank import (
    DEFAULT_RANKED,
    MOST_DECODED,
    MOST_EXPLAINED,
    MOST_EXPLAINED_INSTANCES,
    MOST_RANKED,
    MOST_RANKED_AT_ONCE,
    MOST_VOTES,
)

Schema = dict[str, Any]


# The msgspec types of the bodies; FastAPI adds those of pydantic.
_TYPES = [
    ProblemDocument,
    *(
        each
        for module in (
            rank,
            learn,
            put_class,
            events,
            rename,
            rebuild,
            add_learner,
            advice,
            sheets,
            review,
            titles,
        )
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, msgspec.Struct)
        and not each.__name__.startswith("_")
    ),
]

# The limits of names that manyclass.core.event checks, in place of the types.
_NAME = {"minLength": 1, "maxLength": LONGEST_NAME}

# A type that reads a body has all fields. Its forms are the valid combinations, each with the type,
# the required fields and the optional fields.
_LABELS = ["classes", "not", "weight", "parents", "event_id", "source", "reviewer", "batch"]
_RANKING = [
    *("k", "threshold", "among", "min_confidence", "min_accuracy", "probabilities"),
    *("min_probability", "min_precision", "decode", "explain", "min_seq", "keep"),
]
_FORMS: dict[str, tuple[str, list[str], list[str]]] = {
    "RankFeatures": ("RankRequest", ["features"], ["vector", "id", "source", *_RANKING]),
    "RankText": ("RankRequest", ["text"], ["vector", "id", "source", *_RANKING]),
    "RankVector": ("RankRequest", ["vector"], ["id", "source", *_RANKING]),
    "RankMany": ("RankRequest", ["instances"], _RANKING),
    "FeaturesInstance": ("RankInstance", ["features"], ["vector", "id", "source"]),
    "TextInstance": ("RankInstance", ["text"], ["vector", "id", "source"]),
    "VectorInstance": ("RankInstance", ["vector"], ["id", "source"]),
    "FeaturesEvent": ("LearnEvent", ["features"], ["vector", *_LABELS]),
    "TextEvent": ("LearnEvent", ["text"], ["vector", *_LABELS]),
    "VectorEvent": ("LearnEvent", ["vector"], _LABELS),
    "LateLabel": ("LearnEvent", ["id"], [*_LABELS, "replace"]),
    "LearnMany": ("LearnRequest", ["events"], []),
}
_NULL: Schema = {"type": "null"}
# Members of forms of an instance that are null if they are there.
_ABSENT = {
    **dict.fromkeys(("RankFeatures", "FeaturesInstance", "FeaturesEvent"), ("text",)),
    **dict.fromkeys(("RankText", "TextInstance", "TextEvent"), ("features",)),
    **dict.fromkeys(("RankVector", "VectorInstance", "VectorEvent"), ("features", "text")),
}
_MANY: Schema = {"type": "number", "exclusiveMinimum": MOST_DECODED}  # a `k` too large to decode
_AMONG: Schema = {"type": "array", "items": {}}
_LIMIT: Schema = {"type": "number"}
_PROBABILITIES: dict[str, Schema] = {
    "probabilities": {"type": "boolean", "const": True},
    "min_probability": _LIMIT,
    "min_precision": _LIMIT,
}
_OF_ALL_CLASSES = {"min_confidence": _LIMIT, "min_accuracy": _LIMIT, **_PROBABILITIES}


def _both(**given: Schema) -> Schema:
    return {"properties": given, "required": [*given]}


_CONFLICT: Schema = {
    "not": {
        "anyOf": [
            *(_both(among=_AMONG, **{name: each}) for name, each in _OF_ALL_CLASSES.items()),
            *(
                _both(decode={"type": "string"}, **{name: each})
                for name, each in _PROBABILITIES.items()
            ),
            _both(min_accuracy=_LIMIT, min_precision=_LIMIT),
            _both(decode={"type": "string"}, k=_MANY),
        ]
    }
}
# `classes` or `not`. With anyOf, client generators would make a type of each part.
_LABELLED: Schema = {
    "not": {
        "allOf": [
            {"not": {"properties": {name: {"type": "array", "items": {}}}, "required": [name]}}
            for name in ("classes", "not")
        ]
    }
}
_EITHER: Schema = {
    "oneOf": [
        {"properties": {name: {"type": kinds}}, "required": [name]}
        for name, kinds in (
            ("rename", ["string", "integer"]),
            ("merge_into", ["string", "integer"]),
            ("release", ["boolean"]),
        )
    ]
}
# At least one of these, as for _LABELLED.
_PUT: Schema = {"not": {"allOf": [{"not": {"required": [name]}} for name in ("parent", *PARTS)]}}
_PUT_MANY: Schema = {
    "not": {
        "allOf": [
            {"not": {"properties": {name: {"type": kind}}, "required": [name]}}
            for name, kind in (("parents", "object"), ("classes", "array"))
        ]
    }
}
_UNIONS = {
    "RankRequest": ["RankFeatures", "RankText", "RankVector", "RankMany"],
    "RankInstance": ["FeaturesInstance", "TextInstance", "VectorInstance"],
    "LearnEvent": ["FeaturesEvent", "TextEvent", "VectorEvent", "LateLabel"],
    "LearnRequest": ["FeaturesEvent", "TextEvent", "VectorEvent", "LateLabel", "LearnMany"],
}
_BODIES = [
    *("PutClassRequest", "PutClassesRequest", "DescribedClass", "CorrectRequest"),
    *("RenameRequest", "TitlesRequest"),
    *("RebuildRequest", "AddLearnerRequest", "AdviceRequest"),
    *("GiveRequest", "LeaseRequest", "UndoRequest"),
]
_RENAMED = {"ProblemDocument": "Problem"}

_DESCRIPTION = """
Ranks a sparse instance (words, or any named numbers) against very many classes, and learns from
each labelled event. Bodies are JSON; an optional member that is null counts as absent, except that
a null removes a part of the description of a class. Errors are `application/problem+json` (RFC
9457) and point to each fault; a refused request changes nothing.
"""
_TAGS = {
    "rank": "The classes that fit an instance.",
    "learn": "Labelled events: one, many, or a stream.",
    "names": "The classes and features that the service knows, and the taxonomy of the classes.",
    "learners": "The primary learner and its shadows.",
    "events": "The history of learned events: list, correct and delete events, rebuild the state.",
    "stats": "Contents, accuracy and settings of the service.",
    "snapshots": "Stored states: take, list and restore them.",
    "health": "Liveness, readiness and metrics of the process.",
}


def document(app: FastAPI, settings: Settings, open_to_all: bool) -> Schema:
    """Return the document with the limits of these settings, and with keys unless `open_to_all`."""
    made = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=_DESCRIPTION.strip(),
        contact={"name": "The maintainers of manyclass"},
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        routes=app.routes,
    )
    components = made.setdefault("components", {})
    components["schemas"] = _titled({**_theirs(components.get("schemas", {})), **_ours(settings)})
    if not open_to_all:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    problems = general_problems(settings, open_to_all)
    made["paths"] = _without_titles(made["paths"])
    for path in made["paths"].values():
        for operation in path.values():
            _set_security(operation, open_to_all)
            add_examples(operation, problems)
    return made


def served_below(made: Schema, prefix: str) -> bytes:
    """Return the document as JSON, with a server URL for clients behind a proxy's path prefix."""
    server = {"url": prefix or "/", "description": "The service that serves this document."}
    return msgspec.json.encode(made | {"servers": [server]})


def _ours(settings: Settings) -> Schema:
    _, read = msgspec.json.schema_components(_TYPES, ref_template=REFERENCE)
    for name in (*_UNIONS, *_BODIES):
        properties = read[name]["properties"]
        for field, schema in properties.items():
            properties[field] = _without_null(schema)
        _set_limits(properties, settings)
    for name in _BODIES:
        properties = read[name]["properties"]
        for field in properties.keys() - set(read[name].get("required", [])):
            properties[field] = _or_null(properties[field])
    read["RenameRequest"] |= _EITHER
    read["PutClassRequest"] |= _PUT
    read["DescribedClass"] |= _PUT
    read["PutClassesRequest"] |= _PUT_MANY
    unions = {
        name: {
            "description": read[name]["description"],
            "oneOf": [_reference(form) for form in forms],
        }
        for name, forms in _UNIONS.items()
    }
    forms = {
        name: {
            "description": f"{read[whole]['description']} Here by {_listed(required)}.",
            "type": "object",
            "properties": {
                **{field: read[whole]["properties"][field] for field in required},
                **{field: _or_null(read[whole]["properties"][field]) for field in optional},
                **{field: {"anyOf": [_NULL]} for field in _ABSENT.get(name, ())},
            },
            "required": required,
            "additionalProperties": False,
        }
        for name, (whole, required, optional) in _FORMS.items()
    }
    for name in _UNIONS["RankRequest"]:
        forms[name] |= _less_when_explained(settings, many=name == "RankMany") | _CONFLICT
    for name in _UNIONS["LearnEvent"]:
        forms[name] |= _LABELLED
    written = {name: schema for name, schema in read.items() if name not in _UNIONS}
    parts = {**_features(settings), **_texts(), **_vectors(), **_parents(), **_lines()}
    return {**unions, **forms, **written, **parts}


def _without_null(schema: Schema) -> Schema:
    """Return a schema without null among its values, and without a default of null."""
    made = {key: value for key, value in schema.items() if value is not None}
    if forms := [each for each in made.pop("anyOf", []) if each != _NULL]:
        made |= forms[0] if len(forms) == 1 else {"anyOf": forms}
    if "enum" in made:
        made["enum"] = [each for each in made["enum"] if each is not None]
    return made


def _or_null(schema: Schema) -> Schema:
    """Return a schema of the same values and null."""
    about: Schema = {
        key: schema[key] for key in ("description", "default", "examples") if key in schema
    }
    values = {key: value for key, value in schema.items() if key not in about}
    return {**about, "anyOf": [*values.get("anyOf", [values]), _NULL]}


def _reference(name: str) -> Schema:
    return {"$ref": REFERENCE.format(name=name)}


def _listed(fields: list[str]) -> str:
    return " and ".join(f"`{field}`" for field in fields)


def _features(settings: Settings) -> Schema:
    most = settings.max_features_per_instance
    return {
        "Name": {
            "description": f"At most {LONGEST_NAME} bytes of UTF-8; an integer stands for its"
            " decimal string.",
            "anyOf": [{"type": "string", **_NAME}, {"type": "integer"}],
        },
        "Features": {
            "description": "Names with values, or a list of names that count 1 each.",
            "anyOf": [_reference("FeatureValues"), _reference("FeatureNames")],
        },
        "FeatureValues": {
            "description": "Name → number. Learners with signed weights use values below 0; other"
            " learners ignore them.",
            "type": "object",
            "propertyNames": _NAME,
            "additionalProperties": {
                "type": "number",
                "minimum": -LARGEST_VALUE,
                "maximum": LARGEST_VALUE,
            },
            "maxProperties": most,
            "examples": [{"goal": 2, "ice": 1.5}],
        },
        "FeatureNames": {
            "description": "Names that count 1 each; repeated names add up.",
            "type": "array",
            "items": _reference("Name"),
            "maxItems": most,
            "examples": [["goal", "ice", "goal"]],
        },
    }


def _texts() -> Schema:
    fields = {
        "description": "The name of each field, such as `title` and `body`, and its text.",
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": LONGEST_FIELD},
        "additionalProperties": {"type": "string"},
        "minProperties": 1,
        "maxProperties": MOST_FIELDS,
        "examples": [{"title": "Ice hockey", "body": "The goalie saved it."}],
    }
    given = {
        "description": f"{fields['description']} A field that is null is absent.",
        "additionalProperties": {"anyOf": [{"type": "string"}, _NULL]},
        "examples": [{"title": None, "body": "The goalie saved it."}],
    }
    return {"TextFields": fields, "GivenTextFields": fields | given}


def _base64(least: int, most: int) -> Schema:
    """Return the schema of a string of base64 of so many bytes, without its pattern."""
    lengths = {"minLength": (least + 2) // 3 * 4, "maxLength": (most + 2) // 3 * 4}
    return {"type": "string", "contentEncoding": "base64", **lengths}


def _vectors() -> Schema:
    sign = "[A-Za-z0-9+/]"
    float32 = {  # 3 numbers are 16 signs
        **_base64(4 * LEAST_DIMENSION, 4 * MOST_DIMENSION),
        "description": "Little-endian float32 numbers.",
        "pattern": f"^({sign}{{16}})*({sign}{{6}}==|{sign}{{11}}=)?$",
    }
    int8 = {
        **_base64(LEAST_DIMENSION, MOST_DIMENSION),
        "description": "Numbers from -128 to 127.",
        "pattern": f"^(({sign}{{4}})*{sign}{{3}}({sign}|=)|({sign}{{4}})+{sign}{{2}}==)$",
    }
    return {
        "Vector": {
            "description": "Numbers that describe the instance, such as an embedding of its text:"
            f" {LEAST_DIMENSION} to {MOST_DIMENSION}, always as many in a store. Only the direction"
            " counts, not the length; all zeros have none. A string is base64 of little-endian"
            " float32 numbers.",
            "anyOf": [
                _reference("VectorNumbers"),
                float32,
                _reference("VectorInt8"),
            ],
        },
        "VectorNumbers": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": LEAST_DIMENSION,
            "maxItems": MOST_DIMENSION,
            "examples": [[0.12, -0.5]],
        },
        "VectorInt8": {
            "type": "object",
            "properties": {"int8": int8},
            "required": ["int8"],
            "additionalProperties": False,
            "examples": [{"int8": "HoA="}],
        },
    }


def _parents() -> Schema:
    placed = {"type": "object", "propertyNames": _NAME, "maxProperties": MOST_PLACEMENTS}
    to_top = {"anyOf": [_reference("Name"), {"type": "null"}]}
    return {
        "Parents": {
            "description": "Classes to place in the taxonomy, each with its parent. The answer is"
            " 409 if a class has another parent.",
            **placed,
            "additionalProperties": _reference("Name"),
            "examples": [{"hockey": "sports"}],
        },
        "Placements": {
            "description": "The parent of each class, null for the top of the taxonomy.",
            **placed,
            "minProperties": 1,
            "additionalProperties": to_top,
            "examples": [{"hockey": "sports", "sports": None}],
        },
    }


def _lines() -> Schema:
    """Return the bodies of streams; each line is one of `items`."""
    stream = ["Progress", "StreamFault", "StreamWarning", "Summary", "StreamFailure"]
    return {
        "LearnLines": {
            "type": "string",
            "description": "One LearnEvent per line.",
            "contentMediaType": "application/x-ndjson",
            "contentSchema": {"type": "array", "items": _reference("LearnEvent")},
        },
        "LearnStreamLines": {
            "type": "string",
            "description": "One Progress, StreamFault, StreamWarning, Summary or StreamFailure per"
            " line. The last line is a Summary, or a StreamFailure if the stream ended early.",
            "contentMediaType": "application/x-ndjson",
            "contentSchema": {
                "type": "array",
                "items": {"oneOf": [_reference(name) for name in stream]},
            },
        },
    }


def _theirs(components: Schema) -> Schema:
    """Return FastAPI's components without its own error types, which this service does not send."""
    return {
        name: schema
        for name, schema in components.items()
        if name not in ("HTTPValidationError", "ValidationError")
    }


def _titled(components: Schema) -> Schema:
    """Return components whose only titles are their names; generators name types by titles."""
    titled = {}
    for name, schema in _without_titles(components).items():
        title = _RENAMED.get(name, name)
        titled[title] = {"title": title, **schema}
        if "description" in schema:
            titled[title]["description"] = cleandoc(schema["description"])
    return titled


def _without_titles(part: Any) -> Any:
    """Return a part of the document without titles, and with references by the new names."""
    if isinstance(part, list):
        return [_without_titles(each) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(reference := part.get("$ref"), str):
        name = reference.rpartition("/")[2]
        return {**part, **_reference(_RENAMED.get(name, name))}
    return {
        key: _without_titles(value)
        for key, value in part.items()
        if not (key == "title" and isinstance(value, str))  # else a property of this name
    }


def _set_limits(properties: Schema, settings: Settings) -> None:
    for name in properties.keys() & {"instances", "events"}:
        properties[name] |= {"minItems": 1, "maxItems": settings.max_batch}
    if "k" in properties:
        properties["k"] = {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_RANKED,
            "default": DEFAULT_RANKED,
            "description": f"At most {MOST_EXPLAINED} with `explain`, {MOST_DECODED} with `decode`."
            " The number of `instances` times `k`, or times the number of names in `among`, is at"
            f" most {MOST_RANKED_AT_ONCE}.",
        }
    if "min_seq" in properties:
        properties["min_seq"] = {
            "type": "integer",
            "minimum": 0,
            "maximum": LARGEST_SEQ,
            "default": 0,
            "description": "Rank with a state that includes this event. The process waits at most"
            f" {settings.rank_wait_seconds:g} s for the event; then the answer is 503.",
        }
    if "explain" in properties:
        properties["explain"] |= {
            "description": "Explain each class by at most"
            f" {MOST_VOTES} features that voted for it. Then `k` is at most {MOST_EXPLAINED}, and"
            f" there are at most {MOST_EXPLAINED_INSTANCES} `instances`."
        }
    if "anyOf" in properties.get("text", {}):
        properties["text"]["anyOf"] = [{"type": "string"}, _reference("GivenTextFields")]
    for name in properties.keys() & {"classes", "not", "among"}:
        if "$ref" not in properties[name]["items"]:
            properties[name] |= {"items": _reference("Name")}
    if "class" in properties:
        properties["class"] = _reference("Name")
    for name in properties.keys() & {"rename", "merge_into"}:
        properties[name] = {"description": properties[name]["description"], **_reference("Name")}
    if "parent" in properties:
        properties["parent"] = {"anyOf": [_reference("Name"), {"type": "null"}]}
    if "parents" in properties:
        properties["parents"] = _reference("Placements" if "move" in properties else "Parents")
    if "features" in properties:
        properties["features"] = _reference("Features")
    if "vector" in properties:
        properties["vector"] = _reference("Vector")
        if "title" in properties:  # of a class
            properties["vector"] = {"anyOf": [_reference("Vector"), {"type": "null"}]}


def _less_when_explained(settings: Settings, many: bool) -> Schema:
    most = min(settings.max_batch, MOST_EXPLAINED_INSTANCES)
    fewer: Schema = {"k": {"maximum": MOST_EXPLAINED}}
    if many:
        fewer["instances"] = {"maxItems": most}
    return {
        "if": {"properties": {"explain": {"const": True}}, "required": ["explain"]},
        "then": {"properties": fewer},
    }


def _set_security(operation: Schema, open_to_all: bool) -> None:
    scope = operation.get("x-scope")
    if scope is None or open_to_all:
        operation["responses"].pop("401", None)
    else:
        operation["security"] = [{"key": []}]

"""Decoding of JSON bodies into the types of schemas/, with errors that say what to send."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import UNSET

from manyclass.core.errors import did_you_mean
from manyclass.core.instance import VECTOR_FORMS
from manyclass.service.http.problems import Place, Problem, invalid, parted
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import Name, Names
from manyclass.service.http.schemas.rank import RankInstance, RankRequest

Body = TypeVar("Body")

NULL: Final = msgspec.Raw(b"null")
LONGEST_SHOWN = 100  # characters of an unknown key in an error

# The type of each key, and an example of it.
_TAKES: Final = {
    "features": 'an object of numbers or a list of names: {"goal": 2} or ["goal"]',
    "text": (
        "a string, or an object of 1 to 16 strings:"
        ' "the goalie saved it" or {"title": "ice hockey"}'
    ),
    "vector": VECTOR_FORMS,
    "classes": 'a list of names, 1 to 1000: ["hockey"]',
    "not": 'a list of names, 1 to 1000: ["hockey"]',
    "weight": "a number from 0.001 to 1000, such as 2.5",
    "parents": 'an object, at most 1000 names and the parent of each: {"hockey": "sports"}',
    "parent": 'a name, or null for the top of the taxonomy: "sports"',
    "move": "true or false",
    "id": 'a string of 1 to 200 characters: "q-1"',
    "event_id": 'a string of 1 to 200 characters: "e-1"',
    "source": 'a string of 1 to 1000 bytes: "ann"',
    "reviewer": 'a string of 1 to 1000 bytes: "ann"',
    "batch": 'a string of 1 to 1000 bytes: "letters.xlsx"',
    "replace": "true or false",
    "learner": 'a shadow: "svm(replay=4)"',
    "rename": 'the new name of the class: "ice hockey"',
    "release": "true",
    "merge_into": 'the name of another class: "hockey"',
    "among": 'a list of names, 1 to 1000, or null: ["hockey"]',
    "k": "a whole number from 1 to 1000, such as 5",
    "threshold": "a number or null, such as 0.5",
    "min_confidence": "a number from 0 to 1, or null, such as 0.9",
    "min_accuracy": "a number from 0 to 1, or null, such as 0.95",
    "probabilities": "true or false",
    "min_probability": "a number from 0 to 1, or null, such as 0.5",
    "min_precision": "a number from 0 to 1, or null, such as 0.9",
    "decode": '"taxo" or null',
    "explain": "true or false",
    "keep": "true or false",
    "min_seq": "a whole number, 0 or more, such as 42",
    "instances": 'a list of objects: [{"text": "the goalie saved it"}]',
    "events": 'a list of objects: [{"text": "the goalie saved it", "classes": ["hockey"]}]',
}

_IN_A_FIELD = ".text[...]`"  # at the end of an error
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`")
_GOT = re.compile(r", got `(?P<got>[^`]*)`$")
_OUT_OF_RANGE = {"Number out of range": "a number that is not a finite float, such as 1e400"}


def decode(
    decoder: msgspec.json.Decoder[Body],
    body: bytes | memoryview | msgspec.Raw,
    within: Place = (),
) -> Body:
    """Return the body, or its part at `within`, as the type of the decoder.

    Raises Problem for another type, and msgspec's error for invalid JSON.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _mismatch(error, decoder.type, body, within) from error
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: {error.reason}.") from error
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.") from error


def _mismatch(
    error: msgspec.ValidationError,
    form: Any,
    body: bytes | memoryview | msgspec.Raw,
    within: Place,
) -> Problem:
    """Return the problem of a body of another type than `form`.

    `within` is the position of the decoded part in the whole body.
    """
    detail, inside = parted(str(error))
    place = within + inside
    takes = _TAKES | getattr(form, "takes", {})
    if unknown := _UNKNOWN.fullmatch(detail):
        key = unknown["key"]
        known = _keys(form, inside)
        shown = key if len(key) <= LONGEST_SHOWN else key[:LONGEST_SHOWN] + "…"
        hint = did_you_mean(key, known) or f"known are {', '.join(f'`{each}`' for each in known)}."
        if shown == key:  # for a longer key, point to the object instead
            place = (*place, key)
        return invalid(f"There is no key `{shown}` here; {hint}", *place)
    if missing := _MISSING.fullmatch(detail):
        key = missing["key"]
        return invalid(f"The key `{key}` is missing: {takes[key]}", *place, key)
    keys = [step for step in place if isinstance(step, str)]
    got = _GOT.search(detail)
    given = got["got"] if got else _OUT_OF_RANGE.get(detail)
    ending = f" (got {given})" if given else ""
    if not keys:
        known = _keys(form, ())
        example = '{"text": "the goalie saved it"}'
        if "features" in known:
            return invalid(f"The body must be an object, such as {example}{ending}", *place)
        first = f"`{known[0]}`: {takes[known[0]]}"
        return invalid(f"The body must be an object with {first}{ending}", *place)
    if str(error).endswith(_IN_A_FIELD):
        field = _wrong_field(body, inside)
        if field is None:
            return invalid(f"A field of `text` must be a string{ending}", *place)
        return invalid(f"The field `{field}` of `text` must be a string{ending}", *place, field)
    if keys[-1] not in takes:
        return invalid(detail, *place)
    return invalid(f"`{keys[-1]}` must be {takes[keys[-1]]}{ending}", *place)


def _wrong_field(body: bytes | memoryview | msgspec.Raw, place: Place) -> str | None:
    """Return the first field, of the text at a position in the body, that is not a string.

    Return None if it is not found: the body may have a key twice, or be damaged after the fault.
    """
    part = body
    try:
        for step in place:
            if isinstance(step, int):
                part = _elements.decode(part)[step]
            else:
                part = _members.decode(part)[step]
        fields = _members.decode(part)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError):
        return None
    for name, value in fields.items():
        if bytes(memoryview(value)[:1]) not in (b'"', b"n"):
            return name if len(name) <= LONGEST_SHOWN else None
    return None


def _keys(form: Any, place: Place) -> list[str]:
    """Return the keys of the object at this position; empty if a key only looks like a position."""
    for step in place:
        if isinstance(step, str):
            form = _struct_in(get_type_hints(form).get(step))
        if form is None:
            return []
    return [field.encode_name for field in msgspec.structs.fields(form)]


def _struct_in(annotation: Any) -> Any:
    """Return the struct in a list or a union, or None."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    found = (_struct_in(part) for part in get_args(annotation))
    return next((each for each in found if each is not None), None)


def is_given(value: object) -> bool:
    """Return whether a member of a body has a value; null counts as absent."""
    return value is not None and value is not UNSET and value != NULL


def check_many(
    request: RankRequest | LearnRequest,
    each: type[RankInstance] | type[LearnEvent],
    place: str,
    forms: Sequence[object],
    most: int,
    wanted: str,
) -> None:
    """Raise Problem unless there are 1 to `most` forms in the member `place`, and no keys of a
    single form beside it.
    """
    for field in msgspec.structs.fields(each):
        if is_given(getattr(request, field.name)):
            key = field.encode_name
            raise invalid(f"`{key}` must be in each of `{place}`.", key)
    if not forms:
        raise invalid(f"There is no {wanted}.", place)
    if len(forms) > most:
        raise too_many(place, most)


def too_many(place: str, most: int) -> Problem:
    """Return the refusal of a list of more than `most` instances or events."""
    return invalid(f"A request has at most {most} {place}.", place, most)


def names_of(given: Names, place: str) -> list[str | int]:
    """Return an array of names; 5.0 is the integer 5. Raises Problem for any other float."""
    if float not in map(type, given):
        return cast(list[str | int], given)  # no other type remains
    return [
        whole(name, place, position) if isinstance(name, float) else name
        for position, name in enumerate(given)
    ]


def parents_of(given: Mapping[str, Name | None]) -> dict[str, str | int | None]:
    """Return the parent of each class; 5.0 is the integer 5. Raises Problem for other floats."""
    return {name: name_of(parent, "parents", name) for name, parent in given.items()}


def name_of(given: Name | None, *place: str | int) -> str | int | None:
    """Return a name; 5.0 is the integer 5. Raises Problem for any other float."""
    return whole(given, *place) if isinstance(given, float) else given


def whole(number: float, *place: str | int) -> int:
    """Return the number as an integer. Raises Problem if it has a fraction."""
    if not number.is_integer():
        raise invalid("Expected an integer.", *place)
    return int(number)

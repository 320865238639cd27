"""Decodes JSON bodies into the types of schemas/, and names what does not fit."""

from collections.abc import Sequence
from typing import TypeVar, cast

import msgspec
from msgspec import UNSET

from manyclass.service.http.mismatch import mismatch
from manyclass.service.http.problems import Place, Problem, invalid
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import Names
from manyclass.service.http.schemas.rank import RankInstance, RankRequest

Body = TypeVar("Body")


def decode(
    decoder: msgspec.json.Decoder[Body],
    body: bytes | memoryview | msgspec.Raw,
    within: Place = (),
) -> Body:
    """Return the body, or the part of it at `within`, as its type.

    Raises Problem for another type, and msgspec's error for invalid JSON.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise mismatch(error, decoder.type, within) from error
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: {error.reason}.") from error
    except RecursionError as error:
        raise Problem(400, "The body is nested too deeply.") from error


def check_many(
    request: RankRequest | LearnRequest,
    each: type[RankInstance] | type[LearnEvent],
    place: str,
    forms: Sequence[object],
    most: int,
    wanted: str,
) -> None:
    """Raise Problem unless there are 1 to `most` forms at `place`, and no keys of one beside it."""
    for name in each.__struct_fields__:
        if getattr(request, name) is not UNSET:
            raise invalid(f"`{name}` belongs into each of `{place}`.", name)
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
        return cast(list[str | int], given)  # no other type is left
    return [
        whole(name, place, position) if isinstance(name, float) else name
        for position, name in enumerate(given)
    ]


def whole(number: float, *place: str | int) -> int:
    """Return the number as an integer. Raises Problem if it has a fraction."""
    if not number.is_integer():
        raise invalid("Expected an integer.", *place)
    return int(number)

"""The wire form of bodies, parameters and names; a value without a wire form is refused."""

import struct
from array import array
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any, Final
from uuid import UUID

import msgspec

from manyclass.client.errors import NoWireForm

Parameters = Mapping[str, str | int | float]

# The encoder would write these as some text or object, perhaps not the one that was meant.
_WAYS: Final[Sequence[tuple[type | tuple[type, ...], str]]] = (
    ((bytes, bytearray, memoryview), "decode it to a text"),
    (datetime, "pass its .timestamp() or .isoformat()"),
    ((date, time), "pass its .isoformat()"),
    (timedelta, "pass its .total_seconds()"),
    (Decimal, "pass a float or a text"),
    (UUID, "pass str() of it"),
    (Enum, "pass its .value or its .name"),
)


def encoded(body: object) -> bytes:
    """Return a body as JSON. Raises NoWireForm with the position of a value without a wire form.

    Mappings, sequences, and numbers and arrays of NumPy are written like those of Python. Sets are
    written in the order of their texts, so that equal sets are equal on the wire. An array that is
    a `vector` is written as base64, of int8 if it has such numbers, else of float32.
    """
    return msgspec.json.encode(_plain(body))


def checked_parameters(parameters: Parameters) -> Parameters:
    """Return the parameters of a URL. Raises NoWireForm unless each is a text or a number."""
    return {name: _scalar(value, name) for name, value in parameters.items()}


def checked_name(name: object, kind: str) -> str:
    """Return the name of a class, a feature, a learner or an event as a text. Raises NoWireForm."""
    return str(_scalar(name, f"the name under /{kind}"))


def _scalar(value: object, place: str) -> str | int | float:
    plain = _within(value, place)
    if isinstance(plain, str | int | float) and not isinstance(plain, bool):
        return plain
    raise NoWireForm(place, value, "pass a text or a number")


def _within(value: object, place: str) -> object:
    try:
        return _plain(value)
    except NoWireForm as error:
        raise NoWireForm(place, error.value, error.way) from error


def _plain(value: object) -> object:
    """Return a value with only the types that JSON has."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None or kind is msgspec.Raw:
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise NoWireForm("", value, "JSON has only finite numbers")
        return float(value)
    if isinstance(value, Mapping):
        return _members(value)
    if isinstance(value, str | int):  # of their subclasses, those of Enum too
        return str.__str__(value) if isinstance(value, str) else int(value)
    if isinstance(value, Set):
        return _elements(value)
    for kinds, way in _WAYS:
        if isinstance(value, kinds):
            raise NoWireForm("", value, way)
    if isinstance(value, Sequence):
        return _elements(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # a number or an array of NumPy
        return _plain(value.tolist())
    raise NoWireForm("", value, "pass a text, a number, a list or a dict")


def _members(given: Mapping[object, object]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in given.items():
        name = key if type(key) is str else _name(key)
        if name in members:
            raise NoWireForm(_pointer(name), key, "another key has the same text")
        try:
            is_vector = name == "vector" and hasattr(value, "tolist")
            members[name] = _vector(value) if is_vector else _plain(value)
        except NoWireForm as error:
            raise error.below(_pointer(name)) from error.__cause__
    return members


def _vector(value: Any) -> object:
    """Return an array of numbers as base64; the number of a feature of this name as it is."""
    numbers = value.tolist()
    if not isinstance(numbers, list):
        return _plain(numbers)
    try:
        if str(getattr(value, "dtype", "")).removeprefix("torch.") == "int8":
            return {"int8": b64encode(array("b", numbers).tobytes()).decode()}
        if not all(map(isfinite, numbers)):
            raise ValueError
        return b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    except (OverflowError, TypeError, ValueError, struct.error) as error:
        way = "pass an array of finite numbers in one dimension, each up to 3.4e38"
        raise NoWireForm("", value, way) from error


def _name(key: object) -> str:
    """Return the key of an object: a text, or a whole number, which may be the name of a class."""
    name = _within(key, _pointer(str(key)))
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise NoWireForm(_pointer(str(key)), key, "a key must be a text or a whole number")
    return str(name)


def _elements(given: Collection[object]) -> list[object]:
    elements: list[object] = []
    for at, value in enumerate(_iterated(given)):
        try:
            elements.append(_plain(value))
        except NoWireForm as error:
            raise error.below(_pointer(str(at))) from error.__cause__
    return elements


def _iterated(given: Collection[object]) -> Iterable[object]:
    """Return the elements; those of a set in the same order in every process."""
    return sorted(given, key=str) if isinstance(given, Set) else given


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")

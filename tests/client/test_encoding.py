import json
from collections import Counter, OrderedDict, UserDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from math import inf, nan
from types import MappingProxyType
from uuid import uuid4

import msgspec
import numpy as np
import pytest

from manyclass.client.client import Client
from manyclass.client.encoding import encoded
from manyclass.client.errors import NoWireForm
from tests.client.test_client import FakeService


class Plain(Enum):
    REFUND = "refund"


class Text(StrEnum):
    REFUND = "refund"


class Number(IntEnum):
    ONE = 1


@dataclass
class Data:
    text: str = "a"


class Struct(msgspec.Struct):
    text: str = "a"


WITHOUT_FORM = [
    b"refund",
    bytearray(b"refund"),
    memoryview(b"refund"),
    datetime(2026, 1, 1, tzinfo=UTC),
    date(2026, 1, 1),
    time(1),
    timedelta(1),
    Decimal("1.5"),
    uuid4(),
    Plain.REFUND,
    Data(),
    Struct(),
    Ellipsis,
    (each for each in "ab"),
    object(),
    1j,
    nan,
    inf,
    np.bytes_(b"refund"),
    np.datetime64("2026-01-01"),
    np.float32(nan),
    np.array([b"refund"]),
    np.array([1.0, inf]),
    msgspec.UNSET,
]
EVERY_BODY = {
    "rank": lambda client, value: client.rank({"text": value}),
    "rank among": lambda client, value: client.rank({"text": "a"}, among=[value]),
    "rank_many": lambda client, value: client.rank_many([{"features": {"a": value}}]),
    "learn": lambda client, value: client.learn({"text": "a", "classes": [value]}),
    "learn source": lambda client, value: client.learn({"id": "a"}, source=value),
    "learn_many": lambda client, value: client.learn_many([{"text": "a", "event_id": value}]),
    "correct": lambda client, value: client.correct("key", [value]),
    "place": lambda client, value: client.place("a", value),
    "place_many": lambda client, value: client.place_many({"a": value}),
    "describe": lambda client, value: client.describe("a", {"title": value}),
    "describe_many": lambda client, value: client.describe_many([{"class": value, "title": "a"}]),
    "titles": lambda client, value: client.titles([value]),
    "rename": lambda client, value: client.rename_class("a", value),
    "merge": lambda client, value: client.merge_class("a", value),
    "path": lambda client, value: client.class_(value),
    "path of an event": lambda client, value: client.delete_event(value),
    "parameter": lambda client, value: client.delete_events(source=value),
    "parameter of a list": lambda client, value: next(client.events(source=value)),
    "prefix": lambda client, value: next(client.classes(prefix=value)),
}


@pytest.mark.parametrize("call", EVERY_BODY.values(), ids=EVERY_BODY)
def test_a_value_without_a_form_is_refused_in_every_call(call):
    service = FakeService()
    client = service.client()
    for value in WITHOUT_FORM:
        with pytest.raises(TypeError):
            call(client, value)
    assert not service.requests


def test_the_place_and_the_way_on_are_named():
    client = Client()
    with pytest.raises(NoWireForm) as caught:
        client.learn({"text": b"late parcel", "classes": [b"refund"]})
    assert str(caught.value) == (
        "#/text is of the type bytes, which a request cannot carry: decode it to a text"
    )
    with pytest.raises(TypeError, match="#/events/1/classes/0 is of the type Plain"):
        client.learn_many([{"text": "a"}, {"text": "b", "classes": [Plain.REFUND]}])
    with pytest.raises(ValueError, match="#/features/a~1b is nan"):
        client.rank({"features": {"a/b": nan}})
    with pytest.raises(TypeError, match="#/parents/b'a' is of the type bytes"):
        client.place_many({b"a": "b"})
    with pytest.raises(TypeError, match="source is of the type bytes"):
        client.delete_events(source=b"anna")


@pytest.mark.parametrize("key", [b"a", 1.5, None, True, Plain.REFUND, date(2026, 1, 1), ("a",)])
def test_a_key_is_a_text_or_a_whole_number(key):
    with pytest.raises(TypeError):
        encoded({"features": {key: 1.0}})


def test_two_keys_of_one_text_are_refused():
    with pytest.raises(TypeError, match="another key has the same text"):
        encoded({"features": {"5": 1.0, 5: 2.0}})


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (np.int64(5), 5),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.bool_(True), True),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, 2]), [1, 2]),
        (np.array(5), 5),
        (np.array(["a", 5], dtype=object), ["a", 5]),
        (Text.REFUND, "refund"),
        (Number.ONE, 1),
        (deque(["a"]), ["a"]),
        (range(2), [0, 1]),
        (("a", 1), ["a", 1]),
        ({"b", "a", 5}, [5, "a", "b"]),
        (frozenset({"a"}), ["a"]),
        ({"a": 1}.keys(), ["a"]),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (UserDict({"a": 1}), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        ({5: 1.0, np.int64(6): 2}, {"5": 1.0, "6": 2}),
        (msgspec.Raw(b'{"a":1}'), {"a": 1}),
        ("é\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "é😀"),
        (None, None),
        (2**70, 2**70),
    ],
)
def test_a_value_with_a_form_is_read(value, read):
    assert json.loads(encoded({"a": [value]})) == {"a": [read]}


def test_names_may_be_numbers():
    service = FakeService({"seq": 1}, {"seq": 2})
    client = service.client()
    client.place(np.int64(5), np.int64(6))
    assert service.requests[0].url.path == "/classes/5"
    assert service.body() == {"parent": 6, "move": False}

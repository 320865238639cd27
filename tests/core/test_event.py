import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import EventError, InstanceError
from manyclass.core.event import Event
from manyclass.core.instance import LARGEST_VALUE, LONGEST_NAME, SMALLEST_VALUE, Instance
from manyclass.core.text import Reading, TextAnalysis

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
values = st.floats(-1, LARGEST_VALUE, allow_nan=False)
instances = st.dictionaries(names, values, max_size=8).map(Instance)
events = st.one_of(
    st.builds(
        Event.learn,
        instances,
        st.lists(names, min_size=1, max_size=4),
        st.none() | names,
        st.integers(0, 2**64 - 1),
    ),
    st.builds(
        Event.learn,
        instances,
        st.lists(names, min_size=1, max_size=4),
        weight=st.sampled_from([1.0, 2.0]),
        source=st.none() | names,
        text=st.none() | names | st.dictionaries(names, st.just("") | names, min_size=1),
        reading=st.builds(
            Reading,
            st.integers(0, 15).map(TextAnalysis.of_code),
            st.sampled_from([1, 1000, 2**32 - 1]),
        ),
        time=st.integers(0, 2**64 - 1),
        instance_id=st.none() | names,
        reviewer=st.none() | names,
        batch=st.none() | names,
    ),
    names.map(Event.forget_class),
    names.map(Event.forget_feature),
    names.map(Event.promote),
    st.dictionaries(names, st.booleans() | st.integers() | names, max_size=3).map(Event.configure),
    st.integers(0, 2**64 - 1).map(Event.restore),
)


@given(st.dictionaries(names, values))
def test_an_instance_keeps_names_and_votes_in_order(features):
    kept = [(name, value) for name, value in features.items() if abs(value) >= SMALLEST_VALUE]
    instance = Instance(features)
    assert instance.items() == kept
    assert len(instance) == len(kept)
    assert Instance.from_bytes(bytes(instance)) == instance


def test_names_in_an_array_are_worth_1_and_add_up():
    assert Instance(["a", "b", "a", 7]).items() == [("a", 2.0), ("b", 1.0), ("7", 1.0)]


def test_integers_are_their_decimal_strings():
    assert Instance({7: 1.5, "7": 1.0}).items() == [("7", 2.5)]
    assert Event.learn(Instance({}), [3, "3", "x"]).classes == ["3", "x"]


@pytest.mark.parametrize(
    ("features", "where"),
    [
        ({"": 1}, ("features", "")),
        ({"a": float("nan")}, ("features", "a")),
        ({"a": float("inf")}, ("features", "a")),
        ({"a": float("-inf")}, ("features", "a")),
        ({"a": 10**400}, ("features", "a")),
        ({"a": LARGEST_VALUE * 1.01}, ("features", "a")),
        ({"a": "1"}, ("features", "a")),
        ({"a": None}, ("features", "a")),
        ({"a": True}, ("features", "a")),
        ({"\ud800": 1}, ("features", "\ud800")),
        ({"a" * (LONGEST_NAME + 1): 1}, ("features", "a" * (LONGEST_NAME + 1))),
        ({1.5: 1}, ("features", 1.5)),
        (["a", ""], ("features", "")),
        (["a", None], ("features", 1)),
        (["a", True], ("features", 1)),
        *((given, ("features",)) for given in ("text", None, 5, object())),
    ],
)
def test_an_invalid_instance_is_refused_with_its_place(features, where):
    with pytest.raises(InstanceError) as refused:
        Instance(features)
    assert refused.value.where == where


def test_values_that_add_up_too_high_are_refused():
    with pytest.raises(InstanceError):
        Instance({1: LARGEST_VALUE, "1": LARGEST_VALUE})


def test_the_longest_name_is_taken():
    name = "é" * (LONGEST_NAME // 2)
    assert Instance({name: 1}).items() == [(name, 1.0)]


@pytest.mark.parametrize("classes", [[], [""], ["a", "\udfff"], ["a" * (LONGEST_NAME + 1)], "a"])
def test_an_event_needs_proper_classes(classes):
    with pytest.raises(InstanceError) as refused:
        Event.learn(Instance({"a": 1}), classes)
    assert refused.value.where[0] == "classes"


def assert_equal_fields(read, event):
    for field in ("kind", "event_id", "fingerprint", "classes", "name", "options", "restored"):
        assert getattr(read, field) == getattr(event, field)
    if event.kind == "learn":
        assert read.instance == event.instance


@given(events)
def test_an_event_reads_back(event):
    again = Event.from_bytes(bytes(event))
    assert again == event
    assert_equal_fields(again, event)


@given(events, st.data())
def test_bytes_cut_short_are_no_event(event, data):
    whole = bytes(event)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        read = Event.from_bytes(cut)
    except EventError:
        return
    assert bytes(read) == cut  # a name cut short is a shorter name; nothing else may pass


@given(st.binary(max_size=60))
def test_any_bytes_are_an_event_or_refused(data):
    try:
        event = Event.from_bytes(data)
    except EventError:
        return
    assert bytes(event) == data


@given(st.binary(max_size=60))
def test_any_bytes_are_an_instance_or_refused(data):
    try:
        instance = Instance.from_bytes(data)
    except EventError:
        return
    assert Instance(dict(instance.items())).items() == instance.items()


def test_repeated_names_in_bytes_are_refused():
    one = bytes(Instance({"a": 1}))
    with pytest.raises(EventError):
        Instance.from_bytes(b"\x02\x00\x00\x00" + one[4:] * 2)


def test_an_event_is_made_by_its_methods_only():
    with pytest.raises(TypeError, match=r"Event\.learn"):
        Event()


def test_only_learning_has_an_instance():
    with pytest.raises(AttributeError, match="forget_class"):
        _ = Event.forget_class("a").instance


# --- instances from JSON: the fast way beside the ordinary one -----------------------------------

any_names = st.text(max_size=12) | st.sampled_from(["é" * 2048, "x" * 4097, "\x1f", '"', "\\"])
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.dictionaries(any_names, numbers) | st.lists(any_names),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_an_instance_from_json_is_the_ordinary_one(features, ascii_only, indent):
    text = json.dumps(features, ensure_ascii=ascii_only, indent=indent)
    data = text.encode("utf-8", "surrogatepass")
    instance = Instance.from_json(data)
    if instance is not None:
        assert instance == Instance(json.loads(data))


@pytest.mark.parametrize(
    ("data", "items"),
    [
        (b"{}", []),
        (b" [ ] ", []),
        (b'{"a":1,"b":-2,"c":0.5,"d":1e2}', [("a", 1.0), ("b", -2.0), ("c", 0.5), ("d", 100.0)]),
        (b'{"a":123456789012345,"b":1234567890123456}', [("a", 123456789012345.0)]),
        ('["é","é","日本"]'.encode(), [("é", 2.0), ("日本", 1.0)]),
        (b'\t{ "of the _" :\r\n 2.50 } ', [("of the _", 2.5)]),
    ],
)
def test_the_plain_forms_of_json_are_read(data, items):
    instance = Instance.from_json(memoryview(data))
    assert instance.items()[: len(items)] == items
    assert instance == Instance(json.loads(data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b'"text"',
        b"{",
        b"[",
        b'{"a"}',
        b'{"a":}',
        b'{"a":1',
        b'{"a":1,}',
        b'{"a":1}x',
        b'{"a":1]',
        b'["a"}',
        b'["a" "b"]',
        b'{"a":"1"}',
        b'{"a":true}',
        b'{"a":nan}',
        b'{"a":01}',
        b'{"a":1.}',
        b'{"a":.5}',
        b'{"a":1e}',
        b'{"a":-}',
        b'{"a":+1}',
        b'{"a":1e31}',
        b'{"a":-1e31}',
        b'{"a":1e999}',
        b'{"":1}',
        b'{"a":1,"a":1}',
        b'{"\\u0061":1}',
        b'{"a\n":1}',
        b'["a",1]',
        b'["\xff"]',
        b'["\xc3"]',
        b'["\xc0\x80"]',
        b'["\xe0\x80\x80"]',
        b'["\xed\xa0\x80"]',
        b'["\xf0\x80\x80\x80"]',
        b'["\xf4\x90\x80\x80"]',
        b'["' + b"x" * (LONGEST_NAME + 1) + b'"]',
    ],
)
def test_other_json_is_left_to_the_ordinary_parser(data):
    assert Instance.from_json(data) is None


@given(st.binary(max_size=40))
def test_bytes_that_are_no_json_do_no_harm(data):
    instance = Instance.from_json(b'{"a' + data)
    assert instance is None or instance.items()


def test_json_with_more_entries_than_wanted_is_left_alone():
    assert Instance.from_json(b'["a","a","b"]', 3) is not None
    assert Instance.from_json(b'["a","a","b"]', 2) is None


@pytest.mark.parametrize("size", range(1, 41))
def test_names_of_each_size_are_read_to_the_last_byte(size):
    """Also a name behind which the text ends soon, so that no piece of it may be longer."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = [alphabet[begin : begin + size] for begin in range(12)]
    for features in (names, {name: at + 1.0 for at, name in enumerate(names)}):
        data = bytearray(json.dumps(features, separators=(",", ":")).encode())
        assert Instance.from_json(data) == Instance(features)
    assert Instance.from_json(bytearray(b'["%s"]' % names[0].encode())).items() == [(names[0], 1.0)]


def test_values_of_a_name_given_twice_add_up_with_their_signs():
    assert Instance({1: -5, "1": 3}).items() == [("1", -2.0)]


@pytest.mark.parametrize(
    "event",
    [
        Event.learn(Instance({"a": 2.5}), ["x", "y"], "id", 7),
        Event.learn(Instance(["a"]), ["x"]),
        Event.forget_class("x"),
        Event.forget_feature("x"),
        Event.configure({"primary": {"learner": "ff", "rating": 3.5}, "shadows": []}),
        Event.restore(2**40),
    ],
)
def test_a_joined_event_says_so_and_is_otherwise_the_same(event):
    joined = event.join()
    assert not event.joined
    assert joined.joined
    assert joined != event
    assert joined.join() is joined
    read = Event.from_bytes(bytes(joined))
    assert read == joined
    assert read.joined
    assert_equal_fields(read, event)


# --- weights and rejected classes -----------------------------------------------------------------


@given(
    st.lists(st.sampled_from("abc"), unique=True),
    st.lists(st.sampled_from(["d", "e", "Ö" * 99]), unique=True),
    st.floats(0.001, 1000),
    st.none() | st.just("id"),
)
def test_a_weight_and_rejected_classes_read_back(classes, rejected, weight, event_id):
    if not classes and not rejected:
        return
    instance = Instance({"f": 2.0})
    event = Event.learn(instance, classes, event_id, 7, rejected, weight).join()
    read = Event.from_bytes(bytes(event))
    assert read == event
    assert (read.classes, read.rejected, read.weight) == (classes, rejected, weight)
    assert (read.kind, read.event_id, read.joined) == ("learn", event_id, True)
    plain = read.without_id()
    assert (plain.classes, plain.rejected, plain.weight) == (classes, rejected, weight)
    assert (plain.event_id, plain.fingerprint, plain.joined) == (None, 0, False)
    kind = bytes(event)[0] & 0x7F
    assert kind == (7 if rejected or weight != 1 else 0)


@pytest.mark.parametrize("weight", [0, -1, 0.0009, 1000.5, math.inf, math.nan])
def test_a_weight_out_of_range_is_refused(weight):
    with pytest.raises(InstanceError, match=r"from 0\.001 to 1000"):
        Event.learn(Instance({"f": 1}), ["a"], weight=weight)


def test_a_class_is_either_true_or_wrong():
    with pytest.raises(InstanceError, match="either true or wrong") as error:
        Event.learn(Instance({"f": 1}), ["a", "5"], rejected=["b", 5])
    assert error.value.where == ("not", 1)
    with pytest.raises(InstanceError, match="at least one"):
        Event.learn(Instance({"f": 1}), [])


def test_a_cut_weighted_event_is_refused():
    data = bytes(Event.learn(Instance({"f": 1}), ["a"], rejected=["b"], weight=2))
    for end in range(len(data)):
        with pytest.raises(EventError):
            Event.from_bytes(data[:end])


@pytest.mark.parametrize("weight", [0, -1, 1e9, float("nan"), float("inf")])
def test_an_amendment_has_a_weight_in_the_range_of_events(weight):
    amend = bytes(Event.amend(1, Instance(["a"]), ["x"], ["y"], 2))
    assert Event.from_bytes(amend).weight == 2
    with pytest.raises(InstanceError, match="weight"):
        Event.amend(1, Instance(["a"]), ["x"], ["y"], weight)
    crafted = amend.replace(struct.pack("<d", 2), struct.pack("<d", weight))
    with pytest.raises(EventError):
        Event.from_bytes(crafted)

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.outline import Outline, count_members

ANY = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
MOST = 1000


def outline_of(body, most_elements=MOST, most_values=MOST):
    return Outline(body, b"events", most_elements, most_values)


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "events"), ANY, max_size=3),
    st.none() | st.lists(ANY, max_size=4),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_the_elements_are_those_of_the_list(others, elements, indent, ascii_only):
    whole = others if elements is None else {**others, "events": elements}
    outline = outline_of(json.dumps(whole, indent=indent, ensure_ascii=ascii_only).encode())
    assert outline.fault is None
    found = outline.elements and [*map(json.loads, map(bytes, outline.elements))]
    assert found == elements
    assert json.loads(outline.rest) == (others if elements is None else {**others, "events": []})


@pytest.mark.parametrize(
    ("body", "fault", "position", "bytes_read"),
    [
        (b'{"events":[1,2,3' + b",4" * 10_000, "elements", 3, 17),
        (b'{"events":[{"classes":[1,2,3' + b",4" * 10_000, "values", 0, 30),
        (b'{"events":[1,{"x":[1,2,3' + b",4" * 10_000, "values", 1, 26),
        (b'{"events":[1,[1,2,3' + b",4" * 10_000, "values", 1, 21),
        (b'{"classes":[1,2,3' + b",4" * 10_000, "values", None, 19),
        (b'{"classes":[1],"classes":[1],"classes":[1],"classes":[]}', "values", None, None),
        (b'{"\\u0065vents":[1,2,3' + b",4" * 10_000, "values", None, 23),
        (b'{"events":[1],"events":[2]}', "repeated", None, 23),
        (b'{"events":[1}', "malformed", 1, 12),
        (b'{"events":[1,]}', "malformed", 1, 13),
        (b'{"a"', "malformed", None, 4),
        (b'{"a":"', "malformed", None, 6),
        (b'{"a":"\\', "malformed", None, 7),
        (b'{"a":,}', "malformed", None, 5),
        (b'{"a":' + b"[" * 10_000, "malformed", None, 10_005),
    ],
)
def test_the_scan_ends_at_the_first_fault(body, fault, position, bytes_read):
    outline = outline_of(body, most_elements=3, most_values=3)
    assert (outline.fault, outline.position, outline.elements) == (fault, position, None)
    if bytes_read is not None:
        assert outline.bytes_read == bytes_read


def test_features_are_not_counted():
    features = json.dumps([1] * 100)
    body = f'{{"features":{features},"events":[{{"features":{features},"classes":[1,2]}}]}}'
    assert outline_of(body.encode(), most_values=4).fault is None


@given(st.binary(max_size=40) | st.text('{}[]",:\\ events1', max_size=40).map(str.encode))
def test_any_bytes_do_no_harm(body):
    outline = outline_of(body)
    assert outline.bytes_read <= len(body)
    assert count_members(body, MOST) <= len(body)


@given(ANY, st.sampled_from([None, 1]))
def test_members_are_counted(value, indent):
    members = len(value) if isinstance(value, list | dict) else 0
    text = json.dumps(value, indent=indent).encode()
    assert count_members(text, MOST) == members
    assert count_members(text, 1) == min(members, 2)

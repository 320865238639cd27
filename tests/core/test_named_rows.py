"""Rows of named values against a dict that numbers the names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import InstanceError
from manyclass.core.instance import Instance
from manyclass.core.named_rows import NamedRows
from tests.hypothesis_examples import examples

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
VALUES = st.floats(0.125, 1000, width=32)
ROWS = st.one_of(
    st.dictionaries(NAMES, VALUES, max_size=30),
    st.lists(NAMES, max_size=30),
    st.dictionaries(NAMES, VALUES, max_size=30).map(Instance),
)


@examples(200)
@given(st.lists(ROWS, max_size=20))
def test_rows_are_the_given_ones_and_names_stand_in_the_order_of_their_coming(rows):
    made, numbers = NamedRows(), {}
    indptr, indices, values = [0], [], []
    for row in rows:
        made.append(row)
        pairs = row.items() if hasattr(row, "items") else [(name, 1.0) for name in row]
        for name, value in pairs:
            indices.append(numbers.setdefault(name, len(numbers)))
            values.append(value)
        indptr.append(len(indices))
    assert len(made) == len(rows)
    assert made.names() == list(numbers)
    assert [each.tolist() for each in made.arrays()] == [indptr, indices, values]
    assert [each.dtype for each in made.arrays()] == [np.int64, np.int32, np.float32]


def test_many_names_keep_their_numbers():
    made = NamedRows()
    for begin in range(0, 100_000, 100):
        made.append(Instance([f"name {at}" for at in range(begin, begin + 100)]))
    made.append(Instance(["name 99999", "name 0"]))
    assert made.names() == [f"name {at}" for at in range(100_000)]
    assert made.arrays()[1][-2:].tolist() == [99_999, 0]


@pytest.mark.parametrize("name", ["", "x" * 5000, "\ud800"])
def test_a_name_that_no_feature_can_have_is_refused(name):
    with pytest.raises(InstanceError):
        NamedRows().append({name: 1.0})

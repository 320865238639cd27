"""The vector of an instance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import EventError, InstanceError
from manyclass.core.event import Event
from manyclass.core.instance import MOST_DIMENSION, Instance
from manyclass.core.text import DEFAULT_TEXT, Reading, TextAnalysis

NUMBERS = st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), min_size=2, max_size=40).filter(
    lambda numbers: any(numbers)
)


@given(NUMBERS, st.dictionaries(st.text(min_size=1, max_size=5), st.floats(-9, 9)))
def test_a_vector_is_kept_in_units_of_its_length(
    numbers: list[float], features: dict[str, float]
) -> None:
    instance = Instance(features, numbers)
    scaled = np.array(numbers) / np.abs(numbers).max()
    wanted = np.rint(scaled / np.sqrt((scaled**2).sum()) * 4096)
    assert instance.vector is not None
    assert np.abs(instance.vector - wanted).max() <= 1  # a sum in another order rounds differently
    assert instance.items() == Instance(features).items()
    assert len(instance) == len(Instance(features))
    assert Instance.from_bytes(bytes(instance)) == instance
    assert instance.with_vector(None) == Instance(features)
    assert Instance(features).with_vector_of(instance) == instance
    assert instance.is_signed == Instance(features).is_signed


def test_the_scale_does_not_matter() -> None:
    assert Instance({}, [3.0, -4.0]) == Instance({}, [3e-200, -4e-200])
    assert Instance({}, [3, -4]).vector.tolist() == [2458, -3277]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "vector",
    [[], [1.0], [0.0, 0.0], [1.0, float("inf")], [[1.0, 2.0]], "ab", b"ab", ["a", "b"], 5.0, None],
)
def test_what_is_no_vector_is_refused(vector: object) -> None:
    if vector is None:
        assert not Instance(["a"], vector).has_vector
        return
    with pytest.raises(InstanceError) as caught:
        Instance(["a"], vector)  # type: ignore[arg-type]
    assert caught.value.where == ("vector",)


def test_the_largest_dimension() -> None:
    assert Instance({}, np.ones(MOST_DIMENSION)).dimension == MOST_DIMENSION
    with pytest.raises(InstanceError, match="3073"):
        Instance({}, np.ones(MOST_DIMENSION + 1))


def test_damaged_bytes_are_refused() -> None:
    data = bytes(Instance({"a": 2.0}, [1.0, 2.0]))
    for end in range(len(data)):
        with pytest.raises(EventError):
            Instance.from_bytes(data[:end])
    shorter = data[:-6] + b"\0\7\0\7" + data[-2:]
    for damaged in (data + b"\0", data[:-2] + b"\3\0", data[:-6] + b"\0\x7f" + data[-4:], shorter):
        with pytest.raises(EventError):
            Instance.from_bytes(damaged)


def test_events_carry_vectors_and_a_text_read_again_keeps_its_own() -> None:
    words = TextAnalysis()
    instance = words.instance_of("the goalie saved", 100).instance.with_vector([1.0, 2.0, 2.0])
    event = Event.learn(instance, ["hockey"], text="the goalie saved", reading=Reading(words, 100))
    assert Event.from_bytes(bytes(event)).instance == instance
    again = event.read_by(DEFAULT_TEXT)
    assert len(again.instance) > len(instance)
    assert again.instance.vector is not None
    assert again.instance.vector.tolist() == [1365, 2731, 2731]

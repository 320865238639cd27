import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.service.store.batch import batch_checksum, join_batch, split_batch

EVENTS = st.lists(st.binary(max_size=20), min_size=1)


@given(EVENTS)
def test_a_batch_is_split_into_the_events_it_was_joined_from(events):
    assert split_batch(join_batch(events), len(events)) == events


@given(EVENTS, st.data())
def test_a_batch_that_was_cut_or_grew_is_not_split(events, data):
    body = join_batch(events)
    with pytest.raises(ValueError, match="bytes"):
        split_batch(body[: data.draw(st.integers(0, len(body) - 1))], len(events))
    with pytest.raises(ValueError, match="bytes"):
        split_batch(body + b"x", len(events))


@pytest.mark.parametrize("count", [-1, 0, 2, 2**40])
def test_a_batch_is_not_split_into_another_number_of_events(count):
    with pytest.raises(ValueError, match="bytes"):
        split_batch(join_batch([b"one"]), count)


@given(st.binary(min_size=1, max_size=6000), st.data())
def test_the_checksum_sees_every_bit_and_every_cut(body, data):
    checksum = batch_checksum(1, 2, body)
    place = data.draw(st.integers(0, len(body) - 1))
    flipped = bytearray(body)
    flipped[place] ^= 1 << data.draw(st.integers(0, 7))
    assert batch_checksum(1, 2, bytes(flipped)) != checksum
    assert batch_checksum(1, 2, body[:place]) != checksum


def test_the_checksum_covers_the_numbers():
    assert (
        len({batch_checksum(1, 2, b"x"), batch_checksum(1, 3, b"x"), batch_checksum(0, 2, b"x")})
        == 3
    )

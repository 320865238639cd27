import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyclass.service.store.chunks import recut


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_the_bytes_stay_and_the_chunks_are_of_one_size(chunks, size):
    cut = list(recut(chunks, size))
    assert b"".join(cut) == b"".join(chunks)
    assert all(len(chunk) == size for chunk in cut[:-1])
    assert all(0 < len(chunk) <= size for chunk in cut)


def test_arrays_are_taken_as_their_bytes():
    arrays = [np.arange(5, dtype="<u4"), np.empty((0, 3)), np.ones((2, 2))]
    cut = list(recut([array.data for array in arrays], 7))
    assert b"".join(cut) == b"".join(array.tobytes() for array in arrays)

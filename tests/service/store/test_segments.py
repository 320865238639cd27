"""Every store keeps segments of the history in their order, up to the one that is deleted."""

import pytest

from manyclass.service.store.errors import SegmentMissing
from manyclass.service.store.segments import SegmentInfo
from tests.service.store.conftest import backend_of


@pytest.fixture(params=["memory", "sqlite"])
def kept(request, tmp_path):
    """Yield a store with the segments 1 to 3, 4 to 6 and 7 to 9."""
    backend = backend_of(request.param, request, tmp_path)
    store = backend.open()
    for last_seq in (3, 6, 9):
        body = b"%d" % last_seq
        store.save_segment(SegmentInfo(last_seq - 2, last_seq, len(body), 0), body)
    yield store
    backend.close()


@pytest.mark.parametrize(
    ("up_to", "left"), [(2, [3, 6, 9]), (3, [6, 9]), (5, [6, 9]), (6, [9]), (9, [])]
)
def test_segments_are_deleted_up_to_and_with_the_one_that_ends_there(kept, up_to, left):
    kept.delete_segments(up_to)
    assert [info.last_seq for info in kept.segments()] == left


def test_a_deleted_segment_cannot_be_read_and_the_others_can(kept):
    kept.delete_segments(6)
    assert kept.read_segment(9) == b"9"
    with pytest.raises(SegmentMissing):
        kept.read_segment(6)


def test_a_segment_saved_again_replaces_the_former(kept):
    kept.save_segment(SegmentInfo(4, 6, 3, 1), b"new")
    assert [info.amendments for info in kept.segments()] == [0, 1, 0]
    assert kept.read_segment(6) == b"new"

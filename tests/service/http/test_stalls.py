from manyclass.service.http.stalls import DRAINED_BYTES, LEAST_BYTES, Stalls


def test_a_request_that_comes_slowly_counts_quiet_seconds():
    stalls = Stalls()
    stalls.begin_request(10)
    assert [stalls.quiet(waiting=True) for _ in range(3)] == [1, 2, 3]
    stalls.received += LEAST_BYTES
    assert stalls.quiet(waiting=True) == 0
    assert [stalls.quiet(waiting=True) for _ in range(2)] == [1, 2]
    assert stalls.quiet(waiting=False) == 0
    assert stalls.quiet(waiting=True) == 1
    stalls.begin_request(0)
    assert stalls.quiet(waiting=True) == 1


def test_an_answer_that_is_read_slowly_counts_unread_seconds():
    stalls = Stalls()
    size = 3 * DRAINED_BYTES
    assert stalls.unread(0) == 0
    assert [stalls.unread(size) for _ in range(2)] == [1, 2]
    assert stalls.unread(size - DRAINED_BYTES + 1) == 3  # too little was read
    assert stalls.unread(size - DRAINED_BYTES) == 1
    assert stalls.unread(size) == 2
    assert stalls.unread(0) == 0

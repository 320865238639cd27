"""A token bucket grows evenly, up to its capacity."""

from manyclass.service.token_bucket import TokenBucket


def test_the_tokens_of_a_burst_grow_again(monkeypatch):
    now = 100.0
    monkeypatch.setattr("manyclass.service.token_bucket.monotonic", lambda: now)
    bucket = TokenBucket(2)
    bucket.take()
    bucket.take()
    assert bucket.is_empty
    now += 0.4
    assert bucket.is_empty
    now += 0.2
    assert not bucket.is_empty
    now += 1_000
    for _ in range(2):
        assert not bucket.is_empty
        bucket.take()
    assert bucket.is_empty

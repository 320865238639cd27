from manyclass.client.errors import RequestRefused, ServiceUnreachable
from manyclass.client.retry import FIRST_WAIT, LONGEST_WAIT, Backoff


def test_waits_double_up_to_the_longest_and_to_the_patience():
    backoff = Backoff(20.0)
    error = ServiceUnreachable("http://service", "away")
    waits = []
    while (wait := backoff.wait_after(error)) is not None:
        waits.append(wait)
    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert max(waits) == LONGEST_WAIT
    assert 20.0 - LONGEST_WAIT < sum(waits) <= 20.0


def test_the_time_the_service_names_is_waited_for_if_the_patience_lasts():
    error = RequestRefused(503, "Service Unavailable", "", retry_after=8.0)
    backoff = Backoff(10.0)
    assert backoff.wait_after(error) == 8.0
    assert backoff.wait_after(error) is None

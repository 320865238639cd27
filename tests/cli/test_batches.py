import pytest

from manyclass.cli.batches import MOST_BYTES, batches, deliver
from manyclass.client.errors import Fault, RequestRefused
from manyclass.training.lines import Line


def items(count, size=1):
    return [(Line("f", number, b"x" * size), number) for number in range(1, count + 1)]


class Service:
    """Takes batches without a bad body, whole, up to a size."""

    def __init__(self, bad=(), most=1000, refusal=None):
        self.bad, self.most = set(bad), most
        self.taken = []
        self.refusal = refusal or RequestRefused(
            422, "No", "bad", (Fault("this one", "#/events/0"),)
        )

    def send(self, bodies):
        if len(bodies) > self.most:
            raise RequestRefused(413, "Too large", "too many")
        if self.bad & set(bodies):
            raise self.refusal
        self.taken.extend(bodies)
        return len(bodies)


def test_batches_hold_all_in_order_up_to_their_count():
    assert [len(batch) for batch in batches(items(7), 3)] == [3, 3, 1]
    assert [item for batch in batches(items(7), 3) for item in batch] == items(7)
    assert list(batches([], 3)) == []


def test_batches_end_at_their_bytes_too():
    sizes = [len(batch) for batch in batches(items(5, MOST_BYTES // 2), 100)]
    assert sizes == [2, 2, 1]


@pytest.mark.parametrize("bad", [(), (1,), (8,), (3, 4), range(1, 9), (1, 5, 8)])
def test_all_but_the_refused_are_delivered_in_order(bad):
    service, refused = Service(bad), []
    answers = list(deliver(items(8), service.send, lambda line, why: refused.append((line, why))))
    assert service.taken == [number for number in range(1, 9) if number not in bad]
    assert [line.number for line, _ in refused] == sorted(bad)
    assert {why for _, why in refused} <= {"this one"}
    assert [number for part, _ in answers for _, number in part] == service.taken
    assert [count for _, count in answers] == [len(part) for part, _ in answers]


def test_a_service_that_takes_less_at_a_time_gets_less():
    service = Service(most=3)
    list(deliver(items(8), service.send, pytest.fail))
    assert service.taken == list(range(1, 9))


@pytest.mark.parametrize(
    "refusal",
    [
        RequestRefused(401, "Unauthorized", "a key is needed"),
        RequestRefused(503, "Unavailable", "full"),
        RequestRefused(404, "Not Found", ""),
        RequestRefused(422, "No", "k is too large", (Fault("too large", "#/k"),)),
    ],
)
def test_a_refusal_that_concerns_no_line_ends_the_run(refusal):
    service = Service(bad=[2], refusal=refusal)
    with pytest.raises(RequestRefused) as caught:
        list(deliver(items(8), service.send, pytest.fail))
    assert caught.value is refusal
    assert service.taken == []

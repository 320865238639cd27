import gc
import tracemalloc

import pytest

from core.event import Instance
from service.errors import Problem
from service.late import LateLabels
from tests.service.faulty import Clock

A, B = Instance(["a"]), Instance({"b": 2.0})


def window(seconds=60.0, most_bytes=10**6):
    clock = Clock()
    return LateLabels(seconds, most_bytes, clock), clock


def status_of(late, instance_id):
    with pytest.raises(Problem) as caught:
        late.instance(instance_id)
    assert caught.value.faults[0].place == ("id",)
    return caught.value.status


def test_gives_back_what_was_ranked_and_when():
    late, clock = window()
    late.keep(A, "one")
    clock.now += 5
    late.keep(B, "two")
    assert late.instance("one") == (A, 5)
    assert late.instance("two") == (B, 0)
    assert len(late) == 2


def test_makes_ids_that_differ_also_from_those_of_another_process():
    late, _ = window()
    ids = {late.keep(A) for _ in range(100)} | {window()[0].keep(A) for _ in range(100)}
    assert len(ids) == 200


def test_too_late_differs_from_never_seen():
    late, clock = window(seconds=60)
    made = late.keep(A)
    late.keep(A, "given")
    clock.now += 60
    assert (status_of(late, made), status_of(late, "given")) == (410, 410)
    assert late.too_late == 2
    unseen = made.replace("-1", "-7")
    assert [status_of(late, name) for name in ("never", unseen, made + "x")] == [404] * 3
    assert late.too_late == 2
    assert (len(late), late.bytes) == (0, 0)


def test_an_id_made_is_not_one_given():
    late, _ = window()
    late.keep(A, "given")
    made = late.keep(B)
    assert late.instance(made) == (B, 0)
    number = made.rpartition("-")[2]
    for other in ("1", "0", "-1", number + "x", "", "9" * 30, " 2", "٣"):
        assert status_of(late, made.removesuffix(number) + other) == 404
    late.keep(A, made)  # somebody gives it to another instance
    assert late.instance(made) == (A, 0)


def test_an_id_that_comes_again_stands_for_the_newest_instance():
    late, clock = window(seconds=60)
    late.keep(A, "one")
    clock.now += 50
    late.keep(B, "one")
    clock.now += 50  # the first is too old by now
    assert late.instance("one") == (B, 50)
    clock.now += 10
    assert status_of(late, "one") == 410
    assert late.bytes == 0


def test_the_oldest_give_way_when_there_is_no_room():
    late, _ = window(most_bytes=5000)
    for number in range(100):
        late.keep(A, f"id-{number}")
        assert late.bytes <= 5000
    kept = len(late)
    assert 2 < kept < 20
    assert late.instance("id-99") == (A, 0)
    assert late.instance(f"id-{100 - kept}") == (A, 0)
    assert status_of(late, f"id-{99 - kept}") == 410


@pytest.mark.parametrize("off", [{"seconds": 0.0}, {"most_bytes": 0}])
def test_can_be_off(off):
    late, _ = window(**off)
    late.keep(A, "one")
    assert len(late) == 0
    assert status_of(late, "one") == 410


def test_forgotten_ids_are_bounded(monkeypatch):
    monkeypatch.setattr("service.late.MOST_FORGOTTEN", 10)
    late, clock = window()
    for number in range(20):
        late.keep(A, f"id-{number}")
    clock.now += 60
    assert status_of(late, "id-10") == 410
    assert status_of(late, "id-9") == 404
    assert status_of(late, "id-0") == 404


@pytest.mark.parametrize("given", [None, "", "Grüße "])
@pytest.mark.parametrize("many", [10_000, 11_000, 22_000])  # before and after a table grows
def test_the_bytes_counted_are_those_taken(given, many):
    late, clock = window(most_bytes=10**9)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(many):
        clock.now += 0.001
        instance = Instance([f"feature {number} {place}" for place in range(10)])
        late.keep(instance, None if given is None else f"{given}{number:06}")
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken <= late.bytes <= 1.4 * taken

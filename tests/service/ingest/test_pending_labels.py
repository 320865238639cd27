import gc
import tracemalloc

import pytest

from manyclass.core.event import Instance
from manyclass.service.ingest.pending_labels import Absence, Kept, PendingLabels
from tests.service.faulty import Clock

A, B = Instance(["a"]), Instance({"b": 2.0})
TOO_LATE, NEVER_SEEN = Absence.TOO_LATE, Absence.NEVER_SEEN


def window(seconds=60.0, most_bytes=10**6):
    clock = Clock()
    return PendingLabels(seconds, most_bytes, clock), clock


def found(late, instance_id):
    """The instance and its age, or why there is none."""
    kept = late.find(instance_id)
    return (Instance.from_bytes(kept.data), kept.age) if isinstance(kept, Kept) else kept


def test_gives_back_what_was_ranked_and_when():
    late, clock = window()
    late.keep(A, "one")
    clock.now += 5
    late.keep(B, "two")
    assert found(late, "one") == (A, 5)
    assert found(late, "two") == (B, 0)
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
    assert (found(late, made), found(late, "given")) == (TOO_LATE, TOO_LATE)
    unseen = made.replace("-1", "-7")
    assert [found(late, name) for name in ("never", unseen, made + "x")] == [NEVER_SEEN] * 3
    assert (len(late), late.bytes) == (0, 0)


def test_an_id_made_is_not_one_given():
    late, _ = window()
    late.keep(A, "given")
    made = late.keep(B)
    assert found(late, made) == (B, 0)
    number = made.rpartition("-")[2]
    for other in ("1", "0", "-1", number + "x", "", "9" * 30, " 2", "٣"):
        assert found(late, made.removesuffix(number) + other) is NEVER_SEEN
    late.keep(A, made)  # somebody gives it to another instance
    assert found(late, made) == (A, 0)


def test_an_id_that_comes_again_stands_for_the_newest_instance():
    late, clock = window(seconds=60)
    late.keep(A, "one")
    clock.now += 50
    late.keep(B, "one")
    clock.now += 50  # the first is too old by now
    assert found(late, "one") == (B, 50)
    clock.now += 10
    assert found(late, "one") is TOO_LATE
    assert late.bytes == 0


def test_the_oldest_give_way_when_there_is_no_room():
    late, _ = window(most_bytes=5000)
    for number in range(100):
        late.keep(A, f"id-{number}")
        assert late.bytes <= 5000
    kept = len(late)
    assert 2 < kept < 20
    assert found(late, "id-99") == (A, 0)
    assert found(late, f"id-{100 - kept}") == (A, 0)
    assert found(late, f"id-{99 - kept}") is TOO_LATE


@pytest.mark.parametrize("off", [{"seconds": 0.0}, {"most_bytes": 0}])
def test_can_be_off(off):
    late, _ = window(**off)
    late.keep(A, "one")
    assert len(late) == 0
    assert found(late, "one") is TOO_LATE


def test_forgotten_ids_are_bounded(monkeypatch):
    monkeypatch.setattr("manyclass.service.ingest.pending_labels.MOST_FORGOTTEN", 10)
    late, clock = window()
    for number in range(20):
        late.keep(A, f"id-{number}")
    clock.now += 60
    assert found(late, "id-10") is TOO_LATE
    assert found(late, "id-9") is NEVER_SEEN
    assert found(late, "id-0") is NEVER_SEEN


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


def test_labels_that_age_together_are_forgotten_little_by_little(monkeypatch):
    monkeypatch.setattr("manyclass.service.ingest.pending_labels.AGED_AT_ONCE", 2)
    late, clock = window(seconds=10)
    ids = [late.keep(Instance(["f"])) for _ in range(7)]
    clock.now += 10
    for left in (5, 3, 1, 0):
        assert late.find(ids[-1]) is TOO_LATE
        assert len(late) == left
    assert late.bytes == 0

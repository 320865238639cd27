import ctypes

import pytest

from manyclass.core.instance import Instance
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.stored_instance import Absence, StoredInstance
from tests.service.faulty import Clock

A, B = Instance(["a"]), Instance({"b": 2.0})
TOO_LATE, NEVER_SEEN = Absence.TOO_LATE, Absence.NEVER_SEEN


def window(seconds=60.0, most_bytes=10**6, **limits):
    clock = Clock()
    return PendingLabels(seconds, most_bytes, clock, **limits), clock


def found(pending, instance_id):
    """Return the instance and its age, or the reason for its absence."""
    kept = pending.find(instance_id)
    return (Instance.from_bytes(kept.data), kept.age) if isinstance(kept, StoredInstance) else kept


def test_gives_back_what_was_ranked_and_when():
    pending, clock = window()
    pending.keep(A, "one")
    clock.now += 5
    pending.keep(B, "two")
    assert found(pending, "one") == (A, 5)
    assert found(pending, "two") == (B, 0)
    assert len(pending) == 2


def test_makes_ids_that_differ_also_from_those_of_another_process():
    pending, _ = window()
    ids = {pending.keep(A) for _ in range(100)} | {window()[0].keep(A) for _ in range(100)}
    assert len(ids) == 200


def test_too_late_differs_from_never_seen():
    pending, clock = window(seconds=60)
    made = pending.keep(A)
    pending.keep(A, "given")
    clock.now += 60
    assert (found(pending, made), found(pending, "given")) == (TOO_LATE, TOO_LATE)
    unseen = made.replace("-1", "-7")
    assert [found(pending, name) for name in ("never", unseen, made + "x")] == [NEVER_SEEN] * 3
    assert (len(pending), pending.bytes) == (0, 0)


def test_an_id_made_is_not_one_given():
    pending, _ = window()
    pending.keep(A, "given")
    made = pending.keep(B)
    assert found(pending, made) == (B, 0)
    number = made.rpartition("-")[2]
    for other in ("1", "0", "-1", number + "x", "", "9" * 30, " 2", "٣"):
        assert found(pending, made.removesuffix(number) + other) is NEVER_SEEN
    pending.keep(A, made)  # another instance takes the id
    assert found(pending, made) == (A, 0)


def test_an_id_that_comes_again_stands_for_the_newest_instance():
    pending, clock = window(seconds=60)
    pending.keep(A, "one")
    clock.now += 50
    pending.keep(B, "one")
    clock.now += 50  # the first is too old by now
    assert found(pending, "one") == (B, 50)
    clock.now += 10
    assert found(pending, "one") is TOO_LATE
    assert pending.bytes == 0


def test_the_oldest_give_way_when_there_is_no_room():
    pending, _ = window(most_bytes=5000)
    for number in range(100):
        pending.keep(A, f"id-{number}")
        assert pending.bytes <= 5000
    kept = len(pending)
    assert 2 < kept < 30
    assert found(pending, "id-99") == (A, 0)
    assert found(pending, f"id-{100 - kept}") == (A, 0)
    assert found(pending, f"id-{99 - kept}") is TOO_LATE


@pytest.mark.parametrize("off", [{"seconds": 0.0}, {"most_bytes": 0}])
def test_can_be_off(off):
    pending, _ = window(**off)
    pending.keep(A, "one")
    assert len(pending) == 0
    assert found(pending, "one") is TOO_LATE


def test_forgotten_ids_are_bounded():
    pending, clock = window(most_forgotten=10)
    for number in range(20):
        pending.keep(A, f"id-{number}")
    clock.now += 60
    assert found(pending, "id-10") is TOO_LATE
    assert found(pending, "id-9") is NEVER_SEEN
    assert found(pending, "id-0") is NEVER_SEEN


def bytes_in_use():
    """Return the bytes that malloc has given out, by glibc's own count."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = MallInfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


class MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


@pytest.mark.parametrize("given", [None, "", "Grüße "])
@pytest.mark.parametrize("many", [10_000, 11_000, 22_000])  # before and after a table grows
def test_the_bytes_counted_are_those_taken(given, many):
    instances = [Instance([f"feature {n} {place}" for place in range(10)]) for n in range(many)]
    ids = [None if given is None else f"{given}{number:06}" for number in range(many)]
    pending, clock = window(most_bytes=10**9)
    before = bytes_in_use()
    for instance, given_id in zip(instances, ids, strict=True):
        clock.now += 0.001
        pending.keep(instance, given_id)
    taken = bytes_in_use() - before
    assert taken <= pending.bytes <= 1.4 * taken


def test_labels_that_age_together_are_forgotten_little_by_little():
    pending, clock = window(seconds=10, aged_at_once=2)
    ids = [pending.keep(Instance(["f"])) for _ in range(7)]
    clock.now += 10
    for left in (5, 3, 1, 0):
        assert pending.find(ids[-1]) is TOO_LATE
        assert len(pending) == left
    assert pending.bytes == 0

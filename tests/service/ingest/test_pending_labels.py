import ctypes
import gc

import pytest

from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT, Reading
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.stored_instance import Absence, ServedClasses, StoredInstance
from tests.service.faulty import Clock

READING = Reading(DEFAULT_TEXT, 1000)  # 5 bytes

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


def test_instances_of_all_sizes_stay_whole_while_the_oldest_go():
    pending, _ = window(most_bytes=1_000_000)
    sizes = [1, 5, 60, 700, 1500, 3000, 4096]  # together more than a block of 256 KB holds
    kept: list[tuple[str, Instance, str]] = []
    for number in range(3000):
        names = [f"{number} {part}".ljust(sizes[number % 7], "x") for part in range(number % 4 + 1)]
        source = f"source {number}"
        instance = Instance(names)
        kept.append((pending.keep(instance, source=source), instance, source))
    assert pending.bytes <= 1_000_000
    there = kept[-len(pending) :]
    assert 200 < len(there) < 1000
    assert [found(pending, made) for made, _, _ in there] == [(each, 0) for _, each, _ in there]
    assert {found(pending, made) for made, _, _ in kept[: -len(pending)]} == {TOO_LATE}
    waiting = pending.least_certain(len(there))
    assert [(each.id, each.source) for each in waiting] == [(made, text) for made, _, text in there]


def test_the_instances_of_a_source_are_erased():
    pending, clock = window(most_bytes=10**7)
    text = "my name is Kowalczyk"
    more = {"text": text, "reading": READING}
    made = [pending.keep(A, source=("anna", "ben")[number % 2], **more) for number in range(9000)]
    other = pending.keep(B, "q-1", ["x"], 0.5, **more)
    kept = pending.find(made[0])
    number, size = kept.number, pending.bytes
    assert kept.text == text
    assert pending.erase("anna") == 4500
    assert pending.erase("anna") == 0
    assert pending.erase("nobody") == pending.erase(None) == 0
    assert {found(pending, each) for each in made[::2]} == {TOO_LATE}
    assert {found(pending, each) for each in made[1::2]} == {(A, 0)}
    assert pending.label(number) is None
    waiting = pending.least_certain(10_000)
    assert {each.id for each in waiting} == {*made[1::2], other}
    assert {each.source for each in waiting} == {"ben", None}
    assert pending.find(other).text == text
    assert pending.bytes == size
    clock.now += 60
    assert found(pending, other) is TOO_LATE
    assert [found(pending, each) for each in made[:20]] == [TOO_LATE] * 20


def test_the_newest_instance_of_an_id_is_erased():
    pending, _ = window()
    made = pending.keep(A)
    pending.keep(A, "one")
    pending.keep(B, "one")
    pending.keep(B, "two")
    assert pending.erase(None, ["one", made, "never", made.replace("-1", "-7")]) == 2
    assert [found(pending, each) for each in ("one", made, "two")] == [TOO_LATE, TOO_LATE, (B, 0)]
    assert pending.erase(None, ["one", made]) == 0
    pending.keep(A, "one")  # ranked again
    assert found(pending, "one") == (A, 0)
    assert {each.id for each in pending.least_certain(9)} == {"one", "two"}


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


def waiting(pending, most=100):
    return [each.id for each in pending.least_certain(most)]


def test_the_least_certain_come_first_and_of_equal_ones_the_oldest():
    pending, _ = window()
    for name, confidence in (("a", 0.5), ("b", 0.2), ("c", None), ("d", 0.5), ("e", None)):
        pending.keep(A, name, ["x"], confidence)
    assert waiting(pending) == ["c", "e", "b", "a", "d"]
    assert [waiting(pending, most) for most in (0, 1, 4)] == [[], ["c"], ["c", "e", "b", "a"]]


def test_the_least_certain_of_very_many():
    pending, clock = window(most_bytes=10**8)
    confidences = [round(number * 0.61803 % 1, 6) for number in range(10_000)]
    for confidence in confidences:
        clock.now += 0.001
        pending.keep(A, confidence=confidence)
    shown = pending.least_certain(50)
    assert [each.served.confidence for each in shown] == sorted(confidences)[:50]
    clock.now += 55  # half of them are outdated
    shown = pending.least_certain(50)
    assert [each.served.confidence for each in shown] == sorted(confidences[5000:])[:50]


def test_an_instance_waits_with_its_ranking_as_it_was_served():
    pending, clock = window()
    long = "é" * 400
    pending.keep(B, "one", ["x", "", long, "y", "z", "sixth"], 0.123456789, True)
    made = pending.keep(A)
    clock.now += 5
    one, two = pending.least_certain(10)[::-1]
    assert (one.id, Instance.from_bytes(one.data), one.age) == ("one", B, 5)
    assert one.served == ServedClasses(("x", "", long, "y", "z"), 0.123457, True)
    assert (two.id, two.served) == (made, ServedClasses((), None, False))


def test_source_and_text_are_kept_and_count_as_memory():
    pending, _ = window(most_bytes=10_000)
    pending.keep(A, "one", ["x"], 0.1)
    alone = pending.bytes
    pending.keep(A, "two", ["x"], 0.2, source="s", text="the text ☃", reading=READING)
    assert pending.bytes == 2 * alone + len("s") + 5 + len("the text ☃".encode())
    one, two = pending.least_certain(10)
    assert (one.source, one.text, one.is_text_cut) == (None, None, False)
    assert (two.source, two.text, two.is_text_cut) == ("s", "the text ☃", False)
    assert (Instance.from_bytes(two.data), two.served.classes) == (A, ("x",))
    assert [each.id for each in pending.least_certain(10, "s")] == ["two"]
    for number in range(10):
        pending.keep(A, f"long {number}", text="☃" * 10_000, reading=READING)
    assert pending.bytes <= 10_000
    assert len(pending) == 0  # each takes more alone


def test_a_text_is_kept_whole_and_shown_by_its_beginning():
    pending, _ = window()
    texts = {"one": "☃" * 10_000, "two": "x" * 4096, "three": "x" * 4095 + "é", "four": ""}
    for name, text in texts.items():
        pending.keep(A, name, ["x"], source=f"of {name}", text=text, reading=READING)
    kept = {name: pending.find(name) for name in texts}
    assert {name: each.text or "" for name, each in kept.items()} == texts
    assert {each.source for each in kept.values()} == {f"of {name}" for name in texts}
    shown = {each.id: (each.text, each.is_text_cut) for each in pending.least_certain(10)}
    assert shown == {
        "one": ("☃" * 1365, True),
        "two": ("x" * 4096, False),
        "three": ("x" * 4095, True),
        "four": (None, False),
    }


@pytest.mark.parametrize("most", [255, 0xFF00, 0xFFFF, 2**32 - 1])
def test_a_long_text_is_shown_whatever_its_reading_was(most):
    """The byte that marks a field may also be part of the stored limit of features."""
    pending, _ = window()
    reading = Reading(DEFAULT_TEXT, most)
    pending.keep(A, "one", ["x"], text="a" * 5000, reading=reading)
    pending.keep(A, "two", ["x"], text={"t": "a" * 5000, "u": "b", "v": ""}, reading=reading)
    shown = {each.id: each.text for each in pending.least_certain(10)}
    assert shown == {"one": "a" * 4096, "two": {"t": "a" * 4095, "u": "b", "v": ""}}


def test_a_long_field_hides_no_other_one():
    pending, _ = window()
    fields = {"title": "é" * 100, "body": "☃" * 3000, "note": "b" * 3000}
    pending.keep(A, "one", ["x"], text=fields, reading=READING)
    [shown] = pending.least_certain(10)
    assert shown.text == {"title": "é" * 100, "body": "☃" * 649, "note": "b" * 1948}
    assert shown.is_text_cut
    assert pending.find("one").text == fields


def test_texts_are_dropped_where_they_are_not_kept():
    pending, _ = window(keeps_texts=False)
    pending.keep(A, "one", ["x"])
    alone = pending.bytes
    pending.keep(A, "two", ["x"], source="s", text="the text", reading=READING)
    assert pending.bytes == 2 * alone + len("s") + 5
    found = pending.find("two")
    assert (found.source, found.text, found.reading) == ("s", None, READING)
    assert {(each.text, each.is_text_cut) for each in pending.least_certain(10)} == {(None, False)}


@pytest.mark.parametrize("size", [10, 1000, 3900, 5000, 40_000])
def test_the_bytes_counted_are_those_taken_by_texts_of_any_size(size):
    pending, _ = window(most_bytes=10**9)
    before = bytes_in_use()
    for _ in range(2000):
        pending.keep(A, None, ["a class"], 0.5, text="t" * size, reading=READING)
    taken = bytes_in_use() - before
    assert taken - 2**18 <= pending.bytes <= 1.4 * taken


def test_only_the_newest_instance_of_an_id_waits_and_only_until_its_label_or_its_end():
    pending, clock = window(seconds=60)
    pending.keep(A, "one", ["x"], 0.5)
    clock.now += 30
    pending.keep(B, "one", ["y"], 0.6)
    pending.keep(A, "two", ["z"], 0.7)
    pending.keep(Instance([]), "nothing to see")
    assert waiting(pending) == ["one", "two"]
    number = pending.find("one").number
    assert pending.label(number) == ServedClasses(("y",), 0.6, False)
    assert pending.label(number) is None  # a second label
    assert waiting(pending) == ["two"]
    assert found(pending, "one") == (B, 0)  # a label may still refer to it
    number = pending.find("two").number
    clock.now += 60
    assert waiting(pending) == []
    assert found(pending, "two") is TOO_LATE
    assert pending.label(number) is None
    assert pending.label(10**6) is None


def bytes_in_use():
    """Return the bytes that malloc has given out, by glibc's own count, without garbage.

    A collection between two counts would free what earlier tests in the process have left.
    """
    gc.collect()
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
@pytest.mark.parametrize("ranked", [[], ["a class", "another class", "a third"]])
@pytest.mark.parametrize("many", [10_000, 11_000, 22_000])  # before and after a table grows
def test_the_bytes_counted_are_those_taken(given, ranked, many):
    instances = [Instance([f"feature {n} {place}" for place in range(10)]) for n in range(many)]
    ids = [None if given is None else f"{given}{number:06}" for number in range(many)]
    taken, counted = bytes_of(instances, ids, ranked)
    assert taken <= counted <= 1.4 * taken


@pytest.mark.parametrize("features", [1, 10, 100, 130, 250, 285, 300, 1000])
def test_the_bytes_counted_are_those_taken_by_instances_of_any_size(features):
    names = [f"feature {place:05}" for place in range(features)]
    many = min(5000, 500_000 // features)
    instances = [Instance([f"{n}", *names]) for n in range(many)]
    taken, counted = bytes_of(instances, [None] * many, ["a class"])
    room = 2**18  # of the newest block, native/byte_queue.hpp: it counts when it is taken
    assert taken - room <= counted <= 1.4 * taken


def bytes_of(instances, ids, ranked):
    """Return the bytes that instances take until their labels come, and the bytes counted."""
    pending, clock = window(most_bytes=10**9)
    before = bytes_in_use()
    for instance, given_id in zip(instances, ids, strict=True):
        clock.now += 0.001
        pending.keep(instance, given_id, ranked, 0.5)
    return bytes_in_use() - before, pending.bytes


def test_labels_that_age_together_are_forgotten_little_by_little():
    pending, clock = window(seconds=10, aged_at_once=2)
    ids = [pending.keep(Instance(["f"])) for _ in range(7)]
    clock.now += 10
    for left in (5, 3, 1, 0):
        assert pending.find(ids[-1]) is TOO_LATE
        assert len(pending) == left
    assert pending.bytes == 0

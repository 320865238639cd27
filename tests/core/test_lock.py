"""No thread holds the GIL while it waits for the lock of a learner."""

import threading
from collections.abc import Callable
from time import sleep

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.dumps import assert_equal_dumps

WAITING = {
    "learn": lambda learner: learner.learn({"f1": 1.0}, ["c1"]),
    "apply": lambda learner: learner.apply(Event.learn(Instance({"f1": 1.0}), ["c1"])),
    "rank": lambda learner: learner.rank({"f1": 1.0}),
    "explain": lambda learner: learner.explain({"f1": 1.0}, ["c1"]),
    "paths": lambda learner: learner.paths({"f1": 1.0}, ["c1"]),
    "probabilities": lambda learner: learner.probabilities({"f1": 1.0}, ["c1"]),
    "configure": lambda learner: learner.configure(learner.options),
    "forget_class": lambda learner: learner.forget_class("nobody"),
    "forget_feature": lambda learner: learner.forget_feature("nothing"),
    "has_class": lambda learner: learner.has_class("c1"),
    "has_feature": lambda learner: learner.has_feature("f1"),
    "feature": lambda learner: learner.feature("f1"),
    "class_": lambda learner: learner.class_("c1"),
    "class_page": lambda learner: learner.class_page("", "", 10),
    "classes_by": lambda learner: learner.classes_by("events", "", "", 10),
    "feature_page": lambda learner: learner.feature_page("", "", 10),
    "class_ids": lambda learner: learner.class_ids(Columns(["c1"])),
    "outdegrees": lambda learner: learner.outdegrees(),
    "work": lambda learner: learner.work(),
    "dump": lambda learner: learner.dump(),
    "features": lambda learner: learner.features,
    "classes": lambda learner: learner.classes,
    "edges": lambda learner: learner.edges,
    "bytes": lambda learner: learner.bytes,
    "resident_bytes": lambda learner: learner.resident_bytes,
    "learned": lambda learner: learner.learned,
    "evicted_features": lambda learner: learner.evicted_features,
    "evicted_classes": lambda learner: learner.evicted_classes,
}


LONGEST = 20_000  # ms: only a thread that holds the GIL lets the lock be held so long


@pytest.fixture(scope="module")
def learner() -> Learner:
    made = Learner(Options.of("ff"))
    for n in range(50):
        made.learn([f"f{n}"], [f"c{n}"])
    return made


@pytest.mark.parametrize("call", WAITING)
def test_other_threads_go_on_while_one_waits_for_the_lock(learner: Learner, call: str) -> None:
    assert_others_go_on(learner, lambda: WAITING[call](learner))


ROWS = np.array([0, 1], np.int64), np.array([0], np.int32), np.array([1], np.float32)
LABELS = ROWS[:2]
OF_A_COMMITTEE = {
    "rank": lambda committee: committee.rank({"f1": 1.0}),
    "rank among": lambda committee: committee.rank({"f1": 1.0}, among=["c1"]),
    "explain": lambda committee: committee.explain({"f1": 1.0}, ["c1"]),
    "learn": lambda committee: committee.learn({"f1": 1.0}, ["c1"]),
    "rank_csr": lambda committee: committee.rank_csr(Columns(["f1"]), *ROWS),
    "learn_csr": lambda committee: committee.learn_csr(
        Columns(["f1"]), *ROWS, Columns(["c1"]), *LABELS
    ),
}


@pytest.mark.parametrize("call", OF_A_COMMITTEE)
@pytest.mark.parametrize("part", ["table", "first", "last"])
def test_they_go_on_while_one_waits_for_a_part_of_a_committee(call: str, part: str) -> None:
    committee = Learner(Options.of("committee", members="ff+pa"))
    committee.learn({"f1": 1.0}, ["c1"])
    first, last = (member.learner for member in committee.members)
    held = {"table": committee, "first": first, "last": last}[part]
    assert_others_go_on(held, lambda: OF_A_COMMITTEE[call](committee))


@pytest.mark.parametrize("members", ["ff+pa+arow", "oplt+oplt(policy=random)"])
def test_a_committee_ranks_while_it_learns_and_forgets(members: str) -> None:
    vote = "probability" if "oplt" in members else "score"
    specification = f"committee(members={members},vote={vote},max_classes=20)"
    committee, alone = (Learner(Options.parse(specification)) for _ in range(2))
    columns, is_over, faults = Columns(["f1", "f2"]), threading.Event(), []

    def rank() -> None:
        try:
            while not is_over.is_set():
                for name, score in committee.rank({"f1": 1.0, "f2": 1.0}, 60):
                    assert name.startswith("c")
                    assert score == score
                committee.rank({"f3": 1.0}, 5, None, ["c1", "c2", "unknown"])
                committee.rank_csr(columns, *ROWS, 5)
        except BaseException as fault:
            faults.append(fault)
            raise

    ranking = [threading.Thread(target=rank) for _ in range(2)]
    for thread in ranking:
        thread.start()
    for learner in (committee, alone):
        for number in range(1500):
            learner.learn({f"f{number % 7}": 1.0, f"f{number % 3}": 2.0}, [f"c{number % 31}"])
            if number % 11 == 0:
                learner.forget_class(f"c{number % 13}")
    is_over.set()
    for thread in ranking:
        thread.join()
    assert not faults
    assert_equal_dumps(committee.dump(), alone.dump())


def assert_others_go_on(learner: Learner, call: Callable[[], object]) -> None:
    """Assert that threads run while one is in a call that waits for the lock of the learner."""
    began = threading.Event()

    def wait_for_the_lock() -> None:
        began.set()
        call()

    holding = threading.Thread(target=learner._hold, args=(LONGEST,))
    waiting = threading.Thread(target=wait_for_the_lock)
    holding.start()
    while not learner._is_held:
        sleep(0.001)
    waiting.start()
    began.wait()
    steps = 0
    while learner._is_held and steps < 20:
        sleep(0.001)  # the GIL is given up, and has to be had again
        steps += 1
    is_waiting = waiting.is_alive()
    learner._let_go()
    waiting.join()
    holding.join()
    assert steps == 20
    assert is_waiting

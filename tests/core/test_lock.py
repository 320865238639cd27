"""No thread holds the GIL while it waits for the lock of an index."""

import threading
from time import sleep

import pytest

from manyclass.core.columns import Columns
from manyclass.core.event import Event
from manyclass.core.index import Index
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options

WAITING = {
    "learn": lambda index: index.learn({"f1": 1.0}, ["c1"]),
    "apply": lambda index: index.apply(Event.learn(Instance({"f1": 1.0}), ["c1"])),
    "rank": lambda index: index.rank({"f1": 1.0}),
    "explain": lambda index: index.explain({"f1": 1.0}, ["c1"]),
    "paths": lambda index: index.paths({"f1": 1.0}, ["c1"]),
    "probabilities": lambda index: index.probabilities({"f1": 1.0}, ["c1"]),
    "configure": lambda index: index.configure(index.options),
    "forget_class": lambda index: index.forget_class("nobody"),
    "forget_feature": lambda index: index.forget_feature("nothing"),
    "has_class": lambda index: index.has_class("c1"),
    "has_feature": lambda index: index.has_feature("f1"),
    "feature": lambda index: index.feature("f1"),
    "class_": lambda index: index.class_("c1"),
    "class_page": lambda index: index.class_page("", "", 10),
    "feature_page": lambda index: index.feature_page("", "", 10),
    "class_ids": lambda index: index.class_ids(Columns(["c1"])),
    "outdegrees": lambda index: index.outdegrees(),
    "work": lambda index: index.work(),
    "dump": lambda index: index.dump(),
    "features": lambda index: index.features,
    "classes": lambda index: index.classes,
    "edges": lambda index: index.edges,
    "bytes": lambda index: index.bytes,
    "resident_bytes": lambda index: index.resident_bytes,
    "learned": lambda index: index.learned,
    "evicted_features": lambda index: index.evicted_features,
    "evicted_classes": lambda index: index.evicted_classes,
}


LONGEST = 20_000  # ms: only a thread that holds the GIL lets the lock be held so long


@pytest.fixture(scope="module")
def index() -> Index:
    made = Index(Options.of("ff"))
    for n in range(50):
        made.learn([f"f{n}"], [f"c{n}"])
    return made


@pytest.mark.parametrize("call", WAITING)
def test_other_threads_go_on_while_one_waits_for_the_lock(index: Index, call: str) -> None:
    began = threading.Event()

    def wait_for_the_lock() -> None:
        began.set()
        WAITING[call](index)

    holding = threading.Thread(target=index._hold, args=(LONGEST,))
    waiting = threading.Thread(target=wait_for_the_lock)
    holding.start()
    while not index._is_held:
        sleep(0.001)
    waiting.start()
    began.wait()
    steps = 0
    while index._is_held and steps < 20:
        sleep(0.001)  # the GIL is given up, and has to be had again
        steps += 1
    is_waiting = waiting.is_alive()
    index._let_go()
    waiting.join()
    holding.join()
    assert steps == 20
    assert is_waiting

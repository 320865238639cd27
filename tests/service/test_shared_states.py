"""Requests to several engines on one log: all hold the state of the log, each event once."""

import asyncio
from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.service import engine as engine_module
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store.errors import CommitOutcomeUnknown
from tests.hypothesis_examples import examples
from tests.service.faulty import PATIENCE, Clock, learn
from tests.service.shared import SharedLog

NAMES = st.sampled_from(["a", "b", "a b", "b c"])
CLASSES = st.sampled_from(["x", "y", "x y"])
IDS = st.none() | st.sampled_from([f"id {n}" for n in range(8)])
REQUESTS = st.lists(st.builds(learn, NAMES, CLASSES, IDS), min_size=1, max_size=4)
ENGINES = st.integers(0, 2)
LEARNERS = ("ff", "pa(replay=1)", "ff(rating=0)")
WANTED = Settings(
    learner=LEARNERS[0],
    shadows=LEARNERS[1:],
    snapshot_keep=1000,
    snapshot_events=0,
    snapshot_seconds=0,
)


class SharedStates(RuleBasedStateMachine):
    """One log and three engines; the rules choose the engine, the request and the fault."""

    @initialize()
    def begin(self):
        engine_module.TICK_SECONDS, self.tick = 3600.0, engine_module.TICK_SECONDS
        self.loop = asyncio.new_event_loop()
        self.log = SharedLog()
        self.names = 0
        self.learned = set()  # the ids of these
        self.acknowledged = []  # (seq, event) of every acknowledged event that was never undone
        self.engines = [self.start() for _ in range(3)]

    def start(self):
        self.names += 1
        engine = Engine(WANTED, Cluster(self.log.store(f"p{self.names}")), Clock())
        self.run(engine.start())
        assert engine.status == "ready", engine.failure
        return engine

    def run(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self):
        if hasattr(self, "engines"):
            for engine in self.engines:
                self.run(engine.close())
            self.loop.close()
            engine_module.TICK_SECONDS = self.tick

    @rule(
        sent=st.lists(st.tuples(ENGINES, REQUESTS), min_size=1, max_size=5), lost=st.sets(ENGINES)
    )
    def learn(self, sent, lost):
        for position in lost:
            self.engines[position].store.lost_replies = 1

        async def all_of_them():
            answers = [self.engines[position].admit(request) for position, request in sent]
            return await asyncio.gather(*answers, return_exceptions=True)

        answers = self.run(all_of_them())
        for position in lost:
            self.engines[position].store.lost_replies = 0
        for (_, request), results in zip(sent, answers, strict=True):
            if isinstance(results, EventConflict | CommitOutcomeUnknown):
                continue
            for event, result in zip(request, results, strict=True):
                if not result.duplicate:
                    self.acknowledged.append((result.seq, event))
                    assert event.event_id is None or event.event_id not in self.learned
                    self.learned.add(event.event_id)
                else:
                    first = Event.from_bytes(dict(self.log.inner.read(0))[result.seq])
                    assert first.event_id == event.event_id

    @rule(position=ENGINES, name=st.sampled_from(["x", "y"]))
    def forget(self, position, name):
        engine = self.engines[position]
        if engine.model.learner.has_class(name):
            self.run(engine.submit([Event.forget_class(name)]))

    @rule(position=ENGINES, label=st.sampled_from(LEARNERS))
    def promote(self, position, label):
        self.run(self.engines[position].submit([Event.promote(label)]))
        assert self.engines[position].model.model_set.labels[0] == label

    @rule(position=ENGINES)
    def take_snapshot(self, position):
        assert self.run(self.engines[position].take_snapshot()).seq == self.log.inner.last_seq

    @rule(position=ENGINES, choice=st.integers(0, 10))
    def restore(self, position, choice):
        self.learned.clear()  # undone events may be learned again
        present = self.log.inner.snapshots()
        self.run(self.engines[position].restore(present[choice % len(present)].seq))

    @rule(position=ENGINES)
    def restart(self, position):
        self.run(self.engines[position].close())
        self.engines[position] = self.start()

    @invariant()
    def all_hold_what_the_log_makes(self):
        if not hasattr(self, "engines"):
            return
        last = self.log.inner.last_seq
        for engine in self.engines:
            assert self.run(engine.reached(last, PATIENCE))
        digests = {engine.model.digest() for engine in self.engines}
        store = self.log.store("reader")
        digests.add(recover(store, WANTED.model_set(), Clock(), Recovery()).digest())
        assert len(digests) == 1

    @invariant()
    def what_was_acknowledged_is_in_the_log_once(self):
        if not hasattr(self, "engines"):
            return
        logged = dict(self.log.inner.read(0))
        for seq, event in self.acknowledged:
            assert Event.from_bytes(logged[seq]) in (event, event.join())
        assert max(Counter(seq for seq, _ in self.acknowledged).values(), default=1) == 1


TestSharedStates = SharedStates.TestCase
TestSharedStates.settings = examples(40, stateful_step_count=15)

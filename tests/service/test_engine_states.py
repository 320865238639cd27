"""Whatever happens in whatever order: the state is what the acknowledged events make, each once.

The twin is a bare Model that is handed the events in the order of the log, and that goes back to
dumps of its own where the engine goes back to snapshots.
"""

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from core.event import Event, Instance
from core.model import Model
from core.options import Options
from service.engine import Engine
from service.settings import Settings
from service.store.protocol import SnapshotDamaged, StoreUnavailable
from service.writer import EventConflict
from tests.service.faulty import Clock, FaultyStore, learn

NAMES = st.sampled_from(["a", "b", "c", "a b", "b c", "a c"])
CLASSES = st.sampled_from(["x", "y", "z", "x y"])
IDS = st.none() | st.sampled_from([f"id {n}" for n in range(6)])
LESSONS = st.builds(learn, NAMES, CLASSES, IDS)
BATCHES = st.lists(LESSONS, min_size=1, max_size=4)


class EngineStates(RuleBasedStateMachine):
    """One store, one engine after another over it, and the twin."""

    @initialize(keep=st.integers(1, 3))
    def begin(self, keep):
        self.keep = keep
        self.rating = 10
        self.store = FaultyStore()
        self.twin = Model(Options())
        self.dumps = {0: self.twin.dump()}  # seq -> what a snapshot of it has to hold
        self.damaged = None
        self.start_engine()

    def start_engine(self, reconfigure=False):
        self.loop = asyncio.new_event_loop()
        self.clock = Clock()
        wanted = Settings(
            rating=self.rating,
            reconfigure=reconfigure,
            snapshot_keep=self.keep,
            max_queue_events=1000,
        )
        self.engine = Engine(wanted, self.store, self.clock)
        self.run(self.engine.start())
        assert self.engine.status == "ready", self.engine.failure

    def run(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self):
        if hasattr(self, "engine"):
            self.run(self.engine.close())
            self.loop.close()

    # --- what the twin makes of events ------------------------------------------------------------

    def expected(self, events):
        """The (seq, duplicate) of each event if they are taken, None if they conflict."""
        mine, answers, seq = {}, [], self.twin.seq
        for event in events:
            known = event.event_id and (mine.get(event.event_id) or self.twin.seen(event.event_id))
            if known and known[1] != event.fingerprint:
                return None
            if not known:
                seq += 1
                mine[event.event_id] = (seq, event.fingerprint)
            answers.append((known[0], True) if known else (seq, False))
        return answers

    def take(self, events, results):
        """Check the results of a submission and let the twin learn what was fresh in it."""
        assert [(result.seq, result.duplicate) for result in results] == self.expected(events)
        for event, result in zip(events, results, strict=True):
            if not result.duplicate:
                outcome = self.twin.apply(result.seq, event)
                assert (result.rank, result.updated) == (outcome.rank, outcome.updated)

    # --- rules ------------------------------------------------------------------------------------

    @rule(events=BATCHES)
    def learn(self, events):
        if self.expected(events) is None:
            with pytest.raises(EventConflict):
                self.run(self.engine.submit(events))
        else:
            self.take(events, self.run(self.engine.submit(events)))

    @rule(batches=st.lists(BATCHES, min_size=2, max_size=5))
    def learn_from_many_at_once(self, batches):
        async def all_of_them():
            answers = [self.engine.admit(batch) for batch in batches]
            return await asyncio.gather(*answers, return_exceptions=True)

        for batch, results in zip(batches, self.run(all_of_them()), strict=True):
            if isinstance(results, EventConflict):
                assert self.expected(batch) is None
            else:
                self.take(batch, results)

    @rule(batches=st.lists(BATCHES, min_size=1, max_size=3))
    def learn_while_the_store_is_away(self, batches):
        async def all_of_them():
            self.store.append_error = StoreUnavailable("away")
            answers = [self.engine.admit(batch) for batch in batches]
            return await asyncio.gather(*answers, return_exceptions=True)

        for batch, results in zip(batches, self.run(all_of_them()), strict=True):
            if isinstance(results, list):  # nothing of it was new
                self.take(batch, results)
                assert all(result.duplicate for result in results)
            else:
                assert isinstance(results, EventConflict | StoreUnavailable)
        self.store.append_error = None

    @rule(name=st.sampled_from(["x", "y", "z"]))
    def forget(self, name):
        if name in [known for known, _ in self.twin.index.class_page("", "", 10)]:
            event = Event.forget_class(name)
            self.take([event], self.run(self.engine.submit([event])))

    @rule(names=NAMES, k=st.integers(1, 3))
    def rank(self, names, k):
        instance = Instance(names.split())
        assert self.engine.rank(instance, k) == self.twin.rank(instance, k)

    @rule()
    def take_snapshot(self):
        info = self.run(self.engine.take_snapshot())
        assert info.seq == self.twin.seq
        self.snapshot_was_taken()

    def snapshot_was_taken(self):
        self.dumps[self.twin.seq] = self.twin.dump()
        if self.damaged not in [info.seq for info in self.store.snapshots()]:
            self.damaged = None

    @precondition(lambda self: self.damaged is None and len(self.store.snapshots()) >= 2)
    @precondition(lambda self: self.keep >= 2)
    @rule()
    def damage_the_newest_snapshot(self):
        """Of those kept for recovery one may break at a time, and it is the newest."""
        if self.engine.newest_snapshot.seq == self.twin.seq:
            return  # the engine would rightly say that it has this one
        self.damaged = self.store.snapshots()[0].seq
        self.store.damage_snapshot(self.damaged)

    @rule(choice=st.integers(0, 10))
    def restore(self, choice):
        present = self.run(self.engine.snapshots())
        seq = present[choice % len(present)].seq
        if seq == self.damaged:
            with pytest.raises(SnapshotDamaged):
                self.run(self.engine.restore(seq))
            return
        if self.damaged is not None:
            return  # the mark might be left with a snapshot that cannot be read
        last = self.run(self.engine.restore(seq))
        mark = self.twin.seq + 1
        self.twin = Model.load(self.dumps[seq])
        self.twin.restored(mark, seq)
        self.follow_the_settings()
        assert last == self.twin.seq
        self.snapshot_was_taken()

    def follow_the_settings(self):
        wanted = Options(rating=self.rating)
        if self.twin.options != wanted:
            self.twin.apply(self.twin.seq + 1, Event.configure(wanted.to_dict()))

    @rule(batches=st.lists(BATCHES, max_size=3), durable=st.booleans())
    def crash(self, batches, durable):
        """The process ends; of what was in flight, all that was durable is there again."""

        async def until_the_end():
            gate = self.store.after_append if durable else self.store.before_append
            with gate.shut():
                answers = [self.engine.admit(batch) for batch in batches]
                if any(answers) and self.something_is_fresh(batches):
                    await gate.reached()
                if not durable:
                    self.store.append_error = StoreUnavailable("ended")
                in_log = list(self.store.read(self.twin.seq))
            for answer in answers:
                answer.cancel()
            # The thread has to end, but the engine does not get to see what it did.
            await asyncio.to_thread(self.engine._writer._thread.shutdown)
            return in_log

        in_log = self.run(until_the_end())
        self.loop.close()
        self.store.append_error = None
        in_flight = [bytes(event) for batch in batches for event in batch]
        for seq, data in in_log:
            in_flight.remove(data)
            self.twin.apply(seq, Event.from_bytes(data))
        self.start_engine()

    def something_is_fresh(self, batches):
        answers = [self.expected(batch) for batch in batches]
        return any(not duplicate for answer in answers if answer for _, duplicate in answer)

    @rule(rating=st.none() | st.sampled_from([0, 3, 10]))
    def restart(self, rating):
        self.run(self.engine.close())
        self.loop.close()
        assert self.store.snapshots()[0].seq == self.twin.seq
        self.snapshot_was_taken()
        if rating is not None:
            self.rating = rating
        self.start_engine(reconfigure=True)
        self.follow_the_settings()

    @invariant()
    def is_what_the_acknowledged_events_make(self):
        if hasattr(self, "engine"):
            assert self.engine.model.digest() == self.twin.digest()
            assert self.store.last_seq == self.twin.seq

    @invariant()
    def the_log_reaches_back_to_every_snapshot_kept_for_recovery(self):
        if hasattr(self, "engine"):
            kept = [info.seq for info in self.store.snapshots()][: self.keep]
            list(self.store.read(kept[-1]))


TestEngineStates = EngineStates.TestCase
TestEngineStates.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

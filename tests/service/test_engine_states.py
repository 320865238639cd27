"""Operations in any order: the state is the result of the acknowledged events, each applied once.

The reference is a bare Model. It applies the events in the order of the log, and returns to its
own dumps where the engine restores snapshots.
"""

import asyncio

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from manyclass.core.errors import EventConflict, OptionError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import SettingError, Settings
from manyclass.service.engine import Engine
from manyclass.service.log.request import Result
from manyclass.service.snapshots.restore import learner_changes
from manyclass.service.store.errors import SnapshotDamaged, StoreUnavailable
from tests.hypothesis_examples import examples
from tests.service.batches import batch_of
from tests.service.faulty import Clock, FaultyStore, learn

NAMES = st.sampled_from(["a", "b", "c", "a b", "b c", "a c"])
CLASSES = st.sampled_from(["x", "y", "z", "x y"])
IDS = st.none() | st.sampled_from([f"id {n}" for n in range(6)])
LESSONS = st.builds(learn, NAMES, CLASSES, IDS)
PLAIN = st.builds(learn, NAMES, CLASSES)
BATCHES = st.lists(LESSONS, min_size=1, max_size=4)


def is_of(event, sent):
    """Return whether an event of the log is one that was sent, joined to another or not, dated or
    not.
    """
    forms = {bytes(sent), bytes(sent.join())}
    return bytes(event) in forms | {Event.stamped(each, event.time) for each in forms}


class EngineStates(RuleBasedStateMachine):
    """One store, one engine after another over it, and the reference."""

    @initialize(keep=st.integers(1, 3))
    def begin(self, keep):
        self.keep = keep
        self.rating = 10
        self.shadows = ("pa",)
        self.store = FaultyStore()
        self.reference = Model(self.wanted(), text=DEFAULT_TEXT)
        self.dumps = {0: self.reference.dump()}  # seq -> the expected content of its snapshot
        self.damaged = None
        self.start_engine()

    def start_engine(self, reconfigure=False):
        self.loop = asyncio.new_event_loop()
        self.clock = Clock()
        wanted = Settings(
            learner=self.learner,
            shadows=self.shadows,
            reconfigure=reconfigure,
            snapshot_keep=self.keep,
            max_queue_events=1000,
        )
        self.engine = Engine(wanted, Cluster(self.store), self.clock)
        self.run(self.engine.start())
        assert self.engine.status == "ready", self.engine.failure

    @property
    def learner(self):
        return f"{DEFAULT_LEARNER}(rating={self.rating})"

    def wanted(self):
        return ModelSet(Options.parse(self.learner), tuple(map(Options.parse, self.shadows)))

    def is_understood(self):
        """Return true if the store can go on with the settings, and they mean what they name."""
        settings = Settings(learner=self.learner, shadows=self.shadows)
        stored = self.reference.model_set
        try:
            asked = settings.model_set(stored)
            asked.after(stored)  # refuses another learner in place of a promoted one
        except (OptionError, SettingError):
            return False
        return asked == self.wanted()

    def run(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self):
        if hasattr(self, "engine"):
            self.run(self.engine.close())
            self.loop.close()

    # --- events applied to the reference ----------------------------------------------------------

    def logged(self, events):
        """Return the events of a request that enter the log, or None if it is rejected before.

        Retries of learned events stay out; retries of events in flight are sorted out later.
        """
        mine, new = {}, []
        for event in events:
            known = event.event_id and (
                self.reference.seen(event.event_id) or mine.get(event.event_id)
            )
            if known and known[1] != event.fingerprint:
                return None
            if not (event.event_id and self.reference.seen(event.event_id)):
                new.append(event)
                mine[event.event_id] = (0, event.fingerprint)
        return new

    def learn_logged(self, events):
        """Let the reference learn a request from the log; return the result of each event.

        Return None if the events conflict, in which case none counts.
        """
        mine, repeated = {}, {}
        for position, event in enumerate(events):
            known = event.event_id and (
                mine.get(event.event_id) or self.reference.seen(event.event_id)
            )
            if known and known[1] != event.fingerprint:
                self.reference.seq += len(events)
                return None
            if known:
                repeated[position] = known[0]
            else:
                mine[event.event_id] = (self.reference.seq + 1 + position, event.fingerprint)
        answers = []
        for position, event in enumerate(events):
            if position in repeated:
                self.reference.seq += 1
                answers.append(Result(repeated[position], True, None, False))
            else:
                outcome = self.reference.apply(self.reference.seq + 1, event)
                answers.append(Result(outcome.seq, False, outcome.rank, outcome.updated))
        return answers

    def take(self, events, results):
        """Check the answer of a single request; the reference learns it."""
        self.take_all([events], [results])

    def take_all(self, requests, answers):
        """Check the answers of concurrent requests; the reference learns them."""
        logged = [self.logged(events) for events in requests]
        seen = {
            event.event_id: self.reference.seen(event.event_id or "")
            for r in requests
            for event in r
        }
        for events, new, results in zip(requests, logged, answers, strict=True):
            expected = None if new is None else self.learn_logged(new)
            if expected is None:
                assert isinstance(results, EventConflict)
                continue
            of_new = iter(expected)
            assert results == [
                Result(seen[event.event_id][0], True, None, False)
                if seen[event.event_id]
                else next(of_new)
                for event in events
            ]

    # --- rules ------------------------------------------------------------------------------------

    @rule(batches=st.lists(BATCHES, min_size=1, max_size=5))
    def learn(self, batches):
        async def all_of_them():
            answers = [self.engine.admit(batch) for batch in batches]
            return await asyncio.gather(*answers, return_exceptions=True)

        self.take_all(batches, self.run(all_of_them()))

    @rule(events=st.lists(PLAIN, min_size=1, max_size=6))
    def learn_plain_events(self, events):
        async def together():
            return await self.engine.admit_batch(batch_of(*events))

        batch = self.run(together())
        outcomes = zip(batch.ranks(), batch.updated(), strict=True)
        for seq, (event, (rank, updated)) in enumerate(
            zip(events, outcomes, strict=True), batch.first_seq
        ):
            assert self.learn_logged([event]) == [Result(seq, False, rank or None, updated)]

    @rule(batches=st.lists(BATCHES, min_size=1, max_size=3))
    def learn_while_the_store_is_away(self, batches):
        async def all_of_them():
            self.store.append_error = StoreUnavailable("away")
            answers = [self.engine.admit(batch) for batch in batches]
            return await asyncio.gather(*answers, return_exceptions=True)

        for batch, results in zip(batches, self.run(all_of_them()), strict=True):
            if isinstance(results, list):
                assert self.logged(batch) == []
                self.take(batch, results)
            else:
                assert isinstance(results, EventConflict | StoreUnavailable)
        self.store.append_error = None

    @rule(name=st.sampled_from(["x", "y", "z"]))
    def forget(self, name):
        if name in [known for known, _ in self.reference.learner.class_page("", "", 10)]:
            event = Event.forget_class(name)
            self.take([event], self.run(self.engine.submit([event])))

    @rule(names=NAMES, k=st.integers(1, 3))
    def rank(self, names, k):
        instance = Instance(names.split())
        assert self.engine.model.rank(instance, k) == self.reference.rank(instance, k)

    @rule()
    def take_snapshot(self):
        info = self.run(self.engine.take_snapshot())
        assert info.seq == self.reference.seq
        self.snapshot_was_taken()

    def snapshot_was_taken(self):
        self.dumps[self.reference.seq] = self.reference.dump()
        if self.damaged not in [info.seq for info in self.store.snapshots()]:
            self.damaged = None

    @precondition(lambda self: self.damaged is None and len(self.store.snapshots()) >= 2)
    @precondition(lambda self: self.keep >= 2)
    @rule()
    def damage_the_newest_snapshot(self):
        """Damage the newest snapshot; at most one of the snapshots for recovery is damaged."""
        if self.engine.newest_snapshot.seq == self.reference.seq:
            return  # the engine would rightly report that this snapshot exists
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
            return  # the mark might point to an unreadable snapshot
        last = self.run(self.engine.restore(seq))
        mark, before = self.reference.seq + 1, self.reference
        self.reference = Model.load(self.dumps[seq])
        self.reference.restored(mark, seq)
        for event in learner_changes(before, self.reference):
            self.reference.apply(self.reference.seq + 1, event)
        assert not self.reference.model_set.differences(
            before.model_set.promoted(self.reference.answering.label)
        )
        assert last == self.reference.seq
        self.snapshot_was_taken()

    def follow(self, wanted):
        """Reconfigure the reference like a start with these learners."""
        answering = self.reference.options.specification
        if answering in wanted.labels:
            wanted = wanted.promoted(answering)
        if self.reference.model_set.differences(wanted):
            self.reference.apply(self.reference.seq + 1, Event.configure(wanted.to_dict()))

    @rule(choice=st.integers(0, 10))
    def promote(self, choice):
        labels = self.reference.model_set.labels
        promoted = self.reference.model_set.learners[choice % len(labels)]
        event = Event.promote(promoted.specification)
        [result] = self.run(self.engine.submit([event]))
        assert result.seq == self.reference.apply(self.reference.seq + 1, event).seq
        assert self.engine.model.model_set == self.reference.model_set

    @rule(batches=st.lists(BATCHES, max_size=3), durable=st.booleans())
    def crash(self, batches, durable):
        """End the process; the durable ones of the requests in flight are there again."""

        async def until_the_end():
            gate = self.store.after_append if durable else self.store.before_append
            with gate.shut():
                answers = [self.engine.admit(batch) for batch in batches]
                if any(answers) and self.something_is_new(batches):
                    await gate.reached()
                if not durable:
                    self.store.append_error = StoreUnavailable("ended")
                in_log = list(self.store.read(self.reference.seq))
            for answer in answers:
                answer.cancel()
            # The thread has to end, but the engine does not see its result.
            await asyncio.to_thread(self.engine._pipeline.group_commit._thread.close)
            await self.engine._pipeline.stop_following()
            return in_log

        in_log = self.run(until_the_end())
        self.loop.close()
        self.store.append_error = None
        requests = []
        for _, data in in_log:
            event = Event.from_bytes(data)
            if not event.joined:
                requests.append([])
            requests[-1].append(event)
        in_flight = [event for batch in batches for event in batch]
        for request in requests:
            for event in request:
                in_flight.remove(next(e for e in in_flight if is_of(event, e)))
            self.learn_logged(request)
        self.start_engine()

    def something_is_new(self, batches):
        return any(self.logged(batch) for batch in batches)

    @rule(
        rating=st.none() | st.sampled_from([0, 3, 10]),
        shadows=st.none() | st.sampled_from([(), ("pa",), ("ff(leak=no)", "pa(replay=2)")]),
    )
    def restart(self, rating, shadows):
        self.run(self.engine.close())
        self.loop.close()
        assert self.store.snapshots()[0].seq == self.reference.seq
        self.snapshot_was_taken()
        before = self.rating, self.shadows
        self.rating = self.rating if rating is None else rating
        self.shadows = self.shadows if shadows is None else shadows
        if not self.is_understood():
            self.rating, self.shadows = before
        self.start_engine(reconfigure=True)
        self.follow(self.wanted())

    @invariant()
    def is_what_the_acknowledged_events_make(self):
        if hasattr(self, "engine"):
            assert self.engine.model.digest() == self.reference.digest()
            assert self.store.last_seq == self.reference.seq

    @invariant()
    def the_log_reaches_back_to_every_snapshot_kept_for_recovery(self):
        if hasattr(self, "engine"):
            kept = [info.seq for info in self.store.snapshots()][: self.keep]
            list(self.store.read(kept[-1]))


TestEngineStates = EngineStates.TestCase
TestEngineStates.settings = examples(60, stateful_step_count=30)

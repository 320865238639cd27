"""The interpreter: what the log means is the same to all who read it, and in all their steps."""

import asyncio
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import EventConflict, EventError
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.rules import RULES
from manyclass.service.config.settings import Settings
from manyclass.service.errors import RecoveryError
from manyclass.service.history import rebuilder
from manyclass.service.history.history import History
from manyclass.service.history.relearning import Relearning
from manyclass.service.log import apply_loop
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.interpreter import (
    Applied,
    Interpreter,
    NoState,
    OneModel,
    Stretch,
    apply_all,
)
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.outcomes import NO_EFFECT, Outcomes
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.log.request import BatchRequest, Request
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.errors import SnapshotMissing
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.protocol import Batch
from tests.core.streams import applied
from tests.service.faulty import PATIENCE, Clock, learn

ALONE = ModelSet(Options.of("svm"))  # applies batches by one call
LEARNERS = ModelSet(Options.of("svm"), (Options.of("pa"),))

# --- one log, all callers -------------------------------------------------------------------------


class LogStore(MemoryStore):
    """A log in memory, with the states of rebuilds."""

    def __init__(self):
        super().__init__(Clock())
        self.rebuilt_states = self
        self.rebuilt = {}  # token -> the number and the pieces of a state

    def open(self, token):
        if token not in self.rebuilt:
            raise SnapshotMissing(0)
        return iter(self.rebuilt[token][1])


class Living:
    """An ApplyLoop over a store, as in a process that serves."""

    def __init__(self, store):
        self.live = LiveModel()
        self.live.recovery.outcomes.are_kept = True
        self.live.use(Model.load(store.open_snapshot(0)))
        self.loop = ApplyLoop(self.live, SnapshotLoader(store))

    async def apply(self, *arrivals):
        self.loop.extend(arrivals)
        async with asyncio.timeout(PATIENCE):
            while not self.loop.idle:
                await self.loop.progress()
        assert self.live.is_current, self.loop.broken.result()

    @property
    def model(self):
        return self.live.model

    def outcomes(self):
        return self.live.recovery.outcomes.of(1, self.model.seq)


class Writer:
    """A process that writes the log, and takes snapshots of its state meanwhile."""

    def __init__(self, model_set=LEARNERS):
        self.store = LogStore()
        self.store.save_snapshot(0, Model(model_set).dump())
        self.living = Living(self.store)
        self.requests = []  # the number of the first event of each

    @property
    def model(self):
        return self.living.model

    async def write(self, steps):
        for name, *arguments in steps:
            await getattr(self, name)(*arguments)

    async def request(self, events):
        joined = [events[0], *(each.join() for each in events[1:])]
        self.requests.append(self.model.seq + 1)
        self.store.append([bytes(each) for each in joined])
        await self.living.apply(Request(joined, lambda _: None))

    async def plain(self, features, classes):
        batch = EventBatch()
        for name in classes:
            batch.add(Instance([*features]), [name])
        self.requests += range(self.model.seq + 1, self.model.seq + 1 + len(classes))
        self.store.append(batch.payloads())
        await self.living.apply(BatchRequest(batch, lambda: None))

    async def snapshot(self):
        self.store.save_snapshot(self.model.seq, self.model.dump())

    async def restore(self, place):
        seqs = sorted(info.seq for info in self.store.snapshots())
        mark = Event.restore(seqs[place % len(seqs)])
        await self.request([mark, Event.configure(self.model.model_set.to_dict())])

    async def rebuild(self):
        """Make a state that differs from the present one, as after an amendment."""
        state = applied([learn("rebuilt", "x")], Model.load(self.model.dump()))
        state.seq = self.model.seq
        self.store.rebuilt[f"state {state.seq}"] = state.seq, state.dump()

    async def adopt(self):
        """Go over to the newest rebuilt state, unless another was adopted since it was made."""
        if self.store.rebuilt:
            token, (seq, _) = list(self.store.rebuilt.items())[-1]
            tail = [Event.from_bytes(payload).kind for _, payload in self.store.read(seq)]
            if "adopt" not in tail:
                await self.request([Event.adopt(token)])

    # --- the readers ---------------------------------------------------------------------------

    async def live_at_once(self):
        """Apply the log in another process, which reads several requests at a time."""
        reader = Living(self.store)
        payloads = [payload for _, payload in self.store.read(0)]
        begins = [*self.requests[::3], len(payloads) + 1]
        for first, end in pairwise(begins):
            await reader.apply(Batch(first, payloads[first - 1 : end - 1], 0))
        return reader

    def recovered(self, *snapshots):
        """Recover the state, from these snapshots alone if any are named."""
        store = LogStore()
        store.rebuilt = self.store.rebuilt
        store.append([payload for _, payload in self.store.read(0)])
        for seq in snapshots or [info.seq for info in self.store.snapshots()]:
            store.save_snapshot(seq, self.store.open_snapshot(seq))
        recovery = Recovery()
        recovery.outcomes.are_kept = True
        return recover(store, LEARNERS, Clock(), recovery), recovery

    def marks(self, kind):
        """Return number and event of each mark of this kind."""
        events = ((seq, Event.from_bytes(payload)) for seq, payload in self.store.read(0))
        return [(seq, event) for seq, event in events if event.kind == kind]

    def relearning(self):
        history = History(self.store, self.store, self.living.live, Settings())
        return Relearning(history, 0)


features = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
classes = st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True)
ids = st.none() | st.sampled_from(["id 1", "id 2", "id 3"])
parents = st.dictionaries(st.sampled_from("pq"), st.sampled_from("rs"), max_size=1)


def lesson(features, classes, event_id, parents):
    content = hash((*features, *classes)) % 97
    return Event.learn(Instance(features), classes, event_id, content, parents=parents)


lessons = st.builds(lesson, features, classes, ids, parents)
changes = st.one_of(
    st.sampled_from("xyz").map(Event.forget_class),
    st.sampled_from("abc").map(Event.forget_feature),
    st.sampled_from(["pa", "svm"]).map(Event.promote),
    st.sampled_from([LEARNERS, ALONE, ModelSet(Options.of("pa", replay=2))]).map(
        lambda model_set: Event.configure(model_set.to_dict())
    ),
    st.just(Event.use_rules(RULES)),
)
amendments = st.one_of(
    st.builds(
        lambda target, features, classes: Event.amend(target, Instance(features), classes, ["x"]),
        st.integers(1, 9),
        features,
        classes | st.just([]),
    ),
    st.sampled_from([("x", "y"), ("y", "w"), ("z", "x")]).map(
        lambda names: Event.rename(*names, merges=True)
    ),
    st.sampled_from("xy").map(Event.release),
)


def steps_of(*single):
    """Return a strategy of the steps of a writer, with these events besides requests to learn."""
    requests = st.lists(lessons, min_size=1, max_size=4)
    several = st.one_of(requests, requests, *(each.map(lambda event: [event]) for each in single))
    return st.tuples(st.just("request"), several), st.tuples(st.just("plain"), features, classes)


model_sets = st.sampled_from([LEARNERS, ALONE])
snapshots = st.just(("snapshot",))
restores = st.tuples(st.just("restore"), st.integers(0, 5))
adoptions = st.sampled_from([("rebuild",), ("adopt",)])
all_steps = st.lists(
    st.one_of(*steps_of(changes, amendments), snapshots, restores, adoptions), max_size=25
)
rebuildable_steps = st.lists(st.one_of(*steps_of(changes), snapshots, restores), max_size=25)


@pytest.fixture
def in_slices(monkeypatch):
    """Let other tasks run behind each step."""
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)


@pytest.mark.usefixtures("in_slices")
@given(model_set=model_sets, steps=all_steps)
def test_all_who_read_a_log_come_to_one_state(model_set, steps):
    async def run():
        writer = Writer(model_set)
        await writer.write(steps)
        digest, outcomes = writer.model.digest(), writer.living.outcomes()
        reader = await writer.live_at_once()
        assert (reader.model.digest(), reader.outcomes()) == (digest, outcomes)
        assert writer.recovered()[0].digest() == digest
        restores = writer.marks("restore")
        named = {event.restored for _, event in restores}
        model, recovery = writer.recovered(*{0, *named})
        assert model.digest() == digest
        first = recovery.snapshot.seq
        assert recovery.outcomes.of(first + 1, model.seq - first) == outcomes[first:]
        if restores:  # the states of earlier marks do not matter
            assert writer.recovered(*{0, restores[-1][1].restored})[0].digest() == digest

    asyncio.run(run())


@given(model_set=model_sets, steps=all_steps, place=st.integers(0, 9))
def test_a_rebuilt_state_catches_up_with_the_tail_of_the_log(model_set, steps, place):
    async def run():
        writer = Writer(model_set)
        await writer.write(steps)
        marks = [seq for kind in ("restore", "adopt") for seq, _ in writer.marks(kind)]
        last = max(marks, default=0)
        seqs = [info.seq for info in writer.store.snapshots() if info.seq >= last]
        if seqs:
            model = Model.load(writer.store.open_snapshot(seqs[place % len(seqs)]))
            writer.relearning().apply_tail(model, writer.model.seq)
            assert model.digest() == writer.model.digest()

    asyncio.run(run())


@given(steps=rebuildable_steps)
def test_a_rebuild_of_a_history_without_amendments_gives_the_same_state(steps):
    async def run():
        writer = Writer()
        await writer.write(steps)
        live, relearning = writer.model, writer.relearning()
        base, undone = relearning.base(live.restores)
        given, state = BytesIO(), BytesIO()
        begin = b"".join(map(bytes, writer.store.open_snapshot(base)))
        given.write(rebuilder.frame(rebuilder.SNAPSHOT, begin))
        given.write(rebuilder.frame(rebuilder.TEXT, str(live.text).encode()))
        given.write(rebuilder.frame(rebuilder.ALIASES, b"{}"))
        given.write(rebuilder.frame(rebuilder.WHOLE, b"[]"))
        for payloads in relearning._frames(base, live.seq, undone, {}):
            given.write(rebuilder.frame(rebuilder.EVENTS, rebuilder.events_body(payloads)))
        given.write(rebuilder.frame(rebuilder.END, b""))
        given.seek(0)
        rebuilder.run(given, state)
        model = Model.load([state.getvalue()])
        model.recent, model.restores = live.recent, live.restores
        assert model.digest() == live.digest()

    asyncio.run(run())


# --- its steps ------------------------------------------------------------------------------------


def interpreter(model=None, **parts):
    """Return an interpreter, and the holder of its model."""
    holder = OneModel(model or Model(Options()))
    return Interpreter(holder, **parts), holder


def logged(*events):
    return [(seq, bytes(event)) for seq, event in enumerate(events, start=1)]


def test_a_request_is_applied_an_event_a_step():
    reader, holder = interpreter()
    one, two = learn("a", "x", "one"), learn("b", "y")
    steps = reader.request([one, two, one])
    assert next(steps).event == one
    assert (holder.model.seq, reader.is_amid) == (1, True)
    assert next(steps).outcome.seq == 2
    assert next(steps) == Applied(one, 1)
    assert list(steps) == []
    assert (holder.model.seq, reader.is_amid) == (3, False)


def test_a_conflict_uses_up_the_numbers_of_its_request():
    outcomes = Outcomes()
    outcomes.are_kept = True
    reader, holder = interpreter(outcomes=outcomes)
    conflict = [learn("b", "y"), learn("c", "z", "one").join()]
    steps = list(reader.log(logged(learn("a", "x", "one"), *conflict, learn("a", "x", "one"))))
    assert [type(each) for each in steps] == [Applied, type(None), EventConflict, Applied]
    assert (holder.model.seq, holder.model.learner.learned) == (4, 1)
    assert outcomes.of(1, 4) == [0, NO_EFFECT, NO_EFFECT, NO_EFFECT]


def test_an_event_out_of_its_place_is_not_applied():
    reader, holder = interpreter()
    with pytest.raises(EventError, match="event 2 cannot follow event 0"):
        list(reader.log([(2, bytes(learn("a", "x")))]))
    assert holder.model.seq == 0


def test_a_mark_waits_for_its_state():
    reader, holder = interpreter(applied([learn("a", "x")]))
    steps = reader.request([Event.restore(0), learn("b", "y").join()])
    needed = next(steps)
    assert (needed.seq, needed.before) == (2, holder.model)
    assert (holder.model.seq, reader.is_amid) == (1, True)
    needed.loaded = restored = Model(Options())
    assert isinstance(next(steps), Applied)
    assert holder.model is restored
    assert (restored.seq, restored.restores, restored.learner.learned) == (3, [(2, 0)], 1)


def test_the_rules_in_force_outlive_a_restore():
    reader, holder = interpreter()
    older = Model(Options())
    older.rules = RULES - 1
    for step in reader.request([Event.restore(0)]):
        step.loaded = older
    assert (holder.model, older.rules) == (older, RULES)


def test_an_adopted_state_keeps_the_restores_of_the_one_before():
    before, rebuilt = applied([learn("a", "x")]), applied([learn("b", "y")])
    before.restores = [(1, 0)]
    reader, holder = interpreter(before)
    apply_all(reader.request([Event.adopt("state")]), lambda _: rebuilt)
    assert holder.model is rebuilt
    assert (rebuilt.seq, rebuilt.restores) == (2, [(1, 0)])


def test_an_undone_mark_has_no_effect_and_the_events_behind_it_have():
    reader, holder = interpreter(before := applied([learn("a", "x")]))
    events = logged(learn("a", "x"), Event.adopt("state"), learn("b", "y"))[1:]
    apply_all(reader.log(events), lambda _: NoState.UNDONE)
    assert holder.model is before
    assert (before.seq, before.learner.learned) == (3, 2)


def test_without_a_state_events_are_passed_over_up_to_the_next_restore():
    older, again = Model(Options()), Model(Options())
    older.rules = again.rules = RULES - 1
    states = iter([NoState.LOST, again])
    needed = []

    def load(step):
        needed.append(step.seq)
        return next(states)

    reader, holder = interpreter(older)
    events = [
        *(Event.restore(0), learn("a", "x").join(), learn("b", "y")),
        *(Event.use_rules(RULES), Event.adopt("state"), Event.restore(0), learn("c", "z")),
    ]
    apply_all(reader.log(logged(*events)), load)
    assert needed == [1, 6]
    assert holder.model is again
    assert (again.seq, again.rules, again.learner.learned) == (7, RULES, 1)
    assert (older.seq, older.learner.learned) == (5, 0)


def test_a_mark_that_is_not_expected_is_refused():
    reader, _ = interpreter()
    with pytest.raises(EventError, match="event 1 switches to another state"):
        apply_all(reader.request([Event.restore(0)]))


def test_the_check_comes_before_each_request():
    seen = []
    reader, _ = interpreter(check=lambda model, events: seen.append((model.seq, len(events))))
    apply_all(reader.log(logged(learn("a", "x"), learn("b", "y").join(), learn("c", "z"))))
    assert seen == [(0, 2), (2, 1)]


def batch_of(*names):
    batch = EventBatch()
    for name in names:
        batch.add(Instance([name]), [f"class {name}"])
    return batch


def test_a_batch_is_applied_by_one_call_as_long_as_there_is_time():
    outcomes = Outcomes()
    outcomes.are_kept = True
    reader, holder = interpreter(outcomes=outcomes)
    batch = batch_of(*"abca")
    time_left = iter([0.0, 60.0])
    steps = reader.batch(batch, lambda: next(time_left))
    assert next(steps) == Stretch(batch, 0, False)
    assert (holder.model.seq, reader.is_amid) == (1, True)
    assert list(steps) == [Stretch(batch, 1, False)]
    assert (holder.model.seq, batch.learned, reader.is_amid) == (4, 4, False)
    assert outcomes.of(1, 4) == [0, 0, 0, 1]


def test_the_events_of_a_batch_are_applied_alone_where_no_call_can_apply_it():
    outcomes = Outcomes()
    outcomes.are_kept = True
    reader, holder = interpreter(Model(LEARNERS), outcomes=outcomes)
    batch = batch_of(*"aba")
    steps = list(reader.batch(batch, lambda: 60.0))
    assert [step.event for step in steps] == batch.events()
    assert batch.ranks() == outcomes.of(1, 3) == [0, 0, 1]
    assert (holder.model.seq, reader.is_amid) == (3, False)


def test_a_lost_adopted_state_does_not_matter_before_a_later_restore():
    writer = asyncio.run(_adopted_and_restored())
    digest = writer.model.digest()
    writer.store.rebuilt.clear()
    assert writer.recovered(0)[0].digest() == digest
    restores = writer.marks("restore")
    writer.store._events = writer.store._events[: restores[0][0] - 1]
    writer.store._last_seq = restores[0][0] - 1
    with pytest.raises(RecoveryError, match="event 2 adopted a rebuilt state"):
        writer.recovered(0)


async def _adopted_and_restored():
    writer = Writer()
    await writer.write(
        [
            ("request", [learn("a", "x")]),
            *(("rebuild",), ("adopt",), ("request", [learn("b", "y")])),
            *(("restore", 0), ("request", [learn("c", "z")])),
        ]
    )
    return writer

"""Teaching and amending, and the state that a rebuild has to make of it."""

import asyncio
from contextlib import suppress

from hypothesis import strategies as st

from manyclass.core.aliases import former_names, renamed
from manyclass.core.errors import (
    EventConflict,
    PlacementConflict,
    PlacementFault,
    RenameConflict,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT, Reading

READING = Reading(DEFAULT_TEXT, 1000)
LEARNERS = [
    "svm",
    "ff(max_classes=4,max_features=6)",
    "svm(neighbors=2)",
    "committee(members=pa(shuffle=3)+svm(subsample=0.7))",
]


def content(model):
    """Return the state without its place in the log: number, marks, ids of events."""
    frozen = model.freeze()
    facts = {name: frozen.facts[name] for name in frozen.facts if name not in ("seq", "restores")}
    arrays = {name: each.tobytes() for name, each in frozen.arrays.items()}
    return facts, {name: arrays[name] for name in arrays if name != "recent_events"}


def taught(options, events):
    """Return a model that has learned these events and no others."""
    model = Model(options, text=DEFAULT_TEXT)
    for seq, event in enumerate(events, start=1):
        model.apply(seq, event)
    return model


class History:
    """Teaches and amends; keeps the events that would lead to the same without the mistakes."""

    def __init__(self, engine):
        self.engine = engine
        self.effective = {}  # seq -> event
        self.snapshots = {}  # seq -> the numbers of the events in it
        self.forgotten = {}  # seq -> the names of the class that the event forgot
        self.until = {}  # name -> the last event that forgot it before its class was merged

    async def learn(self, features, classes, event_id, parents=None):
        fingerprint = hash((*features, *classes)) % 97
        event = Event.learn(Instance(features), classes, event_id, fingerprint, parents=parents)
        try:
            [result] = await self.engine.submit([event])
        except (EventConflict, PlacementConflict, PlacementFault):
            return
        if not result.duplicate:
            self.effective[result.seq] = event

    def past(self, place):
        seqs = [seq for seq, event in self.effective.items() if event.kind == "learn"]
        return seqs[place % len(seqs)] if seqs else None

    async def correct(self, place, classes):
        seq = self.past(place)
        if seq is None:
            return
        event = self.effective[seq]
        amend = Event.amend(seq, event.instance, classes, event.classes, event.weight)
        await self.engine.submit([amend])
        self.effective[seq] = Event.learn(
            event.instance, classes, event.event_id, parents=event.parents
        )

    async def delete(self, place):
        seq = self.past(place)
        if seq is not None:
            event = self.effective.pop(seq)
            await self.engine.submit([Event.amend(seq, event.instance, [], event.classes)])

    async def describe(self, name, title, vector):
        event = Event.describe(name, {"title": title, "vector": vector})
        [result] = await self.engine.submit([event])
        self.effective[result.seq] = event

    async def forget(self, name):
        if self.engine.model.has_class(name):
            names = [name, *former_names(name, self.engine.model.aliases)]
            [result] = await self.engine.submit([Event.forget_class(name)])
            self.effective[result.seq] = Event.forget_class(name)
            self.forgotten[result.seq] = names

    def merged(self, *names):
        """Note which names were forgotten before these classes were merged."""
        aliases = self.engine.model.aliases
        for seq, gone in self.forgotten.items():
            if aliases.get(gone[0], gone[0]) in names:
                self.effective.pop(seq, None)
                self.until |= {each: max(seq, self.until.get(each, 0)) for each in gone}

    def left(self, seq):
        """Return an event without names that were forgotten later, or None if nothing is left."""
        event = self.effective[seq]
        names = [each for each in event.classes if seq >= self.until.get(each, 0)]
        parents = {
            name: parent or None
            for name, parent in event.parents.items()
            if seq >= self.until.get(name, 0)
        }
        if event.kind == "place":
            return Event.place(parents, event.moves) if parents else None
        if event.kind == "describe":
            return event if seq >= self.until.get(event.name, 0) else None
        if event.kind == "learn":
            ids = event.event_id, event.fingerprint
            return Event.learn(event.instance, names, *ids, parents=parents) if names else None
        return event

    async def rename(self, name, to):
        with suppress(UnknownName, RenameConflict):
            events = self.engine.model.merge(name, to)
            self.engine.model.check_all(events)
            self.merged(name, self.engine.model.aliases.get(to, to))
            results = await self.engine.submit(events)
            for result, event in zip(results[1:], events[1:], strict=True):
                self.effective[result.seq] = event

    async def release(self, name):
        with suppress(UnknownName):
            await self.engine.submit([Event.release(name)])

    async def snapshot(self):
        info = await self.engine.take_snapshot()
        self.snapshots[info.seq] = set(self.effective)

    async def rebuild(self):
        before = dict(self.engine.model.descriptions)
        await rebuilt(self.engine)
        assert dict(self.engine.model.descriptions) == before
        self.snapshots = {self.engine.model.seq: set(self.effective)}

    def assert_rebuilt(self, options):
        aliases = self.engine.model.aliases
        left = filter(None, map(self.left, sorted(self.effective)))
        now = [_now(each, aliases) for each in left]
        facts, arrays = content(self.engine.model)
        assert facts.pop("aliases", {}) == aliases
        expected = taught(options, now)
        expected.take_descriptions(self.engine.model)
        assert (facts, arrays) == content(expected)


def _now(event, aliases):
    """Return the event with the present name of its class."""
    if event.kind == "describe":
        return Event.describe(aliases.get(event.name, event.name), event.described)
    return renamed(event, aliases)


features = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)
classes = st.lists(st.sampled_from(["x", "y", "z", "u", "v"]), min_size=1, max_size=2, unique=True)
parents = st.dictionaries(st.sampled_from("xyzu"), st.sampled_from("xyzv"), max_size=2)
places = st.integers(0, 50)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("learn"), features, classes, st.none()),
        st.tuples(st.just("learn"), features, classes, st.sampled_from(["e1", "e2"])),
        st.tuples(st.just("learn"), features, classes, st.none()),
        st.tuples(st.just("learn"), features, classes, st.none(), parents),
        st.tuples(st.just("correct"), places, classes),
        st.tuples(st.just("delete"), places),
        st.tuples(st.just("forget"), st.sampled_from(["x", "y"])),
        st.tuples(st.just("rename"), st.sampled_from("xy"), st.sampled_from("zxy")).filter(
            lambda step: step[1] != step[2]
        ),
        st.tuples(st.just("release"), st.sampled_from("xyz")),
        st.tuples(
            st.just("describe"),
            st.sampled_from("xyz"),
            st.sampled_from(["a b", "c", None]),
            st.sampled_from([[1, 2], [3, 1], None]),
        ),
        st.tuples(st.just("snapshot")),
        st.tuples(st.just("rebuild")),
    ),
    max_size=25,
)


async def rebuilt(engine):
    """Rebuild, after a rebuild that a merge has begun."""
    while engine.rebuild.is_running:
        await asyncio.sleep(0.01)
    await engine.rebuild_state()

"""Learns the history again as it was amended, and goes over to the state that results."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from manyclass.core.event import Event
from manyclass.core.model import Model
from manyclass.service.errors import RebuildRefused, with_hint
from manyclass.service.history.amendments import Amended
from manyclass.service.history.fold import corrected, fold, fold_amendments
from manyclass.service.history.history import History
from manyclass.service.history.memory import check_memory
from manyclass.service.history.rebuilder import (
    ALIASES,
    END,
    EVENTS,
    SNAPSHOT,
    events_body,
    frame,
    learn_again,
)
from manyclass.service.history.segment import GONE, Segment
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.outcomes import NO_EFFECT
from manyclass.service.snapshots.schedule import SnapshotSchedule
from manyclass.service.store.errors import SnapshotMissing, StoreError

log = logging.getLogger(__name__)

TAIL_EVENTS = 200  # applied in one go while learning waits
FRAME_EVENTS = 512


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of a rebuild: the state at `seq` follows from the amended events.

    Events up to `base` were not learned again: they are in the state it began with. So are the
    `unreached` amended ones, which were amended as well as can be at once.
    """

    seq: int
    base: int
    events: int
    corrected: int
    deleted: int
    unreached: int
    seconds: float
    finished_at: float  # unix seconds


class Rebuild:
    """Rebuilds the state, one rebuild at a time.

        history ──► child process ──► snapshot ──► tail of the log ──► live model ──► snapshot
        (amended)   (low priority)    (loaded)     (learning waits for the last of it)

    The live model ranks and learns until the rebuilt one takes its place. Until the snapshot at the
    end is durable, a crash leaves the former state and the amendments, and another rebuild
    begins anew. Then the amended events are rewritten in the history, older snapshots are deleted,
    and the store is scrubbed.
    """

    def __init__(
        self,
        history: History,
        apply_loop: ApplyLoop,
        schedule: SnapshotSchedule,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        hash_seed: int,
    ) -> None:
        """`hash_seed`: salts the tables of names of a rebuilt state."""
        self._wall_clock = wall_clock
        self._history = history
        self._live = history.live
        self._apply_loop = apply_loop
        self._schedule = schedule
        self._clock = clock
        self._hash_seed = hash_seed
        self._lock = asyncio.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self.last: Rebuilt | None = None
        self.failures = 0
        self.learned = 0  # events of the present rebuild
        self.is_closed = False

    @property
    def is_running(self) -> bool:
        """True while the history is learned again."""
        return self._lock.locked()

    async def run(self) -> Rebuilt:
        """Rebuild the state; return when it is durable and the amended events are gone.

        Raise RebuildRefused without any change; StoreError.
        """
        if self._lock.locked():
            raise RebuildRefused("a rebuild is under way")
        async with self._lock:
            try:
                self.last = await self._run()
            except Exception as error:
                self.failures += 1
                log.error("the rebuild failed: %s", error)
                raise
            return self.last

    async def shorten(self) -> None:
        """Let the oldest events leave the history, if it is above its limits.

        A state that has learned them becomes the base: so all that is left can still be learned
        again from there. An error is logged; the history is longer until the next try.
        """
        async with self._lock:
            try:
                last_seq = await asyncio.to_thread(self._history.recorder.excess)
                waiting = self._history.amendments.waiting()
                if last_seq > 0 and not any(target <= last_seq for target in waiting):
                    await asyncio.to_thread(self._shorten, last_seq)
            except (StoreError, RebuildRefused) as error:
                self.failures += 1
                log.error("the history keeps events above its limits: %s", with_hint(error))

    def _shorten(self, last_seq: int) -> None:
        base, undone = self._base(self._live.model.restores)
        if base < last_seq:
            moved = self._learn_again(base, last_seq, undone, {}, self._live.model.aliases)
            self._history.store.save_snapshot(last_seq, moved.dump())
        self._history.recorder.drop(last_seq)
        log.info("events up to %d have left the history", last_seq)

    def stop(self) -> None:
        """End the child process, so that a rebuild under way fails."""
        self.is_closed = True
        if self._child is not None:
            self._child.kill()

    async def _run(self) -> Rebuilt:
        history, live = self._history, self._live
        began = self._clock()
        self.learned = 0
        model = live.model
        check_memory(sum(each.learner.resident_bytes for each in model.enrolled))
        last_seq, restores = model.seq, list(model.restores)
        aliases = dict(model.aliases)
        settled = history.amendments.waiting()
        await asyncio.to_thread(history.pack, last_seq)
        base, undone = await asyncio.to_thread(self._base, restores)
        rebuilt = await asyncio.to_thread(
            self._learn_again, base, last_seq, undone, settled, aliases
        )
        await asyncio.to_thread(self._catch_up, rebuilt)
        async with self._schedule.exclusive() as take:
            await self._go_over(rebuilt, restores)
            self._schedule.supersede()
            info = await take()
            await asyncio.to_thread(self._settle, settled, base, info.seq)
        reached = [each for target, each in settled.items() if target > base]
        deleted = sum(not each.classes for each in reached)
        done = Rebuilt(
            seq=info.seq,
            base=base,
            events=self.learned,
            corrected=len(reached) - deleted,
            deleted=deleted,
            unreached=len(settled) - len(reached),
            seconds=self._clock() - began,
            finished_at=self._wall_clock(),
        )
        log.info(
            "rebuilt the state at event %d from %d on: %d events learned, %d corrected, %d deleted,"
            " %.1f s",
            *(done.seq, done.base, done.events, done.corrected, done.deleted, done.seconds),
        )
        return done

    # --- learning again --------------------------------------------------------------------------

    def _base(self, restores: list[tuple[int, int]]) -> tuple[int, list[range]]:
        """Return the snapshot to begin with, and the events that restores have undone."""
        present = [info.seq for info in self._history.store.snapshots()]
        base = self._history.base(present)
        if base is None:
            raise RebuildRefused("there is no snapshot with which the history could begin")
        undone: list[range] = []
        for mark, source in sorted(restores, reverse=True):
            if mark <= base or any(mark in each for each in undone):
                continue
            undone.append(range(source + 1, mark + 1))
            if source < base:
                if source not in present:
                    raise RebuildRefused(
                        f"event {mark} went back to snapshot {source}, which is older than the"
                        " history and no longer there"
                    )
                base = source
        return base, undone

    def _learn_again(
        self,
        base: int,
        last_seq: int,
        undone: list[range],
        settled: dict[int, Amended],
        aliases: dict[str, str],
    ) -> Model:
        """Return the state after the amended events up to `last_seq`. Blocks.

        `aliases` hold from the first event on: each class has its present name.
        """
        snapshot = b"".join(bytes(each) for each in self._history.store.open_snapshot(base))
        command = [sys.executable, "-m", "manyclass.service.history.rebuilder"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            self._child = child
            if self.is_closed:
                child.kill()
            try:
                assert child.stdin is not None
                assert child.stdout is not None
                child.stdin.write(frame(SNAPSHOT, snapshot))
                child.stdin.write(frame(ALIASES, json.dumps(aliases).encode()))
                for payloads in self._frames(base, last_seq, undone, settled):
                    child.stdin.write(frame(EVENTS, events_body(payloads)))
                    self.learned += sum(map(bool, payloads))
                child.stdin.write(frame(END, b""))
                child.stdin.close()
                state = child.stdout.read()
            except BrokenPipeError:
                state = b""
            finally:
                self._child = None
        if child.returncode != 0:
            raise RebuildRefused(
                "the process that learns the history again was ended"
                if child.returncode < 0
                else f"the history could not be learned again (status {child.returncode}): see the"
                " log of the service"
            )
        return Model.load([state], self._hash_seed)

    def _frames(
        self, base: int, last_seq: int, undone: list[range], settled: dict[int, Amended]
    ) -> Iterator[list[bytes]]:
        """Yield the events behind `base` as amended, empty where one has no effect."""
        expected = base + 1
        for info in self._history.recorder.infos:
            if info.last_seq <= base or info.first_seq > last_seq:
                continue
            segment = self._history.reader.segment(info)
            if segment.first_seq > expected:
                raise RebuildRefused(
                    f"events {expected} to {segment.first_seq - 1} are not in the history"
                )
            effective = _effective(segment, base, undone, settled)
            effective = effective[expected - segment.first_seq : last_seq + 1 - segment.first_seq]
            expected += len(effective)
            for at in range(0, len(effective), FRAME_EVENTS):
                yield effective[at : at + FRAME_EVENTS]

    def _catch_up(self, model: Model) -> None:
        """Apply what the live model has learned meanwhile, but for the last few events."""
        while self._live.model.seq - model.seq > TAIL_EVENTS:
            self._apply_tail(model, self._live.model.seq)

    def _apply_tail(self, model: Model, last_seq: int) -> None:
        for seq, payload in self._history.store.read(model.seq):
            if seq > last_seq:
                return
            event = Event.from_bytes(payload)
            if event.kind == "restore":
                raise RebuildRefused("a snapshot was restored meanwhile: rebuild again")
            has_effect = self._history.outcome_of(seq) != NO_EFFECT
            learn_again(model, payload if has_effect else b"")

    async def _go_over(self, model: Model, restores: list[tuple[int, int]]) -> None:
        """Replace the live model by the rebuilt one, which has nearly caught up."""
        async with self._apply_loop.quiet() as live:
            await asyncio.to_thread(self._apply_tail, model, live.seq)
            if model.seq != live.seq or live.restores != restores:
                raise RebuildRefused("the log went on otherwise: rebuild again")
            model.recent = live.recent
            model.restores = restores
            self._live.use(model)

    # --- afterwards ------------------------------------------------------------------------------

    def _settle(self, settled: dict[int, Amended], base: int, seq: int) -> None:
        """Rewrite the amended events, and delete what else holds them."""
        history = self._history
        store = history.store
        for info in store.snapshots():
            if info.seq != seq and info.seq != base:
                try:
                    store.delete_snapshot(info.seq)
                except SnapshotMissing:
                    log.info("snapshot %d is gone already", info.seq)
        history.pack(seq)
        fold(history, settled, base)
        store.trim(min(seq, history.recorder.end))
        history.reader.forget()
        history.segments.scrub()
        fold_amendments(history, settled, base)
        history.amendments.settle(settled)  # last: without room to scrub, they wait for another try


def _effective(
    segment: Segment, base: int, undone: list[range], settled: dict[int, Amended]
) -> list[bytes]:
    """Return the events of a segment as they are to be learned, empty for one without effect.

    Amendments of events up to `base` stay events: the state already holds what they amend.
    """
    effective = []
    for at, payload in enumerate(segment.payloads):
        seq = segment.first_seq + at
        without_effect = (
            segment.outcomes[at] == NO_EFFECT
            or segment.flags[at] == GONE
            or (Event.amends(payload) and Event.from_bytes(payload).target > base)
            or any(seq in each for each in undone)
        )
        if without_effect or Event.is_mark(payload):
            effective.append(b"")
        elif seq in settled:
            effective.append(corrected(payload, settled[seq]))
        else:
            effective.append(Event.alone(payload))
    return effective

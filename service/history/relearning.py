"""The replay of the history in a child process, up to a state that has nearly caught up."""

import json
import subprocess
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from manyclass.core import snapshot
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_state import aliases_of
from manyclass.core.text import TextAnalysis
from manyclass.service.child_process import command_of, environment_of
from manyclass.service.errors import RebuildRefused
from manyclass.service.history.amendments import Amended
from manyclass.service.history.fold import corrected
from manyclass.service.history.forgotten import Forgotten
from manyclass.service.history.history import History
from manyclass.service.history.rebuilder import (
    ALIASES,
    END,
    EVENTS,
    OTHER_TEXT,
    SNAPSHOT,
    TEXT,
    WHOLE,
    events_body,
    frame,
    learn_again,
)
from manyclass.service.history.segment import GONE, Segment
from manyclass.service.log.interpreter import MARKS, Interpreter, OneModel
from manyclass.service.log.outcomes import NO_EFFECT
from manyclass.service.log.snapshot_loader import load_snapshot
from manyclass.service.store.errors import SnapshotMissing

MODULE = "manyclass.service.history.rebuilder"
MOST_NAMED = 20  # events named in a refusal
SAMPLED_TEXTS = 1000  # texts sampled for a rebuild with another analysis
TAIL_EVENTS = 200  # events applied at the end, while learning waits
FRAME_EVENTS = 512


class Relearning:
    """The replay of amended events. All methods except `stop` block.

    One thread at a time may call them; any thread may call `stop`.
    """

    def __init__(self, history: History, hash_seed: int) -> None:
        """`hash_seed`: salts the tables of names of the state."""
        self._history = history
        self._live = history.live
        self._hash_seed = hash_seed
        self._child: subprocess.Popen[bytes] | None = None
        self.learned = 0  # events, since it was set to 0
        self.is_stopped = False

    def stop(self) -> None:
        """End the child process, so that `learn` fails, from now on."""
        self.is_stopped = True
        if self._child is not None:
            self._child.kill()

    def base(self, restores: list[tuple[int, int]]) -> tuple[int, list[range]]:
        """Return the snapshot to begin with, and the events that restores have undone.

        It is the oldest snapshot from which all of the history can be learned, or else most of it.
        Raises RebuildRefused without such a snapshot, and StoreError.
        """
        present = {info.seq for info in self._history.store.snapshots()}
        for begin in sorted(self._history.bases(present)):
            found = _reaching(begin, restores, present)
            if found is not None:
                return found
        raise RebuildRefused("there is no snapshot from which the history could begin")

    def check_texts(
        self,
        base: int,
        last_seq: int,
        undone: list[range],
        settled: dict[int, Amended],
        text: TextAnalysis,
    ) -> float:
        """Return the ratio of features by this analysis to those by the present one, in a sample.

        Raises RebuildRefused if the state at the base has learned with another analysis, or if this
        one cannot read all the events that `learn` reads. Also raises StoreError.
        """
        try:
            begin = load_snapshot(self._history.store, base, self._hash_seed)
        except SnapshotMissing:
            raise RebuildRefused(_replaced(base)) from None
        if begin.text != text and any(each.learner.features for each in begin.enrolled):
            raise RebuildRefused(_learned_before(base, text))
        lacking, growth = list[int](), _Growth(self._live.model.text, text)
        payloads = chain.from_iterable(self._frames(base, last_seq, undone, settled))
        for seq, payload in enumerate(payloads, base + 1):
            if not Event.is_readable(payload, text):
                lacking.append(seq)
            elif payload and growth.sampled < SAMPLED_TEXTS:
                growth.add(Event.from_bytes(payload))
        if lacking:
            raise RebuildRefused(_without_text(lacking, text))
        return growth.times

    def learn(
        self,
        base: int,
        last_seq: int,
        undone: list[range],
        settled: dict[int, Amended],
        aliases: dict[str, str],
        whole: Sequence[Options],
        text: TextAnalysis,
    ) -> Model:
        """Return the state after the amended events up to `last_seq`.

        `aliases` hold from the first event on, so each class has its present name. The learners
        `whole` begin at the base if it does not have them. Texts are read with the analysis `text`.
        Raises RebuildRefused if the history has a gap or the process was ended, and StoreError.
        """
        try:
            begin = b"".join(bytes(each) for each in self._history.store.open_snapshot(base))
        except SnapshotMissing:
            raise RebuildRefused(_replaced(base)) from None
        command, environment = command_of(MODULE), environment_of()
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as child:
            self._child = child
            if self.is_stopped:
                child.kill()
            try:
                assert child.stdin is not None
                assert child.stdout is not None
                child.stdin.write(frame(SNAPSHOT, begin))
                child.stdin.write(frame(TEXT, str(text).encode()))
                child.stdin.write(frame(ALIASES, json.dumps(aliases).encode()))
                stored = [each.to_dict() for each in whole]
                child.stdin.write(frame(WHOLE, json.dumps(stored).encode()))
                forgotten = self._forgotten(begin, base, last_seq, undone) if aliases else None
                for payloads in self._frames(base, last_seq, undone, settled, forgotten):
                    child.stdin.write(frame(EVENTS, events_body(payloads)))
                    self.learned += sum(map(bool, payloads))
                child.stdin.write(frame(END, b""))
                child.stdin.close()
                state = child.stdout.read()
            except BrokenPipeError:
                state = b""
            finally:
                self._child = None
        if child.returncode == OTHER_TEXT:
            raise RebuildRefused(_learned_before(base, text))
        if child.returncode != 0:
            raise RebuildRefused(
                "the process of the rebuild was ended"
                if child.returncode < 0
                else f"the history could not be learned again (status {child.returncode}): see the"
                " log of the service"
            )
        return Model.load([state], self._hash_seed)

    def _forgotten(self, begin: bytes, base: int, last_seq: int, undone: list[range]) -> Forgotten:
        """Return the classes that the events after the snapshot `begin` have forgotten."""
        facts, _ = snapshot.outline([begin])
        forgotten = Forgotten(aliases_of(facts))
        for part in self._history.behind(base, last_seq):
            for at, payload in enumerate(part.payloads):
                seq = part.first_seq + at
                has_effect = part.outcomes[at] != NO_EFFECT
                if has_effect and Event.names_class(payload) and not _is_in(seq, undone):
                    forgotten.note(seq, Event.from_bytes(payload))
        return forgotten

    def _frames(
        self,
        base: int,
        last_seq: int,
        undone: list[range],
        settled: dict[int, Amended],
        forgotten: Forgotten | None = None,
    ) -> Iterator[list[bytes]]:
        """Yield the amended events after `base`, empty where an event has no effect."""
        at = base
        for part in self._history.behind(base, last_seq):
            if part.first_seq > at + 1:
                yield _gap(range(at + 1, min(part.first_seq, last_seq + 1)), undone)
            effective = _effective(part, base, undone, settled)
            if forgotten is not None:
                seqs = range(part.first_seq, part.last_seq + 1)
                effective = list(map(forgotten.without, seqs, effective))
            for begin in range(0, len(effective), FRAME_EVENTS):
                yield effective[begin : begin + FRAME_EVENTS]
            at = part.last_seq
        if at < last_seq:
            raise RebuildRefused(f"the log ends at event {at}, not at {last_seq}: rebuild again")

    def catch_up(self, model: Model) -> None:
        """Apply the events that the live model has learned meanwhile, except the last few."""
        while self._live.model.seq - model.seq > TAIL_EVENTS:
            self.apply_tail(model, self._live.model.seq)

    def apply_tail(self, model: Model, last_seq: int) -> None:
        """Apply the following events of the log, up to `last_seq`. Raises RebuildRefused,
        StoreError.
        """
        interpreter = Interpreter(OneModel(model), is_replay=True)
        for part in self._history.behind(model.seq, last_seq):
            if part.first_seq > model.seq + 1:
                _gap(range(model.seq + 1, part.first_seq), [])
            for payload, outcome in zip(part.payloads, part.outcomes, strict=True):
                if payload and Event.from_bytes(payload).kind in MARKS:
                    raise RebuildRefused("a snapshot was restored meanwhile: rebuild again")
                is_other = model.text != self._live.model.text
                if is_other and not Event.is_readable(payload, model.text):
                    raise RebuildRefused(_without_text([model.seq + 1], model.text))
                learn_again(interpreter, b"" if outcome == NO_EFFECT else payload)
        if model.seq < last_seq:
            raise RebuildRefused("the log has changed meanwhile: rebuild again")


class _Growth:
    """The numbers of different features of sampled texts, by the present and the next analysis."""

    def __init__(self, present: TextAnalysis, following: TextAnalysis) -> None:
        self.sampled = 0
        self._present, self._following = present, following
        self._before, self._after = set[str](), set[str]()

    @property
    def times(self) -> float:
        """The ratio of the features by the next analysis to those by the present one."""
        return max(1, len(self._after)) / max(1, len(self._before))

    def add(self, event: Event) -> None:
        """Count the features of an event, if it has a text."""
        if event.reading is None:
            return
        self.sampled += 1
        for analysis, names in ((self._present, self._before), (self._following, self._after)):
            names.update(name for name, _ in event.read_by(analysis).instance.items())


def _replaced(base: int) -> str:
    return f"snapshot {base}, the base of the history, was replaced meanwhile: rebuild again"


def _learned_before(base: int, text: TextAnalysis) -> str:
    """Return the reason why the history cannot be learned with another analysis."""
    return (
        f"the history begins with the state at event {base}, which has learned with another text"
        f" analysis than {text}: teach a new store that starts with MANYCLASS_TEXT={text}"
    )


def _without_text(seqs: Sequence[int], text: TextAnalysis) -> str:
    """Return the reason why the analysis cannot read these events."""
    named = ", ".join(f"seq:{seq}" for seq in seqs[:MOST_NAMED])
    more = f" and {len(seqs) - MOST_NAMED:,} more" if len(seqs) > MOST_NAMED else ""
    events = "1 event was" if len(seqs) == 1 else f"{len(seqs):,} events were"
    return (
        f"{events} made from a text that was not kept, as with MANYCLASS_HISTORY=no, and `{text}`"
        f" would have to analyse it: {named}{more}. Delete each (`manyclass events delete"
        f" seq:{seqs[0]}`, or DELETE /events/seq:{seqs[0]}) and rebuild then, or teach a new store"
        f" that starts with MANYCLASS_TEXT={text}"
    )


def _reaching(
    begin: int, restores: list[tuple[int, int]], present: Collection[int]
) -> tuple[int, list[range]] | None:
    """Return the snapshot from which all events after `begin` can be learned, and the undone
    events.

    It is an older snapshot if a restore went back to it, or None if that no longer exists.
    """
    undone: list[range] = []
    for mark, source in sorted(restores, reverse=True):
        if mark <= begin or any(mark in each for each in undone):
            continue
        undone.append(range(source + 1, mark + 1))
        if source < begin:
            if source not in present:
                return None
            begin = source
    return begin, undone


def _gap(missing: range, undone: list[range]) -> list[bytes]:
    """Return an empty event for each missing one. Raises RebuildRefused unless all are undone."""
    needed = [seq for seq in missing if not _is_in(seq, undone)]
    if needed:
        raise RebuildRefused(f"events {needed[0]} to {needed[-1]} are missing in the history")
    return [b""] * len(missing)


def _effective(
    segment: Segment, base: int, undone: list[range], settled: dict[int, Amended]
) -> list[bytes]:
    """Return the events of a segment in the form to learn, empty for an event without effect.

    Amendments of events up to `base` stay, because the base state includes the amended events.
    """
    effective = []
    for at, payload in enumerate(segment.payloads):
        seq = segment.first_seq + at
        without_effect = (
            segment.outcomes[at] == NO_EFFECT
            or segment.flags[at] == GONE
            or (Event.amends(payload) and Event.from_bytes(payload).target > base)
            or _is_in(seq, undone)
        )
        if without_effect or Event.is_mark(payload):
            effective.append(b"")
        elif seq in settled:
            effective.append(corrected(payload, settled[seq]))
        else:
            effective.append(Event.alone(payload))
    return effective


def _is_in(seq: int, ranges: list[range]) -> bool:
    return any(seq in each for each in ranges)

"""Advice on learners: `manyclass.evaluation.advising`, run on the history in a child process."""

import asyncio
import logging
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.child_process import command_of, environment_of
from manyclass.service.config.learners import limits_of
from manyclass.service.errors import AdviceRefused
from manyclass.service.history.history import History
from manyclass.service.history.memory import available_bytes, check_available
from manyclass.service.history.reader import Record
from manyclass.service.store.errors import StoreError
from manyclass.service.threads import lower_priority

log = logging.getLogger(__name__)

MODULE: Final = "manyclass.evaluation.advising"
LEAST_EVENTS = 300  # with true classes; fewer show nothing
GRACE_SECONDS = 60.0  # for the child to notice that its time is over
STATES = 3  # the present learner's memory, as often as the child may need it
BASE_BYTES = 512 << 20  # of the child without a large learner


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """The bounds of a comparison: the newest `last` events, `seconds`; and further `learners`."""

    last: int
    seconds: float
    learners: tuple[str, ...] = ()


@dataclass(slots=True)
class AdviceState:
    """The state of the advice of this process.

    `state` is none, running, done, stopped or failed. `at` of `of` candidates are done, and `share`
    of the present one. `advice` has the figures of the candidates that are done, as the child
    writes them; the first is the present learner. `best` is the position of the best one there.
    """

    state: str = "none"
    error: str | None = None
    seq: int = 0
    began_at: float | None = None
    ended_at: float | None = None
    events: int = 0
    counted: int = 0
    at: int = 0
    of: int = 0
    share: float = 0.0
    learner: str | None = None
    text: str | None = None
    advice: list[dict[str, Any]] = field(default_factory=list)
    best: int | None = None
    verdict: str | None = None
    notes: list[str] = field(default_factory=list)


class Advisor:
    """The part that compares other learners with the present one on the history, on request.

        history ── events ──► child process (low priority) ── figures ──► state

    One comparison at a time. Belongs to one event loop.
    """

    def __init__(self, wall_clock: Callable[[], float]) -> None:
        self._wall_clock = wall_clock
        self._child: subprocess.Popen[bytes] | None = None
        self._work: asyncio.Future[None] | None = None
        self._is_stopped = False
        self.state = AdviceState()

    @property
    def is_running(self) -> bool:
        """True while candidates are compared."""
        return self._work is not None and not self._work.done()

    def start(self, history: History, model: Model, question: AdviceQuestion) -> None:
        """Begin to compare. Raises AdviceRefused while it runs, MemoryShort."""
        if self.is_running:
            raise AdviceRefused("advice is in progress: wait for its end, or stop it")
        needed = BASE_BYTES + STATES * model.learner.resident_bytes
        check_available(needed, "advice")
        self._is_stopped = False
        state = AdviceState("running", seq=model.seq, began_at=self._wall_clock())
        self.state = state
        # A thread of its own: a priority is never raised again, and shared threads serve requests.
        thread = ThreadPoolExecutor(1, "advice", initializer=lower_priority)
        self._work = asyncio.get_running_loop().run_in_executor(
            thread, self._run, state, history, model, question, needed
        )
        thread.shutdown(wait=False)  # it ends with the work

    async def stop(self) -> None:
        """End the work in progress, if there is any."""
        self._is_stopped = True
        if self._child is not None:
            self._child.kill()
        if self._work is not None:
            await asyncio.wait([self._work])

    def _run(
        self,
        state: AdviceState,
        history: History,
        model: Model,
        question: AdviceQuestion,
        needed: int,
    ) -> None:
        try:
            self._compare(state, history, model, question, needed)
            state.state = "stopped" if self._is_stopped else "done"
        except (AdviceRefused, StoreError) as error:
            state.state = "stopped" if self._is_stopped else "failed"
            state.error = None if self._is_stopped else str(error)
            if not self._is_stopped:
                log.warning("there is no advice: %s", error)
        except Exception as error:
            state.state, state.error = "failed", "see the log of the service"
            log.exception("the advice failed: %r", error)
        finally:
            state.ended_at = self._wall_clock()

    def _compare(
        self,
        state: AdviceState,
        history: History,
        model: Model,
        question: AdviceQuestion,
        needed: int,
    ) -> None:
        lines = _Lines(model, question, needed)
        command, environment = command_of(MODULE), environment_of()
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as child:
            self._child = child
            timer = _timer(child, question.seconds + GRACE_SECONDS)
            try:
                if self._is_stopped:
                    child.kill()
                assert child.stdout is not None
                _send(child, lines.of(history))
                lines.check()
                state.events, state.notes = lines.events, lines.notes
                for line in child.stdout:
                    _note(state, msgspec.json.decode(line))
                child.wait()
            finally:
                child.kill()  # has no effect unless an error ends the work
                timer.cancel()
                self._child = None
        if child.returncode != 0 and not self._is_stopped:
            raise AdviceRefused(
                f"the process that compares learners ended with status {child.returncode}: see the"
                " log of the service"
            )


def _send(child: subprocess.Popen[bytes], lines: Iterator[bytes]) -> None:
    """Write the lines and the end, unless the child ends before; its status then tells why."""
    assert child.stdin is not None
    try:
        with suppress(BrokenPipeError):
            child.stdin.writelines(lines)
    finally:
        with suppress(BrokenPipeError):
            child.stdin.close()


def _timer(child: subprocess.Popen[bytes], seconds: float) -> threading.Timer:
    """Return a started timer that kills the child."""
    timer = threading.Timer(seconds, child.kill)
    timer.daemon = True
    timer.start()
    return timer


class _Lines:
    """The lines for the child: the question, and the events that have true classes."""

    def __init__(self, model: Model, question: AdviceQuestion, needed: int) -> None:
        self.events = 0
        self._model = model
        self._question = question
        self._needed = needed
        self._has_texts = False
        self._placed: dict[str, str] = {}  # the parents that the child knows

    def of(self, history: History) -> Iterator[bytes]:
        """Yield the lines, the events newest first. Raises StoreError."""
        options = self._model.options
        question = {
            "primary": options.to_dict(),
            "text": str(self._model.text),
            "learners": self._question.learners,
            "limits": limits_of(options),
            "seconds": self._question.seconds,
            "bytes": max(self._needed, (available_bytes() or self._needed) // 2),
        }
        yield msgspec.json.encode(question) + b"\n"
        for record in history.newest(self._question.last):
            if record.classes:
                self.events += 1
                yield msgspec.json.encode(self._shown(record)) + b"\n"

    def check(self) -> None:
        """Raise AdviceRefused if the events are too few."""
        if self.events < LEAST_EVENTS:
            raise AdviceRefused(
                f"{self.events} of the newest events have a class; advice needs {LEAST_EVENTS}"
            )

    @property
    def notes(self) -> list[str]:
        """The candidates that are not compared, and why."""
        notes = []
        if not self._placed:
            notes.append("`path` is not compared: no class of these events is in a taxonomy")
        if not self._has_texts:
            notes.append("analyses of texts are not compared: these events have no texts")
        if self._model.evidence:
            notes.append(
                "descriptions and vectors are left out: learners are compared without them"
            )
        return notes

    def _shown(self, record: Record) -> dict[str, Any]:
        event = record.event
        self._has_texts |= event.text is not None
        return {
            "classes": record.classes,
            "text": event.text,
            "features": None if event.text is not None else dict(event.instance.items()),
            "parents": self._new_parents(record.classes),
        }

    def _new_parents(self, classes: list[str]) -> dict[str, str]:
        """Return the parent of each class, and of each class above it, that the child lacks."""
        found: dict[str, str] = {}
        for name in classes:
            if name not in self._placed and name in self._model.taxonomy:
                path = self._model.taxonomy.path(name)
                found |= zip(path, ["", *path], strict=False)
        self._placed |= found
        return found


def _note(state: AdviceState, message: dict[str, Any]) -> None:
    """Note a line of the child."""
    if message["kind"] == "found":
        state.advice = [*state.advice, message["advice"]]
        state.at, state.share = len(state.advice), 0.0
    elif message["kind"] == "verdict":
        state.best, state.verdict = message["best"], message["sentence"]
    else:
        state.at, state.of, state.share = message["at"], message["of"], message["share"]
        state.learner, state.text = message["learner"], message["text"]
        state.counted = message["counted"]


def check_learner(specification: str, primary: Options) -> str:
    """Return the full name of a candidate. Raises OptionError."""
    return Options.parse(specification, **limits_of(primary)).specification

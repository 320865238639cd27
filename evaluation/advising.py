"""The child process of a service that computes advice on learners.

It reads JSON lines from standard input: a `Question`, then an `AdviceEvent` for each past event,
newest first. It writes JSON lines to standard output: a `Progress` after each part, an `Advice` for
each candidate, at last a `Verdict`. It ends when the service no longer reads its output.
"""

import os
import resource
import sys
import time
from collections.abc import Iterable
from typing import BinaryIO

import msgspec

from manyclass.core.learners.options import Options
from manyclass.evaluation.advice import Advice, Events, advise, candidates, counted_of
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.evaluation.verdict import Verdict, verdict

NICE = 10  # as of the service's own threads of low priority


class Question(msgspec.Struct, frozen=True):
    """The present learner and analysis of texts, and the bounds of the work.

    `learners` are further candidates. `limits` hold for each learner that does not name them.
    """

    primary: dict[str, bool | int | float | str]
    text: str
    learners: list[str]
    limits: dict[str, int]
    seconds: float
    bytes: int


class AdviceEvent(msgspec.Struct, frozen=True):
    """A past event: its text, or its features, and its true classes.

    `parents` has the place in the taxonomy of classes that no line before had; "" is the top.
    """

    classes: list[str]
    text: str | dict[str, str] | None = None
    features: dict[str, float] | None = None
    parents: dict[str, str] = {}


class Progress(msgspec.Struct, frozen=True, tag="progress", tag_field="kind"):
    """The work so far: `share` of candidate number `at` of `of`.

    The newest `counted` of the `events` count.
    """

    at: int
    of: int
    learner: str
    text: str
    share: float
    events: int
    counted: int


class Found(msgspec.Struct, frozen=True, tag="found", tag_field="kind"):
    """The advice on a candidate."""

    advice: Advice


def run(given: BinaryIO, out: BinaryIO) -> None:
    """Answer the question."""
    lines = iter(given)
    question = msgspec.json.decode(next(lines), type=Question)
    _bound_memory(question.bytes)
    parents: dict[str, str] = {}
    events = _events(lines, parents)
    primary = Options.from_dict(question.primary)
    has_texts = any(each is not None for each in events.texts)
    asked = candidates(primary, question.text, has_texts, bool(parents), question.learners)
    total, counted = len(events.classes), counted_of(len(events.classes))

    def write(message: Progress | Found | Verdict) -> None:
        out.write(msgspec.json.encode(message) + b"\n")
        out.flush()

    def on_part(at: int, share: float) -> None:
        each = asked[at]
        write(Progress(at, len(asked), each.learner, each.text, min(share, 1), total, counted))

    def options_of(learner: str) -> Options:
        if learner == primary.specification:
            return primary
        return Options.parse(learner, **question.limits)

    taxonomy = None
    if parents:
        taxonomy = Taxonomy({name: [above] if above else [] for name, above in parents.items()})
    on_part(0, 0.0)
    end = time.monotonic() + question.seconds
    done = list[Advice]()
    for advice in advise(events, asked, options_of, taxonomy, end, time.monotonic, on_part):
        done.append(advice)
        write(Found(advice))
    write(verdict(done))


def _events(lines: Iterable[bytes], parents: dict[str, str]) -> Events:
    """Return the events, oldest first; note the parents of their classes."""
    decoder = msgspec.json.Decoder(AdviceEvent)
    read = [decoder.decode(line) for line in lines]
    for each in read:
        parents |= each.parents
    read.reverse()
    return Events(
        [each.text for each in read],
        [each.features or {} for each in read],
        [each.classes for each in read],
    )


def _bound_memory(most: int) -> None:
    """Let allocations beyond `most` bytes fail, so that the service keeps its memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


if __name__ == "__main__":
    # Not os.nice: the thread that begins the process may have this priority already.
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, max(priority, NICE))
    try:
        run(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:  # the service has ended, or has stopped the work
        sys.exit(1)

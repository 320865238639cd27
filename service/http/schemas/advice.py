"""The bodies of the calls about advice on learners."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta
from pydantic import BaseModel

from manyclass.core.instance import LONGEST_NAME

DEFAULT_EVENTS, MOST_EVENTS = 20_000, 200_000
DEFAULT_SECONDS, MOST_SECONDS = 600.0, 24 * 3600.0
MOST_LEARNERS = 20

_LAST = "Compare on this many of the newest events; 20,000 if omitted."
_SECONDS = "Seconds in which candidates must be done; 600 if omitted."
_LEARNERS = "Further learners to compare: svm(C=0.5)."
_Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
_Last = Annotated[float, Meta(ge=300, le=MOST_EVENTS)]
_Seconds = Annotated[float, Meta(ge=1, le=MOST_SECONDS)]
_Learners = Annotated[list[_Name], Meta(max_length=MOST_LEARNERS)]


class AdviceRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The bounds of the comparison, and further candidates; all may be omitted."""

    takes: ClassVar = {
        "last": f"a number from 300 to {MOST_EVENTS}, such as 20000",
        "seconds": f"a number from 1 to {MOST_SECONDS:.0f}, such as 600",
        "learners": f'a list of learners, at most {MOST_LEARNERS}: ["svm(C=0.5)"]',
    }

    last: Annotated[_Last | None, Meta(description=_LAST)] = None
    seconds: Annotated[_Seconds | None, Meta(description=_SECONDS)] = None
    learners: Annotated[_Learners | None, Meta(description=_LEARNERS)] = None


class AdviceGain(BaseModel):
    """A difference from the present learner on the same events, with its 99 % interval."""

    mean: float
    low: float
    high: float


class CandidateAdvice(BaseModel):
    """A candidate beside the present learner.

    `r1` and `r5` are about the newest events, `all_r1` and `all_r5` about all, each ranked before
    it was learned. `learn_seconds` and `rank_seconds` are CPU seconds per event; `bytes` are those
    of a snapshot. The gains are null for the present learner, which is the first. `advised` is true
    if the candidate ranks surely better, `worse` if the present learner does. `failed` says why
    there are no figures, else it is empty.
    """

    learner: str
    text: str
    r1: float | None
    r5: float | None
    all_r1: float | None
    all_r5: float | None
    r1_gain: AdviceGain | None
    r5_gain: AdviceGain | None
    learn_seconds: float | None
    rank_seconds: float | None
    bytes: int | None
    advised: bool
    worse: bool
    failed: str


class AdviceStatus(BaseModel):
    """The state of the advice of the answering process.

    `state` is none, running, done, stopped or failed, with an `error`. `at` of `of` candidates are
    done, and `share` of the present one, `learner` with `text`. Of the `events` up to event `seq`,
    the newest `counted` are compared. `advice` has the candidates that are done; when all are,
    `verdict` says in a sentence which is the best, and `best` is its position, null if none is
    surely better. Times are in unix seconds.
    """

    state: str
    error: str | None
    seq: int
    began_at: float | None
    ended_at: float | None
    events: int
    counted: int
    at: int
    of: int
    share: float
    learner: str | None
    text: str | None
    advice: list[CandidateAdvice]
    best: int | None
    verdict: str | None
    notes: list[str]

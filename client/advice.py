"""The answers about advice on learners, as immutable structs."""

import msgspec


class Gain(msgspec.Struct, frozen=True):
    """A difference from the present learner on the same events, with its 99 % interval."""

    mean: float
    low: float
    high: float


class CandidateAdvice(msgspec.Struct, frozen=True):
    """A candidate beside the present learner.

    `r1` and `r5` are about the newest events, `all_r1` and `all_r5` about all. Times are CPU
    seconds per event. The gains are None for the present learner. `advised` candidates rank surely
    better than it, `worse` ones surely worse. `failed` says why there are no figures.
    """

    learner: str
    text: str
    r1: float | None
    r5: float | None
    all_r1: float | None
    all_r5: float | None
    r1_gain: Gain | None
    r5_gain: Gain | None
    learn_seconds: float | None
    rank_seconds: float | None
    bytes: int | None
    advised: bool
    worse: bool
    failed: str


class AdviceStatus(msgspec.Struct, frozen=True):
    """The progress of a comparison of learners: `state` is none, running, done, stopped or failed.

    `at` of `of` candidates are done, and `share` of the present one. The newest `counted` of the
    `events` are compared. `advice` begins with the present learner; `best` is the position of the
    best candidate there, None if none is surely better, and `verdict` says so in a sentence.
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
    advice: tuple[CandidateAdvice, ...]
    best: int | None
    verdict: str | None
    notes: tuple[str, ...]

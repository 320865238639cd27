"""The verdict of the advice on learners: the best candidate, in one sentence."""

from collections.abc import Sequence
from typing import Final

import msgspec

from manyclass.evaluation.advice import Advice, Gain

MOST_NAMED: Final = 3  # other candidates


class Verdict(msgspec.Struct, frozen=True, tag="verdict", tag_field="kind"):
    """The position of the best candidate among the advice, None if none is surely better."""

    best: int | None
    sentence: str


def verdict(advice: Sequence[Advice]) -> Verdict:
    """Return the verdict; the first advice is about the present learner.

    Of several better ones the best has the largest sum of the gains in R1 and R5; of equal ones it
    learns fastest.
    """
    present, *others = advice
    if present.failed:
        return Verdict(None, f"{_named(present)}, in use, has no figures: {present.failed}.")
    compared = [each for each in others if not each.failed]
    left = _left_out(len(others) - len(compared))
    better = [each for each in compared if each.advised]
    if not better:
        return Verdict(None, _none_better(present, compared) + left)
    best = max(better, key=_worth)
    most = max(better, key=_first)
    others = [each for each in better if each is not best and each is not most]
    also = "" if most is best else f" {_named(most, present)} has more R1: {_gains(most)}."
    sentence = (
        f"{_named(best, present)} is better than {_named(present)}, in use: {_gains(best)};"
        f" {_cost(best, present)}.{also}{_others(others, present)}{left}"
    )
    return Verdict([*advice].index(best), sentence)


def _worth(each: Advice) -> tuple[int, float]:
    """Return the gains to a tenth of a point, then the time: the cheaper of equals is better."""
    return round(1000 * (_first(each) + _five(each))), -(each.learn_seconds or 0.0)


def _first(each: Advice) -> float:
    """Return the gain in R1 of a candidate that was compared."""
    assert each.r1_gain is not None
    return each.r1_gain.mean


def _five(each: Advice) -> float:
    assert each.r5_gain is not None
    return each.r5_gain.mean


def _none_better(present: Advice, compared: Sequence[Advice]) -> str:
    said = f"Nothing tried is better than {_named(present)}, in use, by more than its error"
    if not compared:
        return f"{said}: nothing else was compared."
    nearest = max(compared, key=_first)
    return f"{said}; the nearest is {_named(nearest, present)}: {_gains(nearest)}."


def _others(others: Sequence[Advice], present: Advice) -> str:
    """Return the words for other candidates that are better than the present learner."""
    if not others:
        return ""
    named = ", ".join(_named(each, present) for each in others[:MOST_NAMED])
    more = f", and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    return f" Also better than what is in use: {named}{more}."


def _left_out(failed: int) -> str:
    if not failed:
        return ""
    return f" {failed} candidate{'s have' if failed > 1 else ' has'} no figures."


def _named(each: Advice, present: Advice | None = None) -> str:
    """Return the learner, with its analysis of texts unless it is that of the present learner."""
    with_text = "" if present is None or each.text == present.text else f" with {each.text}"
    return f"`{each.learner}`{with_text}"


def _gains(each: Advice) -> str:
    return f"{_points(each.r1_gain)} R1, {_points(each.r5_gain)} R5"


def _points(gain: Gain | None) -> str:
    assert gain is not None
    mean, low, high = (f"{100 * part:+.1f}" for part in (gain.mean, gain.low, gain.high))
    return f"{mean} points [{low}, {high}]"


def _cost(each: Advice, present: Advice) -> str:
    """Return how many times the present learner's time and memory the candidate needs."""
    learn, rank, size = (
        f"{mine / max(other, 1e-9):.1f}"
        for mine, other in (
            (each.learn_seconds or 0, present.learn_seconds or 0),
            (each.rank_seconds or 0, present.rank_seconds or 0),
            (each.bytes or 0, present.bytes or 0),
        )
    )
    return f"it learns in {learn} times the time, ranks in {rank}, and needs {size} times the bytes"

"""One ranking made of several: how the votes of a committee's members are counted."""

from collections.abc import Callable, Sequence

from manyclass.core.learners.options import Vote

Ranking = list[tuple[str, float]]  # (class, score), best first

NOMINATED = 50  # classes a member puts forward: beyond it the papers score a class 0 as well


def scale(ranking: Ranking) -> tuple[float, float]:
    """(lowest, span) of a member's scores, by which `shares` makes them comparable.

    `lowest` is 0 unless a score is negative. Both are 0 for scores that are all the same and not
    above 0, and for an empty ranking.
    """
    if not ranking:
        return 0.0, 0.0
    lowest = min(0.0, ranking[-1][1])
    return lowest, ranking[0][1] - lowest


def shares(ranking: Ranking) -> Ranking:
    """The member's scores as shares of its best: from 0 to 1, its first place having 1."""
    lowest, span = scale(ranking)
    if span == 0:
        return [(name, 1.0) for name, _ in ranking]
    return [(name, (score - lowest) / span) for name, score in ranking]


def count(rankings: Sequence[Ranking], vote: Vote, times_learned: Callable[[str], int]) -> Ranking:
    """The committee's ranking: every class that a member put forward, best first.

    A class scores the mean of its shares, 0 from a member that did not put it forward, and
    - "majority": 1 more for each member that has it in first place, so that first places decide
      and the shares order what they leave equal;
    - "rarest": the same, but the class learned least often of those with a first place (the one
      with the higher score if there are several) counts as if every member had it there;
    - "score": nothing more;
    - "probability": the mean of its scores as they are, which have to be probabilities.

    Classes of equal score stand as the first member ranks them, those it did not put forward
    behind the others, as the second ranks them, and so on (Madani and Huang, flat techniques,
    section 2.3, has the three votes for the first place).
    """
    sums: dict[str, float] = {}
    firsts: dict[str, int] = {}
    for ranking in rankings:
        for name, share in ranking if vote == "probability" else shares(ranking):
            sums[name] = sums.get(name, 0.0) + share
        if ranking:
            winner = ranking[0][0]
            firsts[winner] = firsts.get(winner, 0) + 1
    means = {name: total / len(rankings) for name, total in sums.items()}
    if vote in ("score", "probability"):
        firsts.clear()
    if vote == "rarest" and firsts:
        rarest = min(
            (name for name in sums if name in firsts),
            key=lambda name: (times_learned(name), -(firsts[name] + means[name])),
        )
        firsts[rarest] = len(rankings)
    scores = [(name, firsts.get(name, 0) + mean) for name, mean in means.items()]
    return sorted(scores, key=lambda scored: -scored[1])

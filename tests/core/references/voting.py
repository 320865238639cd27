"""Rank aggregation in plain Python: the votes of core/native/ensemble, with real learners."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from manyclass.core.errors import UnknownName
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner

Ranking = list[tuple[str, float]]  # (class, score), best first
Vote = Literal["majority", "rarest", "score", "probability"]

NOMINATED = 50  # classes that a member nominates: beyond it the papers score a class 0 as well
MOST = 2**32 - 1  # places that a learner can rank


class Table(Protocol):
    """The classes of a committee, and how often each was learned."""

    def has_class(self, name: str) -> bool:
        """Return whether the committee has the class."""

    def class_(self, name: str, limit: int) -> dict[str, object]:
        """Return `learned` of a class; UnknownName."""


class Voting:
    """The vote of a committee's learners on one instance.

    Only classes of `table`, the committee's own, are nominated.
    """

    def __init__(self, learners: Sequence[Learner], table: Table, vote: Vote) -> None:
        self._learners = learners
        self._table = table
        self._vote = vote

    def rank(self, instance: Instance, k: int) -> tuple[list[Ranking], Ranking]:
        """Return the nominations of each member, and the ranking made of them.

        It has the k best classes at least, if there are as many.
        """
        if self._vote == "probability":
            return self._mean_probabilities(instance, k)
        nominations = self._nominations(instance)
        return nominations, self._count(nominations)

    def rank_among(self, instance: Instance, among: Sequence[str]) -> Ranking:
        """Return the ranking by votes on these classes alone, each of which may be nominated."""
        rankings = [learner.rank(instance, len(among), None, among) for learner in self._learners]
        return self._count(self._known(rankings))

    def spans(self, instance: Instance) -> list[float]:
        """Return for each member the divisor that makes shares of its scores."""
        if self._vote == "probability":
            return [1.0] * len(self._learners)
        return [scale(ranking)[1] for ranking in self._nominations(instance)]

    def _nominations(self, instance: Instance) -> list[Ranking]:
        return self._known(self._rankings(instance, NOMINATED))

    def _mean_probabilities(self, instance: Instance, k: int) -> tuple[list[Ranking], Ranking]:
        """Return the k best of each member, and exactly the k classes with the highest means.

        A class that no member has nominated cannot have a higher mean than the last places of the
        members have together. So the members rank twice as deep until k classes have as much (the
        threshold algorithm of Fagin et al., Optimal Aggregation Algorithms for Middleware, 2003).
        """
        depth = min(2 * k, MOST)
        while True:
            rankings = self._rankings(instance, depth)
            nominations = self._known(rankings)
            ranked = self._count(self._completed(instance, nominations))
            last = [ranking[-1][1] for ranking in rankings if len(ranking) == depth]
            most = sum(last) / len(rankings)
            if not last or (len(ranked) >= k and ranked[k - 1][1] >= most):
                return [ranking[:k] for ranking in nominations], ranked[:k]
            depth = min(2 * depth, MOST)

    def _rankings(self, instance: Instance, depth: int) -> list[Ranking]:
        return [learner.rank(instance, depth) for learner in self._learners]

    def _known(self, rankings: list[Ranking]) -> list[Ranking]:
        known = self._table.has_class
        return [[(name, score) for name, score in each if known(name)] for each in rankings]

    def _completed(self, instance: Instance, nominations: list[Ranking]) -> list[Ranking]:
        """Return the nominations with each member's probability of the others' classes."""
        named = dict.fromkeys(name for ranking in nominations for name, _ in ranking)
        completed = []
        for learner, ranking in zip(self._learners, nominations, strict=True):
            missing = list(named.keys() - {name for name, _ in ranking})
            others = zip(missing, learner.probabilities(instance, missing), strict=True)
            completed.append(ranking + sorted(others, key=lambda scored: (-scored[1], scored[0])))
        return completed

    def _count(self, nominations: list[Ranking]) -> Ranking:
        return count(nominations, self._vote, self._times_learned)

    def _times_learned(self, name: str) -> int:
        try:
            found: dict[str, Any] = self._table.class_(name, 0)
        except UnknownName:  # forgotten by another thread since it was nominated
            return 0
        learned: int = found["learned"]
        return learned


def scale(ranking: Ranking) -> tuple[float, float]:
    """Return (lowest, span) of a member's scores, by which `shares` makes them comparable.

    `lowest` is 0 unless a score is negative. Both are 0 for scores that are all the same and not
    above 0, and for an empty ranking.
    """
    if not ranking:
        return 0.0, 0.0
    lowest = min(0.0, ranking[-1][1])
    return lowest, ranking[0][1] - lowest


def shares(ranking: Ranking) -> Ranking:
    """Return a member's scores as shares of its best: from 0 to 1, its first place having 1."""
    lowest, span = scale(ranking)
    if span == 0:
        return [(name, 1.0) for name, _ in ranking]
    return [(name, (score - lowest) / span) for name, score in ranking]


def count(rankings: Sequence[Ranking], vote: Vote, times_learned: Callable[[str], int]) -> Ranking:
    """Return the committee's ranking: every class that a member nominated, best first.

    A class scores the mean of its shares, 0 from a member that did not nominate it, and
    - "majority": 1 more for each member that has it in first place, so that first places decide
      and the shares order classes with equally many;
    - "rarest": the same, but the class learned least often of those with a first place (the one
      with the higher score if there are several) counts as if every member had it there;
    - "score": nothing more;
    - "probability": the mean of its scores as they are, which have to be probabilities.

    Classes of equal score stand as the first member ranks them, then as the second ranks those
    that the first did not nominate, and so on (Madani and Huang, flat techniques, section 2.3, has
    the three votes for the first place).
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

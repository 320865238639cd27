"""The counts of answers and abstentions of a run, and why nothing was answered."""

from collections.abc import Sequence

import typer

from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.types import Ranking


class Abstentions:
    """Counts of the rankings of a run with a least confidence, or a least accuracy."""

    def __init__(self, min_confidence: float | None, min_accuracy: float | None) -> None:
        self._min_confidence = min_confidence
        self._min_accuracy = min_accuracy
        self._answered = 0
        self._abstained = 0
        self._surest: float | None = None
        self._limits: list[float | None] = []  # the least and the highest; None: no limit reaches

    def add(self, results: Sequence[Ranking]) -> None:
        """Count rankings."""
        for each in results:
            self._abstained += each.abstained
            self._answered += not each.abstained
            if each.confidence is not None:
                self._surest = max(each.confidence, self._surest or 0.0)
            if each.limit not in self._limits:
                self._limits.append(each.limit)

    def tell(self, client: Client) -> None:
        """Print the counts on standard error, and why no limit reaches the accuracy."""
        wants_any = self._min_accuracy is not None or self._min_confidence is not None
        if not wants_any or not self._answered + self._abstained:
            return
        said = f"answered {self._answered:,}, abstained {self._abstained:,}"
        typer.echo(f"{said}: {self._limit()}", err=True)
        if self._min_accuracy is not None and None in self._limits:
            typer.echo(_unreachable(client, self._min_accuracy), err=True)
        elif not self._answered:
            typer.echo(_unsure(self._surest), err=True)

    def _limit(self) -> str:
        known = sorted(each for each in self._limits if each is not None)
        if self._min_accuracy is None:
            return f"the limit of confidence is {self._min_confidence:g}"
        target = _percent(self._min_accuracy)
        if not known:
            return f"no limit of confidence makes answers {target} right yet"
        between = f"{known[0]:.3f}" + (f" to {known[-1]:.3f}" if len(known) > 1 else "")
        return f"the limit of confidence for {target} right is {between}"


def _unsure(surest: float | None) -> str:
    if surest is None:
        return (
            "no ranking has a confidence: no class was found, or the service has fewer than 100"
            " labelled events"
        )
    return f"the highest confidence was {surest:.3f}"


def _unreachable(client: Client, accuracy: float) -> str:
    """Return why no limit reaches an accuracy, from the newest outcomes."""
    target = min(max(accuracy, 1e-6), 1 - 1e-6)  # as the call takes it
    newest = client.operating_points(target, limit=1).newest
    if newest.best is None:
        return "there is no confidence yet: the service needs 100 labelled events first"
    best = newest.best
    return (
        f"of the newest {counted(newest.outcomes, 'outcome')}, the best limit, {best.limit:.3f},"
        f" answers {_percent(best.coverage)} of them: {best.right:,} of {best.answers:,} right,"
        f" which shows an accuracy of at least {_percent(best.accuracy_low)}. More labels, or a"
        " better learner (`manyclass advise`), can reach more; `manyclass learners limits` shows"
        " what is reachable"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"

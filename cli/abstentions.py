"""The counts of answers and abstentions of a run, and why nothing was answered."""

from collections.abc import Sequence
from typing import NamedTuple

import typer

from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.types import Ranking


class Limits(NamedTuple):
    """The limits of a run, as `Client.rank` takes them."""

    min_confidence: float | None = None
    min_accuracy: float | None = None
    min_probability: float | None = None
    min_precision: float | None = None


class Abstentions:
    """Counts of the rankings of a run with limits."""

    def __init__(self, limits: Limits) -> None:
        self._asked = limits
        self._answered = 0
        self._abstained = 0
        self._surest: float | None = None
        self._limits: list[float | None] = []  # applied ones; None: no limit reaches it

    def add(self, results: Sequence[Ranking]) -> None:
        """Count rankings."""
        for each in results:
            self._abstained += each.abstained
            self._answered += not each.abstained
            if each.confidence is not None:
                self._surest = max(each.confidence, self._surest or 0.0)
            if each.limit not in self._limits:
                self._limits.append(each.limit)

    @property
    def number(self) -> int:
        """The number of abstentions."""
        return self._abstained

    def tell(self, client: Client) -> None:
        """Print the counts on standard error, and why no limit reaches what was asked."""
        if self._asked == Limits() or not self._answered + self._abstained:
            return
        said = f"answered {self._answered:,}, abstained {self._abstained:,}"
        typer.echo(f"{said}: {self._limit()}", err=True)
        accuracy, precision = self._asked.min_accuracy, self._asked.min_precision
        if accuracy is not None and None in self._limits:
            typer.echo(_unreachable(client, accuracy), err=True)
        elif precision is not None and None in self._limits:
            typer.echo(_imprecise(client, precision), err=True)
        elif not self._answered:
            typer.echo(_unsure(self._surest), err=True)

    def _limit(self) -> str:
        """Return the limits that were applied; that of an accuracy counts `min_confidence` too, and
        that of a precision `min_probability`.
        """
        asked, said = self._asked, list[str]()
        if asked.min_accuracy is not None:
            target, own = _percent(asked.min_accuracy), asked.min_confidence
            said.append(
                f"the limit of confidence is {own:g}, not below that for {target} right"
                if own is not None and self._known() == [own]
                else f"the limit of confidence for {target} right is {self._between()}"
                if self._known()
                else f"no limit of confidence makes answers {target} right yet"
            )
        elif asked.min_confidence is not None:
            said.append(f"the limit of confidence is {asked.min_confidence:g}")
        if asked.min_precision is not None:
            target = _percent(asked.min_precision)
            said.append(
                f"the limit of probability for {target} right is {self._between()}"
                if self._known()
                else f"no limit of probability makes {target} of the classes right yet"
            )
        elif asked.min_probability is not None:
            said.append(f"the limit of probability is {asked.min_probability:g}")
        return ", ".join(said)

    def _known(self) -> list[float]:
        return sorted(each for each in self._limits if each is not None)

    def _between(self) -> str:
        """Return the limit, or the least and the highest."""
        known = self._known()
        return f"{known[0]:.3f}" + (f" to {known[-1]:.3f}" if len(known) > 1 else "")


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
    if reaching := newest.targets[0].point:
        return (
            "the service looks for the limit anew with every 20 outcomes, and later with every 200:"
            f" of the present {counted(newest.outcomes, 'outcome')}, {reaching.limit:.3f} reaches"
            f" it and answers {_percent(reaching.coverage)}; --min-confidence {reaching.limit:.3f}"
            " applies it now"
        )
    best = newest.best
    return (
        f"of the newest {counted(newest.outcomes, 'outcome')}, the best limit, {best.limit:.3f},"
        f" answers {_percent(best.coverage)} of them: {best.right:,} of {best.answers:,} right,"
        f" which shows an accuracy of at least {_percent(best.accuracy_low)}. More labels, or a"
        " better learner (`manyclass advise`), can reach more; `manyclass learners limits` shows"
        " what is reachable"
    )


def _imprecise(client: Client, precision: float) -> str:
    """Return why no limit of probability reaches a precision, from the kept rankings."""
    target = min(max(precision, 1e-6), 1 - 1e-6)  # as the call takes it
    points = client.operating_points(target, limit=1).probabilities
    best = points.best
    if best is None:
        return "there is no probability yet: the service needs 100 labelled events first"
    if reaching := points.targets[0].point:
        limit = f"{reaching.limit:.3f}"
        return (
            "the service looks for the limit anew with every 100 outcomes: of the present ones,"
            f" {limit} reaches it; --min-probability {limit} applies it now"
        )
    return (
        f"the best limit of probability, {best.limit:.3f}, gives {best.classes:,} classes:"
        f" {best.right:,} right, which shows a precision of at least"
        f" {_percent(best.precision_low)}. `manyclass learners limits --precision` shows what is"
        " reachable"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"

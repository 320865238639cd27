"""manyclass learners: compare, add, remove and promote learners of a service; their limits."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import typer

from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.printable import printable
from manyclass.cli.run_summary import counted
from manyclass.client.types import (
    Learner,
    OperatingCurve,
    OutcomeGroup,
    ProbabilityCurve,
    TargetPoint,
)

app = typer.Typer(
    help="Compare, add, remove and promote the learners of a running service, and choose a limit."
)

LIMIT_HEADS: Final = ("target", "limit", "answered", "right", "classes")
PRECISION_HEADS: Final = ("target", "limit", "precision", "recall", "classes each")
HEADS: Final = ("learner", "role", "events", "R1", "R5", "MRR", "µs/event", "edges", "bytes")


@app.command("list")
def list_learners(
    url: Url = URL,
    key: Key = None,
    window: Annotated[
        Literal["100", "1000", "10000"],
        typer.Option(help="The number of latest events to measure the accuracy on."),
    ] = "10000",
) -> None:
    """Print the learners, the primary one first.

    R1, R5 and MRR are progressive: they use the rank of the best true class before the event was
    learned. Compare only learners with the same number of events.
    """
    with connected(url, key) as client:
        rows = [_row(learner, window) for learner in client.learners()]
    _print(HEADS, rows, names=2)


@app.command()
def limits(
    url: Url = URL,
    key: Key = None,
    target: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=0.999, help="A share of right answers; else 0.8, 0.9, 0.95 and 0.99."
        ),
    ] = None,
    by: Annotated[
        Literal["class", "source"] | None,
        typer.Option(help="Print the limits of each class, or of each source.", show_default=False),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(help="The name that `list` prints; else the primary one.", show_default=False),
    ] = None,
    window: Annotated[
        Literal["newest", "all"],
        typer.Option(help="The newest 10,000 outcomes, or all that are kept, at most 100,000."),
    ] = "all",
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="Largest number of classes or sources.")
    ] = 20,
    precision: Annotated[
        bool,
        typer.Option(
            "--precision",
            help="Print limits of the probability of each class, for events with several classes.",
        ),
    ] = False,
) -> None:
    """Print the least limits of confidence whose answers were right often enough.

    Use a limit as `--min-confidence` of `manyclass rank`. "answered" is the share of past events
    that reach the limit, "right" the share of right ones among them, and "classes" the number of
    different classes among these answers.

    With --precision, use a limit as `--min-probability` of `manyclass rank`: "precision" is the
    share of right ones among the classes that reach it, "recall" their share of all true classes,
    and "classes each" how many of them a ranking has.
    """
    if precision and by is not None:
        raise typer.BadParameter(
            "is of all classes together: leave out --by", param_hint="--precision"
        )
    with connected(url, key) as client:
        found = client.operating_points(target, by, window, learner, limit)
    if precision:
        _print_precision(found.learner, found.probabilities)
        return
    curve = found.newest if window == "newest" else found.all
    typer.echo(f"{found.learner}: {curve.outcomes:,} outcomes, {_share(curve.accuracy)} right")
    if found.groups is None:
        _print(LIMIT_HEADS, [_limit(each) for each in curve.targets], names=1)
        _say_unreached(curve)
        return
    heads = [by or "", "outcomes", "right"]
    heads += [f"limit for {each.target:.3g}" for each in found.groups.reached]
    _print(heads, [_group(each) for each in found.groups.groups], names=1)
    for each in found.groups.reached:
        typer.echo(f"{each.groups:,} of {found.groups.total:,} reach {each.target:.3g}")


@app.command()
def add(
    learner: Annotated[str, typer.Argument(help="Its specification, in quotes: 'svm(C=0.3)'.")],
    url: Url = URL,
    key: Key = None,
    history: Annotated[
        bool,
        typer.Option("--history", help="Let it learn the whole history, by a rebuild."),
    ] = False,
) -> None:
    """Add a shadow, without a restart.

    It learns every event from now on. Compare it with `list`, and promote it if it is better.
    """
    with connected(url, key) as client:
        added = client.add_learner(learner, history)
    learned = ""
    if added.rebuild is not None:
        learned = f"; it has learned {counted(added.rebuild.events, 'event')} of the history"
    typer.echo(f"{added.learner} is a shadow, by event {added.seq} of the log{learned}")


@app.command()
def remove(
    learner: Annotated[str, typer.Argument(help="The name that `list` prints, in quotes.")],
    url: Url = URL,
    key: Key = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a shadow with all it has learned, without a restart."""
    with connected(url, key) as client:
        if not yes:
            typer.confirm(f"Remove {learner} at {client.url}, with all it learned?", abort=True)
        seq = client.remove_learner(learner)
    typer.echo(f"{learner} is removed, by event {seq} of the log")


@app.command()
def promote(
    learner: Annotated[str, typer.Argument(help="The name that `list` prints, in quotes.")],
    url: Url = URL,
    key: Key = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Make a shadow the primary learner, without a restart.

    The former primary becomes a shadow, and can be promoted back.
    """
    with connected(url, key) as client:
        if not yes:
            typer.confirm(f"Make {learner} the primary learner at {client.url}?", abort=True)
        seq = client.promote(learner)
    typer.echo(f"{learner} is the primary learner, by event {seq} of the log")


def _limit(target: TargetPoint) -> list[str]:
    point = target.point
    if point is None:
        return [f"{target.target:.3g}", *"----"]
    figures = f"{point.limit:.3f}", _share(point.coverage), _share(point.accuracy)
    return [f"{target.target:.3g}", *figures, f"{point.classes:,}"]


def _print_precision(learner: str, curve: ProbabilityCurve) -> None:
    """Print the limits of probability, and what is possible where a target is not reached."""
    typer.echo(
        f"{learner}: {counted(curve.rankings, 'ranking')} with {curve.true_classes:,} true classes"
    )
    rows = []
    for each in curve.targets:
        target, point = f"{each.target:.3g}", each.point
        if point is None:
            rows.append([target, *"----"])
            continue
        figures = f"{point.limit:.3f}", _share(point.precision), _share(point.recall)
        rows.append([target, *figures, f"{point.classes / curve.rankings:.2f}"])
    _print(PRECISION_HEADS, rows, names=1)
    best = curve.best
    if best is not None and any(each.point is None for each in curve.targets):
        typer.echo(
            f"- no limit reaches it yet: of the {best.classes:,} classes from {best.limit:.3f} on,"
            f" {_share(best.precision)} were right, which is at least {_share(best.precision_low)}"
        )


def _say_unreached(curve: OperatingCurve) -> None:
    """Say what is possible where a target is not reached."""
    best = curve.best
    if best is not None and any(each.point is None for each in curve.targets):
        typer.echo(
            f"- no limit reaches it yet: at best {_share(best.coverage)} are answered, from"
            f" {best.limit:.3f} on, {best.right:,} of {best.answers:,} right, which shows at least"
            f" {_share(best.accuracy_low)}"
        )


def _group(group: OutcomeGroup) -> list[str]:
    points = (each.point for each in group.targets)
    return [
        group.name,
        f"{group.outcomes:,}",
        _share(group.accuracy),
        *("-" if point is None else f"{point.limit:.3f}" for point in points),
    ]


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _print(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int) -> None:
    """Print a table whose first columns are names, aligned to the left."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            printable(cell).ljust(width) if at < names else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())


def _row(learner: Learner, window: str) -> tuple[str, ...]:
    accuracy, seconds = learner.accuracy[window], learner.learn_seconds
    return (
        learner.label,
        "primary" if learner.primary else "shadow",
        f"{accuracy.examples:,}",
        f"{accuracy.r1:.3f}",
        f"{accuracy.r5:.3f}",
        f"{accuracy.mrr:.3f}",
        "" if seconds is None else f"{seconds * 1e6:,.1f}",
        f"{learner.edges:,}",
        f"{learner.bytes:,}",
    )

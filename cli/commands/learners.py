"""manyclass learners: compare, add, remove and promote the learners of a running service."""

from typing import Annotated, Final, Literal

import typer

from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.run_summary import counted
from manyclass.client.types import Learner

app = typer.Typer(help="Compare, add, remove and promote the learners of a running service.")

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
    widths = [max(map(len, column)) for column in zip(HEADS, *rows, strict=True)]
    for row in (HEADS, *rows):
        names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        typer.echo("  ".join([*names, *figures]))


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

"""manyclass advise: compare other learners with the present one on the history of a service."""

import time
from typing import Annotated, Final

import typer

from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.progress_bar import bar
from manyclass.cli.run_summary import counted
from manyclass.client.advice import AdviceStatus, CandidateAdvice, Gain
from manyclass.client.client import Client

POLL_SECONDS = 0.5
STEPS = 100  # of the bar, for each candidate
HEADS: Final = (
    *("learner", "text", "R1", "R5", "more R1 (99 %)", "more R5 (99 %)"),
    *("learn µs", "rank µs", "bytes"),
)


def advise(
    url: Url = URL,
    key: Key = None,
    last: Annotated[
        int, typer.Option(min=300, help="Number of the newest events to learn and compare on.")
    ] = 20_000,
    seconds: Annotated[
        float, typer.Option(min=1, help="Seconds in which candidates must be done.")
    ] = 600,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner", help="A further candidate: 'svm(C=0.5)'; again for more.", metavar="SPEC"
        ),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Print the last comparison without starting one.")
    ] = False,
) -> None:
    """Compare presets, options and analyses of texts with the present learner, on past events.

    The service runs the comparison in a process of low priority; nothing else changes. Each
    candidate ranks every event before it learns it. Figures are about the newest events. A star
    marks a candidate that is surely better; `manyclass learners add SPEC --history` makes it a
    shadow. Ctrl-C ends the comparison.
    """
    with connected(url, key) as client:
        if not status:
            client.start_advice(last, seconds, learner or ())
        try:
            found = _ended(client)
        except KeyboardInterrupt:
            found = client.stop_advice()
    _print(found)


def _ended(client: Client) -> AdviceStatus:
    """Return the state of the comparison when it has ended; show a bar meanwhile."""
    found = client.advice()
    while found.state == "running" and not found.of:
        time.sleep(POLL_SECONDS)
        found = client.advice()
    if found.state != "running":
        return found
    with bar(found.of * STEPS) as move:
        while found.state == "running":
            move(int((found.at + found.share) * STEPS), f"{found.learner} {found.text}")
            time.sleep(POLL_SECONDS)
            found = client.advice()
    return found


def _print(found: AdviceStatus) -> None:
    if found.advice:
        rows = [_row(each) for each in found.advice]
        widths = [max(map(len, column)) for column in zip(HEADS, *rows, strict=True)]
        for row in (HEADS, *rows):
            names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
            figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
            typer.echo("  ".join([*names, *figures]).rstrip())
        typer.echo(f"on the newest {found.counted:,} of {counted(found.events, 'event')}", err=True)
    for each in found.advice:
        if each.failed:
            typer.echo(f"{each.learner} with {each.text}: {each.failed}", err=True)
    for note in found.notes:
        typer.echo(note, err=True)
    if found.verdict is not None:
        typer.echo(f"\n{found.verdict}")
    if found.state == "failed":
        complain(found.error or "the comparison failed")
        raise typer.Exit(FAILED)
    if found.state == "none":
        typer.echo("there was no comparison since the service started", err=True)


def _row(each: CandidateAdvice) -> tuple[str, ...]:
    return (
        each.learner + (" *" if each.advised else ""),
        each.text,
        _figure(each.r1, ".3f"),
        _figure(each.r5, ".3f"),
        _interval(each.r1_gain),
        _interval(each.r5_gain),
        _figure(each.learn_seconds and each.learn_seconds * 1e6, ",.1f"),
        _figure(each.rank_seconds and each.rank_seconds * 1e6, ",.1f"),
        _figure(each.bytes, ","),
    )


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _interval(gain: Gain | None) -> str:
    if gain is None:
        return ""
    return f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"

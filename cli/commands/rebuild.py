"""manyclass rebuild: make a running service rebuild its state from the amended history."""

import time
from http import HTTPStatus
from typing import Annotated

import typer

from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused
from manyclass.client.types import RebuildReport

POLL_SECONDS = 0.2


def rebuild(
    url: Url = URL,
    key: Key = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="A shadow to learn the whole history, as if it had been there from the first event"
            " on: 'svm(replay=4)'. A new one is added to the shadows; promote it afterwards."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="PARTS",
            help="Another text analysis, with which all texts of the history are analysed again:"
            " 'words+pairs'. The new state is as if the service had started with it.",
        ),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Print the status of rebuilds without starting one.")
    ] = False,
) -> None:
    """Make a running service replay its history with all corrections and deletions.

    The service ranks and learns meanwhile. The command ends when the new state is durable; Ctrl-C
    ends the command, not the rebuild. If a rebuild is already in progress, for example after a
    merge of classes, the command first waits for its end.
    """
    with connected(url, key) as client:
        if not status:
            report = _rebuilt(client, learner, text)
            _print(report)
            if text is not None:
                typer.echo(f"texts are analysed with {report.text}")
            return
        found = client.rebuild_status()
    if found.running:
        typer.echo(f"a rebuild is in progress: {counted(found.learned, 'event')} learned")
    waiting = counted(found.waiting, "amended event waits", "amended events wait")
    typer.echo(f"{waiting} for a rebuild")
    if found.merged is not None:
        typer.echo(
            f"classes were merged by event {found.merged}: until a rebuild, rankings lack the"
            " events of the merged class"
        )
    if found.last is not None:
        _print(found.last)


def _rebuilt(client: Client, learner: str | None, text: str | None) -> RebuildReport:
    """Rebuild the state, after a rebuild in progress has ended."""
    while True:
        try:
            return client.rebuild(learner, text)
        except RequestRefused as refused:
            if refused.status != HTTPStatus.CONFLICT or not client.rebuild_status().running:
                raise
        typer.echo("a rebuild is in progress; waiting for its end", err=True)
        while client.rebuild_status().running:
            time.sleep(POLL_SECONDS)


def _print(report: RebuildReport) -> None:
    typer.echo(
        f"rebuilt the state at event {report.seq} from snapshot {report.base} on, in"
        f" {report.seconds:.1f} s: {counted(report.events, 'event')} learned, {report.corrected:,}"
        f" corrected, {report.deleted:,} deleted"
    )
    if report.base:
        typer.echo(f"events up to {report.base} are in the state as they were first learned")
    if report.unreached:
        unreached = counted(report.unreached, "amended event is", "amended events are")
        typer.echo(f"{unreached} among these: their data remains in the state", err=True)

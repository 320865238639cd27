"""manyclass rebuild: have a running service learn its history again, as it was amended."""

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
            help="A shadow that learns the whole history, as if there from the first event on:"
            " 'svm(replay=4)'. A new one joins the shadows; promote it afterwards."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="PARTS",
            help="Another analysis of texts, by which all texts of the history are read again:"
            " 'words+pairs'. The state is then that of a service begun with it.",
        ),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Start none; print the state of rebuilds.")
    ] = False,
) -> None:
    """Have a running service learn its history again, with the events as corrected and deleted.

    The service ranks and learns meanwhile. The command ends when the new state is durable; Ctrl-C
    ends the command, not the rebuild. While the service rebuilds of its own accord, after a merge
    of classes for example, the command waits for that rebuild first.
    """
    with connected(url, key) as client:
        if not status:
            report = _rebuilt(client, learner, text)
            _print(report)
            if text is not None:
                typer.echo(f"texts are read by {report.text}")
            return
        found = client.rebuild_status()
    if found.running:
        typer.echo(f"a rebuild is under way: {counted(found.learned, 'event')} learned")
    waiting = counted(found.waiting, "amended event waits", "amended events wait")
    typer.echo(f"{waiting} for a rebuild")
    if found.last is not None:
        _print(found.last)


def _rebuilt(client: Client, learner: str | None, text: str | None) -> RebuildReport:
    """Rebuild the state, behind a rebuild that is under way."""
    while True:
        try:
            return client.rebuild(learner, text)
        except RequestRefused as refused:
            if refused.status != HTTPStatus.CONFLICT or not client.rebuild_status().running:
                raise
        typer.echo("a rebuild is under way; waiting for its end", err=True)
        while client.rebuild_status().running:
            time.sleep(POLL_SECONDS)


def _print(report: RebuildReport) -> None:
    typer.echo(
        f"rebuilt the state at event {report.seq} from snapshot {report.base} on, in"
        f" {report.seconds:.1f} s: {counted(report.events, 'event')} learned, {report.corrected:,}"
        f" corrected, {report.deleted:,} deleted"
    )
    if report.base:
        typer.echo(f"events up to {report.base} are in the state as they were taught")
    if report.unreached:
        unreached = counted(report.unreached, "amended event is", "amended events are")
        typer.echo(f"{unreached} among these: their data is left", err=True)

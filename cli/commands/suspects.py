"""manyclass suspects: list the events whose label is likely wrong."""

import sys
from typing import Annotated

import msgspec
import typer

from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.event_text import beginning_of
from manyclass.cli.printable import print_cells
from manyclass.client.types import Suspect

MOST_LISTED = 100
MOST_EVENTS = 10_000


def suspects(
    url: Url = URL,
    key: Key = None,
    last: Annotated[
        int, typer.Option(min=1, max=MOST_EVENTS, help="Number of the newest events to examine.")
    ] = MOST_EVENTS,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_LISTED, help="Largest number of events to list.")
    ] = 20,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print each event in full, as a line of JSON."),
    ] = False,
) -> None:
    """List learned events whose label is likely wrong, most likely first.

    Each line has the key of the event, the confidence that its label is wrong, the best other
    class, the true classes of the event, and the beginning of the instance, separated by tabs.
    `manyclass events correct` takes the key.
    """
    with connected(url, key) as client:
        found = client.suspects(last, limit)
    if json:
        sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(found))
        sys.stdout.buffer.flush()
        return
    if not found:
        typer.echo("no label is likely wrong", err=True)
    for each in found:
        print_cells(_cells(each))


def _cells(suspect: Suspect) -> list[str]:
    event = suspect.event
    return [
        event.key,
        f"{suspect.confidence:.3f}",
        suspect.suggested,
        ",".join(event.classes),
        beginning_of(event),
    ]

"""manyclass confusions: list the classes that a running service confuses."""

import sys
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer

from manyclass.cli.commands.suspects import MOST_EVENTS
from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.printable import print_cells
from manyclass.cli.run_summary import counted
from manyclass.client.types import ClassErrors, ConfusedPair

MOST_LISTED = 1000


def confusions(
    url: Url = URL,
    key: Key = None,
    last: Annotated[
        int, typer.Option(min=1, max=MOST_EVENTS, help="Number of the newest events to count.")
    ] = MOST_EVENTS,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_LISTED, help="Largest number of lines.")
    ] = 20,
    classes: Annotated[
        bool, typer.Option("--classes", help="List classes with recall and precision, not pairs.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print each line as a JSON object.")] = False,
) -> None:
    """List pairs of confused classes, most frequent first.

    Each line has the number of events, the class ranked first, the true class, and the keys of some
    of these events, separated by tabs. With `--classes`, each line has a class, its number of
    events, recall and precision; `-` means that there is no value. Classes with the most errors
    come first.
    """
    with connected(url, key) as client:
        report = client.confusions(last, limit)
    listed: Sequence[ConfusedPair | ClassErrors] = report.classes if classes else report.pairs
    if json:
        sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(listed))
        sys.stdout.buffer.flush()
        return
    first = "-" if report.r1 is None else f"{report.r1:.3f}"
    typer.echo(
        f"{counted(report.events, 'event')}, ranked right before learning: {first}", err=True
    )
    for each in listed:
        print_cells(_of_pair(each) if isinstance(each, ConfusedPair) else _of_class(each))


def _of_pair(pair: ConfusedPair) -> list[str]:
    keys = " ".join(f"seq:{seq}" for seq in pair.events)
    return [str(pair.count), pair.ranked_first, pair.true, keys]


def _of_class(errors: ClassErrors) -> list[str]:
    shares = ("-" if each is None else f"{each:.3f}" for each in (errors.recall, errors.precision))
    return [errors.name, str(errors.events), *shares]

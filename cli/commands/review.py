"""manyclass review: list the ranked instances with the most useful labels."""

import sys
from typing import Annotated, Final

import msgspec
import typer

from manyclass.cli.connection import URL, Key, Url, complain, connected
from manyclass.cli.event_text import beginning_of_text
from manyclass.cli.printable import print_cells
from manyclass.client.types import ReviewInstance
from manyclass.service.http.schemas.review import DEFAULT_REVIEWED, MOST_REVIEWED

SHOWN_FEATURES: Final = 12  # of an instance on the terminal


def review(
    url: Url = URL,
    key: Key = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_REVIEWED, help="Largest number of instances.")
    ] = DEFAULT_REVIEWED,
    learner: Annotated[
        str | None,
        typer.Option(
            help="Rank the instances with this learner, named as by `manyclass learners list`.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print each instance in full, as a line of JSON.")
    ] = False,
) -> None:
    """List ranked instances that wait for a label, least certain first.

    Label an instance by its id with POST /learn, or with `manyclass learn` and lines such as
    {"id": "...", "classes": ["..."]}. The list contains the instances of the answering process.
    """
    with connected(url, key) as client:
        found = client.review(limit, learner)
    instances = found.instances
    if found.failing is not None:
        complain(f"warning: not all that waits can be stored or read now: {found.failing}")
    if json:
        sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(instances))
        sys.stdout.buffer.flush()
        return
    if not instances:
        typer.echo("no ranked instance waits for a label", err=True)
    for each in instances:
        print_cells(_cells(each))


def _cells(instance: ReviewInstance) -> list[str]:
    confidence = "-" if instance.confidence is None else f"{instance.confidence:.3f}"
    ranked = ", ".join(instance.ranked) or "(no class)"
    return [instance.id, confidence, f"{instance.age:,.0f} s", ranked, _content(instance)]


def _content(instance: ReviewInstance) -> str:
    if instance.text is not None:
        return beginning_of_text(instance.text)
    names = list(instance.features)
    more = len(names) + instance.omitted_features - SHOWN_FEATURES
    return ", ".join(names[:SHOWN_FEATURES]) + (f", and {more} more" if more > 0 else "")

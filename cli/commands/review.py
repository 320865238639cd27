"""manyclass review: list the ranked instances with the most useful labels."""

import sys
from typing import Annotated, Final

import msgspec
import typer

from manyclass.cli.connection import URL, Key, Url, complain, connected
from manyclass.cli.event_text import beginning_of_text
from manyclass.cli.printable import print_cells
from manyclass.cli.run_summary import counted
from manyclass.client.types import Review, ReviewInstance
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
    reviewer: Annotated[
        str | None,
        typer.Option(
            help="Lease the listed instances to this person for two minutes, so that no other"
            " reviewer gets them. A key with a name decides. Without the option, none is leased.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only instances of this source.", show_default=False)
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="Only instances that were given in this batch.", show_default=False),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="The order: `uncertain` or `random`; or a choice: `class:X`, instances of which"
            " class X was ranked first; `suspect`, learned events whose label is likely wrong."
        ),
    ] = "uncertain",
    abstained: Annotated[
        bool,
        typer.Option(
            "--abstained",
            help="Only instances that were not answered automatically: ranked ones, answered"
            " without classes, because the confidence was below the limit, and given ones.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print each instance in full, as a line of JSON.")
    ] = False,
) -> None:
    """List instances that wait for a label, least certain first.

    Each line has the id, the confidence, the age, the ranked classes and the beginning of the
    instance, separated by tabs. Label an instance by its id: with POST /learn, or with `manyclass
    learn` and lines such as {"id": "...", "classes": ["..."]}, or a table and --ranked-id-column.
    """
    with connected(url, key) as client:
        found = client.review(
            limit,
            learner,
            source,
            batch=batch,
            reviewer=reviewer,
            lease=reviewer is not None,
            strategy=strategy,
            abstained=abstained,
        )
    if reviewer is not None and found.reviewer != reviewer:
        complain(f"warning: the key has the name {found.reviewer}, which counts, not {reviewer}")
    if found.failing is not None:
        complain(f"warning: not all that waits can be stored or read now: {found.failing}")
    if json:
        sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(found.instances))
        sys.stdout.buffer.flush()
    else:
        for each in found.instances:
            print_cells(_cells(each))
    typer.echo(_summary(found), err=True)


def _summary(found: Review) -> str:
    """Return how many instances wait, are listed and leased."""
    waiting, listed = found.waiting, len(found.instances)
    if not waiting:
        return "no such instance waits for a label"
    leased = ""
    if found.reviewer is not None and listed:
        leased = f", leased to {found.reviewer} for {found.lease_seconds:,.0f} s"
    wait = "waits" if waiting == 1 else "wait"
    return f"{counted(waiting, 'instance')} {wait} for a label, {listed} listed{leased}"


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

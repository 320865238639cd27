"""manyclass events: list, correct and delete the learned events of a running service."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Annotated, Final

import msgspec
import typer

from manyclass.cli.class_names import close_names, has_class
from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.event_text import beginning_of
from manyclass.cli.printable import print_cells
from manyclass.cli.run_summary import counted
from manyclass.cli.taught_batches import events_of, in_words
from manyclass.client.bodies import Origin
from manyclass.client.client import Client
from manyclass.client.types import TaughtEvent
from manyclass.service.http.moments import moment_of
from manyclass.service.http.schemas.review import MOST_REVIEWED
from manyclass.training.label_survey import plain_label

app = typer.Typer(help="List, correct and delete the learned events of a running service.")

KEY_HELP = (
    "The key that `list` prints: an event_id, id: and an event_id, or seq: and a number; or the id"
    " of a ranked instance."
)
MOST_SEARCHED: Final = 1000  # events, for other spellings of a name
UNKNOWN = "?"
NOTHING = "-"

EventKey = Annotated[str, typer.Argument(help=KEY_HELP)]


def _seconds(given: str | None, ends: bool = False) -> float | None:
    """Return the unix seconds of a time in the form of GET /events. Raises BadParameter."""
    try:
        return None if given is None else moment_of(given, ends)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


@app.command("list")
def list_events(
    url: Url = URL,
    key: Key = None,
    of_class: Annotated[
        str | None,
        typer.Option("--class", help="List only events with this true class.", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="List only events of this source.", show_default=False)
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(help="List only events of this reviewer.", show_default=False)
    ] = None,
    batch: Annotated[
        str | None, typer.Option(help="List only events of this batch.", show_default=False)
    ] = None,
    instance_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="List only events that label the ranked instance with this id.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="List only events that contain each of these words or parts of words, in any case:"
            " in the text, the features, an id, the source, the reviewer or the batch.",
            metavar="WORDS",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            help="List only events from this time on: a date such as 2026-11-25, a time such as"
            " 2026-11-25T09:30:00Z, in UTC unless it names another zone, or unix seconds.",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            help="List only events up to this time, or to the end of this date.",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    wrong: Annotated[
        bool,
        typer.Option(
            "--wrong",
            help="List only events whose true class was not ranked first before learning.",
        ),
    ] = False,
    undone: Annotated[
        bool,
        typer.Option("--undone", help="List also events that a restore has undone, as (undone)."),
    ] = False,
    oldest: Annotated[bool, typer.Option("--oldest", help="List the oldest events first.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Largest number of events; 0: no limit.")] = 100,
    json: Annotated[
        bool, typer.Option("--json", help="Print each event in full, as a line of JSON.")
    ] = False,
) -> None:
    """Print the learned events, newest first, with their corrected classes.

    Each line has the key of the event, its time, its source, its true classes, the rank of the best
    true class before learning, and the beginning of the instance, separated by tabs. `-` means that
    there is no value, `?` that it was not recorded.
    """
    began, ended = _seconds(since), _seconds(until, ends=True)
    with connected(url, key) as client:
        events = client.events(
            of_class=of_class,
            source=source,
            reviewer=reviewer,
            batch=batch,
            instance_id=instance_id,
            text=text,
            since=began,
            until=ended,
            wrong=wrong,
            undone=undone,
            oldest_first=oldest,
            page=min(limit or 1000, 1000),
        )
        listed = False
        for event in islice(events, limit or None):
            listed = True
            if json:
                sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
                sys.stdout.buffer.flush()
            else:
                print_cells(_cells(event))
    if not listed:
        typer.echo("no event is listed", err=True)


@app.command()
def correct(
    event: EventKey,
    classes: Annotated[
        list[str], typer.Argument(help="All right classes of the event.", metavar="CLASS...")
    ],
    new_class: Annotated[
        bool, typer.Option("--new-class", help="Allow a class that is new to the service.")
    ] = False,
    url: Url = URL,
    key: Key = None,
) -> None:
    """Correct the true classes of an event.

    The service learns the event with these classes at once. The next rebuild removes the effect of
    the wrong classes on the weights. A class that is new to the service is refused as a likely
    mistake, unless --new-class is given.
    """
    with connected(url, key) as client:
        if not new_class:
            _check_classes(client, classes)
        amended = client.correct(event, classes)
    if amended.changed:
        typer.echo(f"event {amended.amended} is corrected, by event {amended.seq} of the log")
    else:
        typer.echo(f"event {amended.amended} has these classes already")


@app.command()
def delete(
    event: Annotated[
        str | None,
        typer.Argument(
            help=KEY_HELP,
            metavar="[EVENT]",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Delete all events of this source.", show_default=False)
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(help="Delete all events of this reviewer.", show_default=False)
    ] = None,
    batch: Annotated[
        str | None, typer.Option(help="Delete all events of this batch.", show_default=False)
    ] = None,
    url: Url = URL,
    key: Key = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete an event, all events that label a ranked instance, or all events of a source.

    With --source, --reviewer and --batch, events that match all of them are deleted, also events
    that a restore has undone. From now on the events are neither listed nor replayed. The next
    rebuild (`manyclass rebuild`) removes their effect on the weights and all copies of them that
    the service has written. Other spellings of a name, in case, blanks or accents, are named: their
    events are not deleted.
    """
    origin = Origin()
    if source is not None:
        origin["source"] = source
    if reviewer is not None:
        origin["reviewer"] = reviewer
    if batch is not None:
        origin["batch"] = batch
    if (event is None) == (not origin):
        raise typer.BadParameter("name either an EVENT, or --source, --reviewer or --batch NAME")
    with connected(url, key) as client:
        for kind, name in origin.items():
            if others := _other_spellings(client, kind, str(name)):
                names = ", ".join(repr(each) for each in others)
                complain(f"another spelling of the {kind} {name!r}, which is not deleted: {names}")
        if not yes:
            typer.confirm(f"Delete {_deleted(client, event, origin)} at {client.url}?", abort=True)
        if event is not None:
            deleted = client.delete_event(event)
        else:
            deleted = client.delete_events(**origin)
    by = "" if deleted.seq is None else f", up to event {deleted.seq} of the log"
    waiting = f" and {deleted.waiting:,} that waited for review" if deleted.waiting else ""
    typer.echo(f"deleted {counted(deleted.deleted, 'event')}{waiting}{by}")
    if deleted.deleted:
        complain("`manyclass rebuild` removes their effect and their bytes; until then they stay")


def _check_classes(client: Client, names: Sequence[str]) -> None:
    """End the command if the service has no class with one of these names."""
    for name in names:
        if not has_class(client, name):
            close = " or ".join(f"{each!r}" for each in close_names(client, name))
            meant = f"did you mean {close}? " if close else ""
            complain(f"there is no class {name!r}; {meant}--new-class adds it")
            raise typer.Exit(FAILED)


def _other_spellings(client: Client, kind: str, name: str) -> list[str]:
    """Return the other spellings of an origin, among the newest events that have its words, and
    among instances that wait for review."""
    if not name.strip():
        return []
    events = islice(client.events(text=name, undone=True, page=MOST_SEARCHED), MOST_SEARCHED)
    waiting = () if kind == "reviewer" else client.review(MOST_REVIEWED, lease=False).instances
    found = dict.fromkeys(getattr(each, kind) for each in chain(events, waiting))
    plain = plain_label(name)
    return [each for each in found if each and each != name and plain_label(each) == plain]


def _deleted(client: Client, event: str | None, origin: Origin) -> str:
    """Return the words for the events to delete: one, or those of an origin."""
    if event is not None:
        return f"event {event}"
    names = " and ".join(f"{what} {name!r}" for what, name in origin.items())
    return f"{in_words(events_of(client, origin, undone=True))} of {names}"


def _cells(event: TaughtEvent) -> list[str]:
    rank = NOTHING if event.rank_before is None else str(event.rank_before)
    return [
        event.key,
        NOTHING if event.time is None else f"{datetime.fromtimestamp(event.time, UTC):%F %T} UTC",
        event.source or NOTHING,
        ",".join(event.classes) or NOTHING,
        rank if event.outcome_known else UNKNOWN,
        f"(undone) {beginning_of(event)}" if event.undone else beginning_of(event),
    ]

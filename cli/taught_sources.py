"""The sources that events are taught by, and the refusal to teach one twice."""

import os
from functools import cache
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.request_lines import Body
from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused

MOST_COUNTED: Final = 10_000
PAGE: Final = 1000


def default_source(file: str) -> str | None:
    """Return the base name of a file; None for standard input and other pipes."""
    path = Path(file)
    return os.fsencode(path.name).decode(errors="replace") if path.is_file() else None


def events_of(client: Client, source: str) -> int:
    """Return the number of events of a source in the history, at most MOST_COUNTED + 1."""
    return sum(1 for _ in islice(client.events(source=source, page=PAGE), MOST_COUNTED + 1))


def in_words(events: int) -> str:
    """Return a number of events in words, as counted by `events_of`."""
    if events > MOST_COUNTED:
        return f"more than {MOST_COUNTED:,} events"
    return counted(events, "event")


class TaughtSources:
    """Adds its source to an event, and ends the command where the source was taught before.

    An event with an `event_id` may be sent again: the service learns it once.
    """

    def __init__(self, client: Client, allowed: str | None, is_checked: bool) -> None:
        """Events of the source `allowed`, and of all if not `is_checked`, are never refused."""
        self._client = client
        self._allowed = allowed
        self._is_checked = is_checked
        self._number_of = cache(self._counted)

    def named(self, event: Body, source: str | None) -> Body:
        """Return the event with the source, unless it names one. Raises typer.Exit."""
        if source is None or "source" in event:
            return event
        if "event_id" not in event:
            self.check(source)
        return {**event, "source": msgspec.Raw(msgspec.json.encode(source))}

    def check(self, source: str) -> None:
        """End the command if the history has events of the source."""
        if not self._is_checked or source == self._allowed:
            return
        if number := self._number_of(source):
            complain(
                f"the service has {in_words(number)} of the source {source!r} already. Add --again"
                " to teach it once more, --skip N to go on behind line N after an interruption, or"
                " --source with another name if the file is another one;"
                f" `manyclass events delete --source {source!r}` takes them back"
            )
            raise typer.Exit(FAILED)

    def _counted(self, source: str) -> int:
        try:
            return events_of(self._client, source)
        except RequestRefused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            complain(
                f"the service keeps no history, which would tell whether {source!r} was taught"
                " before"
            )
            return 0

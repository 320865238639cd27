"""The batches that events are taught with, and the refusal to teach one twice."""

import os
from functools import cache
from http import HTTPStatus
from itertools import islice, takewhile
from pathlib import Path
from shlex import quote
from typing import Final

import msgspec
import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.request_lines import Body
from manyclass.cli.run_summary import counted
from manyclass.client.bodies import Origin
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused
from manyclass.training.lines import STANDARD_INPUT, Source

MOST_COUNTED: Final = 10_000
PAGE: Final = 1000


def is_kept(file: str) -> bool:
    """Return whether a file can be read again; not so standard input and other pipes."""
    return file != STANDARD_INPUT and Path(Source(file).file).is_file()


def default_batch(file: str) -> str | None:
    """Return the base name of a file; None for standard input and other pipes."""
    return os.fsencode(Path(file).name).decode(errors="replace") if is_kept(file) else None


def events_of(
    client: Client, origin: Origin, last: int | None = None, *, undone: bool = False
) -> int:
    """Return the number of events of an origin in the history, at most MOST_COUNTED + 1.

    Those behind event `last` do not count; with `undone`, those do that a restore has undone.
    """
    events = client.events(**origin, page=PAGE, oldest_first=last is not None, undone=undone)
    former = takewhile(lambda event: last is None or event.seq <= last, events)
    return sum(1 for _ in islice(former, MOST_COUNTED + 1))


def in_words(events: int) -> str:
    """Return a number of events in words, as counted by `events_of`."""
    if events > MOST_COUNTED:
        return f"more than {MOST_COUNTED:,} events"
    return counted(events, "event")


class TaughtBatches:
    """Adds its batch, source and reviewer to an event, and ends the command if the batch was taught
    before.

    An event with an `event_id` may be sent again, and so may the label of a ranked instance: the
    service learns it once.
    """

    def __init__(
        self,
        client: Client,
        last: int,
        allowed: str | None,
        source: str | None,
        reviewer: str | None,
        is_checked: bool,
    ) -> None:
        """Events of the batch `allowed`, and of all if not `is_checked`, are never refused.

        `last` is the number of the last event before the command: what it sends itself, with an
        `event_id`, was not taught before. `source` and `reviewer` are those of events without one.
        """
        self._client = client
        self._last = last
        self._allowed = allowed
        given = {"source": source, "reviewer": reviewer}
        self._given = {name: _raw(each) for name, each in given.items() if each is not None}
        self._is_checked = is_checked
        self._number_of = cache(self._counted)

    def named(self, event: Body, batch: str | None) -> Body:
        """Return the event with the batch, the source and the reviewer, unless it names them.
        Raises typer.Exit.
        """
        event = self._given | event
        if batch is None or "batch" in event:
            return event
        if "event_id" not in event and "id" not in event:
            self.check(batch)
        return {**event, "batch": _raw(batch)}

    def check(self, batch: str) -> None:
        """End the command if the history has events of the batch."""
        if not self._is_checked or batch == self._allowed:
            return
        if number := self._number_of(batch):
            complain(
                f"the service has {in_words(number)} of the batch {batch!r} already. Add --again to"
                " teach it once more, --skip N to resume after line N after an interruption, or"
                " --batch with another name if the file is another one;"
                f" `manyclass events delete --batch {quote(batch)}` takes them back"
            )
            raise typer.Exit(FAILED)

    def _counted(self, batch: str) -> int:
        try:
            return events_of(self._client, {"batch": batch}, self._last)
        except RequestRefused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            complain(
                f"the service keeps no history, which would tell whether {batch!r} was taught"
                " before"
            )
            return 0


def _raw(name: str) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(name))

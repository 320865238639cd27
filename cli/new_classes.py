"""The classes that a run made: a misspelt class becomes a new one, without an error."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from manyclass.cli.class_names import close_names, has_class
from manyclass.cli.connection import complain
from manyclass.cli.event_text import shortened
from manyclass.cli.request_lines import Body, classes_of
from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.core.instance import LONGEST_NAME

MOST_LISTED: Final = 20_000  # classes of a service, in pages of PAGE
PAGE: Final = 1000
MOST_ASKED: Final = 1000  # names that are looked up by themselves
MOST_NAMED: Final = 10


class NewClasses:
    """Finds the classes of taught events that the service had not before, unless it had none.

    The classes of a small service are listed once. A name that is not on the list, or any name if
    there are too many to list, is looked up before its event is sent.
    """

    def __init__(self, client: Client, classes: int) -> None:
        """`classes` is the number of classes of the service."""
        self._client = client
        self._is_empty = not classes
        few = client.classes(page=PAGE) if classes <= MOST_LISTED else iter(())
        self._known = {each.name for each in few}
        self._asked = 0
        self._close: dict[str, Sequence[str]] = {}  # names of each absent class, before it is made
        self._made: dict[str, None] = {}

    def look(self, events: Sequence[Body]) -> None:
        """Look up the classes of events that are not sent yet."""
        if self._is_empty:
            return
        for name in _names(events):
            if self._asked > MOST_ASKED:
                return
            if name not in self._known and name not in self._close:
                self._ask(name)

    def learned(self, events: Sequence[Body]) -> None:
        """Note the new classes of events that the service has learned."""
        if len(self._made) == len(self._close):
            return
        for name in _names(events):
            if name in self._close and name not in self._made:
                if has_class(self._client, name):
                    self._made[name] = None
                else:  # a former name, which stands for another class
                    self._known.add(name)
                    del self._close[name]

    def tell(self) -> None:
        """Name the new classes on standard error."""
        if not self._made:
            return
        least = "at least " if self._asked > MOST_ASKED else ""
        new = counted(len(self._made), "new class", "new classes")
        named = ", ".join(self._described(name) for name in islice(self._made, MOST_NAMED))
        more = len(self._made) - MOST_NAMED
        complain(f"{least}{new}: {named}" + (f" and {more:,} more" if more > 0 else ""))

    def _ask(self, name: str) -> None:
        self._asked += 1
        if self._asked > MOST_ASKED:
            return
        if has_class(self._client, name):
            self._known.add(name)
            return
        is_named = len(self._close) < MOST_NAMED
        found = close_names(self._client, name) if is_named else ()
        self._close[name] = [each for each in found if each not in self._close]

    def _described(self, name: str) -> str:
        close = " or ".join(repr(shortened(each)) for each in self._close[name])
        shown = repr(shortened(name))
        return f"{shown} (close to {close})" if close else shown


def _names(events: Sequence[Body]) -> Iterator[str]:
    """Yield the classes of events, without names that the service refuses."""
    for event in events:
        yield from (name for name in classes_of(event) if 0 < len(name.encode()) <= LONGEST_NAME)

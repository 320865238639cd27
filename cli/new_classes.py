"""The classes that a run made: a misspelt class becomes a new one, without an error."""

from collections.abc import Iterator, Sequence
from typing import Final

from manyclass.cli.class_names import close_names, has_class, is_taught, unlearned_name
from manyclass.cli.connection import complain
from manyclass.cli.event_text import shortened
from manyclass.cli.request_lines import Body, classes_of
from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.types import Stats
from manyclass.core.instance import LONGEST_NAME

MOST_LISTED: Final = 20_000  # classes of a service, in pages of PAGE
PAGE: Final = 1000
MOST_ASKED: Final = 1000  # names that are looked up by themselves
MOST_COUNTED: Final = 100_000  # new names
MOST_NAMED: Final = 10


class NewClasses:
    """Finds the classes of taught events that the service had not before, unless it had none.

    The classes of a small service are listed once; it is asked about a name that is not on the list
    only if the name may be in the taxonomy. If there are too many classes to list, it is asked
    about each name before its event is sent.
    """

    def __init__(self, client: Client, before: Stats) -> None:
        """`before` are the figures of the service before the first event is sent."""
        self._client = client
        self._classes = before.classes
        self._has_taxonomy = before.taxonomy > 0
        self._is_listed = before.classes <= MOST_LISTED
        self._known = self._listed() if self._is_listed else set()
        self._asked = 0
        self._is_whole = True  # False once there were too many names to ask about, or to count
        self._close: dict[str, Sequence[str]] = {}  # names of each absent class, before it is made
        self._taught: dict[str, None] = {}  # absent classes of learned events

    def look(self, events: Sequence[Body]) -> None:
        """Look up the classes of events that are not sent yet."""
        if not self._classes:
            return
        for name in _names(events):
            if not self._is_whole:
                return
            if name not in self._known and name not in self._close:
                self._look_up(name)

    def learned(self, events: Sequence[Body]) -> None:
        """Note the new classes of events that the service has learned."""
        if len(self._taught) < len(self._close):
            self._taught.update((name, None) for name in _names(events) if name in self._close)

    def tell(self, asks: bool = True) -> None:
        """Name the new classes on standard error.

        The service is asked, unless it may not answer, whether all of them were made: a former name
        stands for another class.
        """
        made = self._made() if asks and self._taught else [*self._taught]
        if not made:
            return
        least = "" if self._is_whole else "at least "
        new = counted(len(made), "new class", "new classes")
        named = ", ".join(self._described(name) for name in made[:MOST_NAMED])
        more = len(made) - MOST_NAMED
        complain(f"{least}{new}: {named}" + (f" and {more:,} more" if more > 0 else ""))

    def _look_up(self, name: str) -> None:
        is_named = len(self._close) < MOST_NAMED
        if not self._is_listed or self._has_taxonomy:
            self._asked += 1
            self._is_whole = self._asked <= MOST_ASKED
            if not self._is_whole:
                return
            if self._has(name):
                self._known.add(name)
                return
        self._is_whole = len(self._close) < MOST_COUNTED
        if self._is_whole:
            found = close_names(self._client, name) if is_named else ()
            self._close[name] = [each for each in found if each not in self._close]

    def _has(self, name: str) -> bool:
        """Return whether the service has a class that is not on the list."""
        if not self._is_listed and is_taught(self._client, name):
            return True
        return self._has_taxonomy and unlearned_name(self._client, name) is not None

    def _made(self) -> list[str]:
        """Return the absent classes that the service has now."""
        # A placed class counts from its first event on, though it is not new.
        more = self._client.stats().classes - self._classes
        if not self._has_taxonomy and more == len(self._taught):
            return [*self._taught]
        if not self._is_listed:
            return [name for name in self._taught if has_class(self._client, name)]
        now = self._listed()
        return [name for name in self._taught if name in now]

    def _listed(self) -> set[str]:
        return {each.name for each in self._client.classes(page=PAGE)}

    def _described(self, name: str) -> str:
        close = " or ".join(repr(shortened(each)) for each in self._close[name])
        shown = repr(shortened(name))
        return f"{shown} (close to {close})" if close else shown


def _names(events: Sequence[Body]) -> Iterator[str]:
    """Yield the classes of events, without names that the service refuses."""
    for event in events:
        yield from (name for name in classes_of(event) if 0 < len(name.encode()) <= LONGEST_NAME)

"""A class of a file with its description."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from manyclass.core.descriptions import PARTS, checked_changes
from manyclass.core.errors import InstanceError
from manyclass.core.event_parts import class_names
from manyclass.core.instance import Instance


class DescriptionError(Exception):
    """A file that describes no classes, or an ambiguous form. The message says what to give."""


class DescribedRow(NamedTuple):
    """A class, its location in the file, the parts of its description to change, and perhaps the
    parent: `{"parent": None}` stands for the top.
    """

    where: str
    name: str
    changes: dict[str, object]
    placed: dict[str, str | None]

    @property
    def body(self) -> dict[str, object]:
        """The class as a call of the service takes it."""
        return {"class": self.name, **self.changes, **self.placed}


class Described(NamedTuple):
    """The classes of a file, the faults of other rows, and the form of the file."""

    rows: list[DescribedRow]
    faults: list[str]
    form: str


class Collector:
    """Collects the classes of a file, and the faults of rows that cannot be used."""

    def __init__(self, replaces: bool) -> None:
        """`replaces`: remove the parts that a class of the file does not have."""
        self._replaces = replaces
        self._rows: dict[str, DescribedRow] = {}
        self.faults: list[str] = []

    def add(
        self,
        where: str,
        name: str,
        changes: Mapping[str, object],
        placed: dict[str, str | None] | None = None,
    ) -> None:
        """Add a class, unless it has nothing to change; note a fault if it cannot be described."""
        whole = dict.fromkeys(PARTS) | dict(changes) if self._replaces else dict(changes)
        if name in self._rows:
            self.faults.append(f"{where}: the class {name!r} is in {self._rows[name].where} too")
            return
        try:
            class_names([name])
            if whole:
                checked_changes(_with_numbers(whole))
        except InstanceError as error:
            self.faults.append(f"{where}: {error}")
            return
        if whole or placed:
            self._rows[name] = DescribedRow(where, name, whole, placed or {})

    def described(self, form: str) -> Described:
        """Return all classes of the file."""
        return Described([*self._rows.values()], self.faults, form)


def _with_numbers(changes: Mapping[str, object]) -> Mapping[str, object]:
    """Return the changes with a vector of base64 read. Raise InstanceError for a bad one."""
    vector = changes.get("vector")
    if not isinstance(vector, str | dict):
        return changes
    found = Instance({}).with_vector_of_json(msgspec.Raw(msgspec.json.encode(vector)))
    return {**changes, "vector": found}

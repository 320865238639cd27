"""Checks the placements of a request, and makes a taxonomy of the placements of a file."""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice

from manyclass.core.errors import PlacementConflict, PlacementFault
from manyclass.core.event import Event
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.core.taxonomy import LARGEST_NAMES, LONGEST_PATH, MOST_PLACED, Taxonomy


def check_placements(
    taxonomy: Taxonomy, events: Sequence[Event], without: Container[int] = ()
) -> None:
    """Raise PlacementConflict or PlacementFault unless the events can place all their classes in
    this order. Skip the events at the positions `without`. The taxonomy does not change.
    """
    trial: _Trial | None = None  # few events place classes
    for position, event in enumerate(events):
        if event.parents and position not in without:
            trial = trial or _Trial(taxonomy)
            trial.place_all(position, event)


def placed(parents: Mapping[str, str | None]) -> Taxonomy:
    """Return a new taxonomy with each class below its parent; None stands for the root.

    Raise InstanceError for a bad name, PlacementConflict or PlacementFault unless it is a tree.
    """
    taxonomy = Taxonomy()
    left = iter(parents.items())
    events = []
    while part := dict(islice(left, MOST_PLACEMENTS)):
        events.append(Event.place(part))
    check_placements(taxonomy, events)
    for event in events:
        for name, parent in event.parents.items():
            taxonomy.place(name, parent or None)
    return taxonomy


def moves_of_merge(taxonomy: Taxonomy, name: str, to: str) -> dict[str, str | None]:
    """Return the parents that classes get when the class `name` is merged into `to`, in order.

    Both have nodes. The children of `name` move below `to`; if `to` is below `name`, it first moves
    to the place of `name`.
    """
    moves: dict[str, str | None] = {}
    if name in taxonomy.path(to):
        moves[to] = taxonomy.parent(name)
    children = taxonomy.children(name, limit=MOST_PLACED)
    return moves | {child: to for child in children if child != to}


def check_merge(taxonomy: Taxonomy, name: str, to: str) -> None:
    """Raise PlacementFault if the nodes of two classes cannot be merged."""
    left = iter(moves_of_merge(taxonomy, name, to).items())
    events = []
    while part := dict(islice(left, MOST_PLACEMENTS)):
        events.append(Event.place(part, moves=True))
    check_placements(taxonomy, events)


class _Trial:
    """The taxonomy as the events would change it: the changed parents beside the present ones."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._parents: dict[str, str] = {}  # empty: the root
        self._children: dict[str, list[str]] = {}
        self._new: set[str] = set()
        self._name_bytes = taxonomy.name_bytes

    def place_all(self, position: int, event: Event) -> None:
        for name, parent in event.parents.items():
            before = self._parent(name)
            if before == parent and (before or name in self._taxonomy):
                continue
            if before and not event.moves:
                raise PlacementConflict(position, name, before, parent)
            fault = self._fault(name, parent)
            if fault is not None:
                raise PlacementFault(fault, position, name)
            if name in self._parents:
                self._children[before].remove(name)
            self._parents[name] = parent
            self._children.setdefault(parent, []).append(name)

    def _fault(self, name: str, parent: str) -> str | None:
        """Return why a class cannot be placed below the parent; None, and count it, if it can."""
        above = [*self._path(parent)]
        if name in above:
            circle = "itself" if name == parent else f"{parent!r}, which is below it"
            return f"class {name!r} cannot be below {circle}"
        longest = len(above) + 1 + self._height(name)
        if longest > LONGEST_PATH:
            return f"a path would have {longest} classes; it may have {LONGEST_PATH}"
        for each in (name, parent):
            if each and each not in self._new and each not in self._taxonomy:
                self._new.add(each)
                self._name_bytes += len(each.encode())
        if len(self._taxonomy) + len(self._new) > MOST_PLACED or self._name_bytes > LARGEST_NAMES:
            return "the taxonomy is full: it may have a million classes, and 64 MiB of names"
        return None

    def _parent(self, name: str) -> str:
        if name in self._parents:
            return self._parents[name]
        return self._taxonomy.parent(name) or ""

    def _path(self, name: str) -> Iterable[str]:
        """Yield the class and its ancestors; unchanged parts of the path are read at once."""
        while name:
            if name in self._parents:
                yield name
                name = self._parents[name]
                continue
            for each in reversed(self._taxonomy.path(name) or [name]):
                if each in self._parents:
                    name = each
                    break
                yield each
            else:
                return

    def _height(self, name: str) -> int:
        """Return an upper bound of a class's height; classes that moved away still count."""
        below = (1 + self._height(child) for child in self._children.get(name, ()))
        return max(self._taxonomy.height(name), *below, 0)

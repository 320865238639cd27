"""The same rules as the taxonomy's, over a list of nodes in the order in which they were placed."""

from math import sqrt


class SlowTaxonomy:
    def __init__(self) -> None:
        self.parents: dict[str, str | None] = {}  # in the order of placing
        self.classes: set[str] = set()

    def path(self, name: str | None) -> list[str]:
        above: list[str] = []
        while name is not None:
            above.append(name)
            name = self.parents[name]
        return above[::-1]

    def children(self, name: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == name]

    def place(self, name: str, parent: str | None, moves: bool) -> list[str]:
        """Place a class; return the nodes that are gone."""
        known = name in self.parents
        before = self.parents.get(name)
        if known and before == parent and (parent is None or parent in self.parents):
            self.classes.add(name)
            return []
        if before is not None and not moves:
            return []
        if parent == name or (parent in self.parents and name in self.path(parent)):
            return []
        if parent is not None:
            self.parents.setdefault(parent, None)
        self.parents.pop(name, None)
        self.parents[name] = parent
        self.classes.add(name)
        return self.prune(before)

    def note_classes(self, names: list[str]) -> list[str]:
        """Note that events learned these; return the nodes that were no classes before."""
        noted = [name for name in names if name in self.parents and name not in self.classes]
        self.classes.update(noted)
        return noted

    def forget(self, name: str) -> list[str]:
        self.classes.discard(name)
        return self.prune(name) if name in self.parents else []

    def prune(self, name: str | None) -> list[str]:
        gone = []
        while name is not None and name not in self.classes and not self.children(name):
            gone.append(name)
            name = self.parents.pop(name)
        return gone

    # --- distances ------------------------------------------------------------------------------

    def path_of(self, name: str) -> list[str]:
        """Return the path of a class; itself alone if it has no node."""
        return self.path(name) if name in self.parents else [name]

    def distance(self, one: str, other: str) -> float:
        """Return half the edges of the path between two classes."""
        return len({*self.path_of(one)} ^ {*self.path_of(other)}) / 2

    def cost(self, kind: str, one: str, other: str) -> float:
        """Return the cost of one class in the place of the other."""
        if kind == "none":
            return 1.0
        distance = self.distance(one, other)
        return sqrt(distance) if kind == "sqrt" else distance

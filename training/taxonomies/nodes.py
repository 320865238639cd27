"""The nodes of a taxonomy as a file has them, and the tree that they make."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from manyclass.training.taxonomies.layout import PATH_SEPARATOR, TaxonomyLayout

# Texts that programs write for a missing value.
NULLS: Final = {"null", "none", "nan", "n/a", "na", "nil", "-", "\\n"}
NAMED_TOPS = 3  # top classes named in a summary
NAMED_CLASSES = 5  # classes of a circle named in a message

Key = str | tuple[str, ...]


class TaxonomyError(Exception):
    """Classes that do not make a tree, or an ambiguous form. The message says what to give."""


class Node(NamedTuple):
    """A class and its parent (None: the root). Keys are names, ids, or paths from the top."""

    key: Key
    parent: Key | None
    where: str  # line or element of the file, for messages
    label: str = ""  # the name of the class, if its key is an id


class Edge(NamedTuple):
    """A class and its parent (None: the root), by their names."""

    name: str
    parent: str | None
    where: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The parent (None: the root) and the location of each class of a file, and the file's form."""

    parents: Mapping[str, str | None]
    locations: Mapping[str, str]
    form: str

    @property
    def summary(self) -> str:
        """Return one line about the tree: its size, form and top classes."""
        above = {*self.parents.values()} - {None, *self.parents}
        tops = [*(name for name, parent in self.parents.items() if parent is None), *above]
        shown = ", ".join(sorted(map(str, tops))[:NAMED_TOPS])
        more = ", …" if len(tops) > NAMED_TOPS else ""
        classes = "class" if len(self.parents) == 1 else "classes"
        return (
            f"read {len(self.parents):,} {classes}"
            + (f" and {len(above):,} above them" if above else "")
            + f", {len(tops):,} at the top ({shown}{more}); {self.form}"
        )


def tree_of(nodes: Iterable[Node], form: str, layout: TaxonomyLayout) -> Tree:
    """Return the tree of all nodes; TaxonomyError for several parents, a circle or a bad name."""
    nodes = [_below_top(node, layout.top) for node in nodes]
    if not nodes:
        raise TaxonomyError("it has no class")
    parents: dict[str, str | None] = {}
    locations: dict[str, str] = {}
    of_paths = any(isinstance(node.key, tuple) for node in nodes)
    for name, parent, where in _edges(nodes, layout):
        if name == parent:
            raise TaxonomyError(
                f"{where}: class {name!r} is its own parent{_ways(of_paths, 'top')}"
            )
        if name not in parents:
            parents[name], locations[name] = parent, where
        elif parents[name] != parent:
            if not layout.first_parent:
                raise TaxonomyError(
                    f"{where}: class {name!r} is {_where(parent)}, and {_where(parents[name])} in"
                    f" {locations[name]}: a taxonomy is a tree"
                    + _ways(of_paths, "several", where.startswith(("line", "row")))
                )
            parents[name] = min(filter(None, (parent, parents[name])))
    _check_nulls(parents, locations)
    _check_circles(parents, locations)
    return Tree(parents, locations, form)


def _below_top(node: Node, top: str | None) -> Node:
    for each in (node.key, node.parent):
        for name in [each] if isinstance(each, str) else each or ():
            _check_name(name, node.where)
    return node._replace(parent=None) if top is not None and node.parent == top else node


def _check_name(name: str, where: str) -> None:
    if not name.strip():
        raise TaxonomyError(f"{where}: a class has an empty name")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise TaxonomyError(f"{where}: {name!r} is not text") from error


def _edges(nodes: list[Node], layout: TaxonomyLayout) -> Iterator[Edge]:
    """Yield each class and its parent by their names."""
    labels = {node.key: node.label for node in nodes if node.label}
    name_of = _names(nodes, labels, layout)
    keys: dict[str, Key] = {}
    for node in nodes:
        name = name_of(node.key, node.where)
        if labels and keys.setdefault(name, node.key) != node.key:
            raise TaxonomyError(
                f"{node.where}: the ids {keys[name]!r} and {node.key!r} have one name, {name!r}:"
                " add --names path, for names with those above them"
            )
        parent = None if node.parent is None else name_of(node.parent, node.where)
        yield Edge(name, parent, node.where)


def _names(
    nodes: list[Node], labels: Mapping[Key, str], layout: TaxonomyLayout
) -> Callable[[Key, str], str]:
    """Return a function from a key and its location in the file to the name of the class."""

    def last(key: Key, where: str) -> str:
        if labels and key not in labels:
            raise TaxonomyError(f"{where}: there is no name of the id {key!r}: give it a row")
        return labels.get(key) or (key if isinstance(key, str) else key[-1])

    if layout.names != "path":
        return last
    without_labels = [node._replace(label="") for node in nodes if isinstance(node.key, str)]
    ids = TaxonomyLayout(first_parent=layout.first_parent)
    above = tree_of(without_labels, "", ids).parents if without_labels else {}

    def path(key: Key, where: str) -> str:
        if isinstance(key, tuple):
            return labels.get(key) or PATH_SEPARATOR.join(key)
        parts = []
        up: str | None = key
        while up is not None:
            parts.append(last(up, where))
            up = above.get(up)
        return PATH_SEPARATOR.join(reversed(parts))

    return path


def _where(parent: str | None) -> str:
    return "at the top" if parent is None else f"below {parent!r}"


def _ways(of_paths: bool, fault: str, is_row: bool = False) -> str:
    """Return the options of the user for a class with several parents, or below itself."""
    if of_paths:
        return "; add --names path, for names with those above them"
    if fault == "top":
        return "; leave the parent of a class at the top empty"
    return "; leave one, or add --first-parent, for the first by name" + (
        "; if the parent is in front of the class, add --parent-column 1 --child-column 2"
        if is_row
        else ""
    )


def _check_nulls(parents: Mapping[str, str | None], locations: Mapping[str, str]) -> None:
    for name, parent in parents.items():
        if parent is not None and parent.casefold() in NULLS and parent not in parents:
            raise TaxonomyError(
                f"{locations[name]}: the parent {parent!r} may be a class or none: add"
                f" --top {parent} if it stands for the top, else a row for this class"
            )


def _check_circles(parents: Mapping[str, str | None], locations: Mapping[str, str]) -> None:
    done: set[str] = set()
    for begin in parents:
        path: dict[str, None] = {}
        name: str | None = begin
        while name is not None and name not in done and name not in path:
            path[name] = None
            name = parents.get(name)
        if name is not None and name in path:
            circle = [*path][[*path].index(name) :]
            raise TaxonomyError(_circle(circle, locations))
        done.update(path)


def _circle(circle: list[str], locations: Mapping[str, str]) -> str:
    first, *others = circle
    shown = [f"{name!r} ({locations[name]})" for name in others[:NAMED_CLASSES]]
    if len(others) > NAMED_CLASSES:
        shown.append(f"{len(others) - NAMED_CLASSES:,} more")
    steps = ", which is below ".join([*shown, "it"])
    return f"{locations[first]}: class {first!r} is below {steps}: a circle has no top"

"""JSON objects that describe one class each: its name or id, its parents, its children."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from manyclass.training.tables.columns import listed, position
from manyclass.training.taxonomies.documents import (
    Element,
    Members,
    is_children,
    is_entry,
    is_record,
    is_reference,
    name_of,
    names_of,
    shown,
)
from manyclass.training.taxonomies.headings import (
    Headings,
    headings_of,
    is_name,
    is_parent,
    words_of,
)
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Key, Node, TaxonomyError


def nodes_of_entries(elements: Sequence[Element], layout: TaxonomyLayout) -> tuple[list[Node], str]:
    """Return the nodes of the objects, and a description of their form; TaxonomyError."""
    entries = _Entries(elements, layout)
    nodes = [*entries.nodes()]
    labels = {node.key: node.label for node in nodes if node.label}
    nodes = [node._replace(label=labels.get(node.key, "")) for node in nodes]
    placed = {_last(node.key) for node in nodes if node.parent is not None}
    kept = [node for node in nodes if node.parent is not None or _last(node.key) not in placed]
    return kept, entries.said


def _last(key: Key) -> str:
    return key if isinstance(key, str) else key[-1]


@dataclass(frozen=True, slots=True)
class _Keys:
    child: str
    parent: str | None
    name: str | None


class _Entries:
    """Objects and the keys that they have in common."""

    def __init__(self, elements: Sequence[Element], layout: TaxonomyLayout) -> None:
        self._elements = elements
        objects = [*_objects([value for _, value in elements])]
        names = [*dict.fromkeys(key for each in objects for key in each.keys)]
        below = {key for each in objects for key, value in each if is_children(key, value)}
        if any(is_name(key) for key in names if key not in below):
            names = [key for key in names if key not in below]
        else:
            below = set()
        names = [key for key in names if not words_of(key).endswith("transitive")]
        self._below = below
        self._keys = _keys(names, objects, layout)
        self._has_ids = self._keys.parent is not None or self._keys.name is not None
        self.said = Headings(
            names.index(self._keys.child),
            None if self._keys.parent is None else names.index(self._keys.parent),
            None if self._keys.name is None else names.index(self._keys.name),
        ).said(names).replace("columns", "keys") + (
            f", classes below in {listed(sorted(below))}" if below else ""
        )

    def nodes(self) -> Iterator[Node]:
        for where, value in self._elements:
            yield from self._of(where, value, None)

    def _of(self, where: str, value: Any, above: Key | None) -> Iterator[Node]:
        """Yield the nodes of a class and of its descendants; `above` is its parent, if any."""
        if not isinstance(value, Members) or is_reference(value):
            yield Node(self._key(name_of(value, where), above), above, where)
            return
        if _is_scheme(value):
            return
        given = value.get(self._keys.child)
        if given in (None, ""):
            raise TaxonomyError(f"{where}: it has no `{self._keys.child}`: {shown(value)}")
        key = self._key(name_of(given, where), above)
        label = "" if self._keys.name is None else self._label(value, where)
        parents = [] if self._keys.parent is None else names_of(value.get(self._keys.parent), where)
        for parent in [above] if above is not None or not parents else []:
            yield Node(key, parent, where, label)
        for parent in parents:
            yield Node(key, parent, where, label)
        for name, found in value:
            if name in self._below:
                for at, each in enumerate(found if isinstance(found, list) else [found], 1):
                    yield from self._of(f"{where}, {name} {at:,}", each, key)

    def _key(self, name: str, above: Key | None) -> Key:
        if self._has_ids:
            return name
        return (*(above or ()), name)

    def _label(self, value: Members, where: str) -> str:
        assert self._keys.name is not None
        found = names_of(value.get(self._keys.name), where)
        if len(found) != 1:
            raise TaxonomyError(f"{where}: it has {len(found)} names in `{self._keys.name}`, not 1")
        return found[0]


def _objects(values: Sequence[object]) -> Iterator[Members]:
    """Yield the objects of all classes, at any depth."""
    for value in values:
        if not isinstance(value, Members) or is_reference(value) or _is_scheme(value):
            continue
        if not (is_entry(value) or is_record(value)):
            raise TaxonomyError(f"{shown(value)} has no name of a class, as other objects have")
        yield value
        for key, each in value:
            if is_children(key, each):
                yield from _objects(each if isinstance(each, list) else [each])


def _keys(names: Sequence[str], objects: Sequence[Members], layout: TaxonomyLayout) -> _Keys:
    def values(at: int) -> set[str]:
        found = (each.get(names[at]) for each in objects)
        return {name for each in found if not isinstance(each, dict) for name in _tolerant(each)}

    if layout.parent is not None or any(is_parent(name) for name in names):
        found = headings_of(names, layout, values)
        if found.child is not None and found.parent is not None:
            name = None if found.name is None else names[found.name]
            return _Keys(names[found.child], names[found.parent], name)
    label = None if layout.name is None else names[position(layout.name, names)]
    if layout.child is not None:
        return _Keys(names[position(layout.child, names)], None, label)
    likely = [name for name in names if is_name(name) and name != label]
    if len(likely) != 1:
        raise TaxonomyError(
            f"the class may be in {listed(likely or names)}: add --child-column"
            f" {(likely or names)[0]}, or another key"
        )
    return _Keys(likely[0], None, label)


def _tolerant(value: object) -> list[str]:
    try:
        return names_of(value, "")
    except TaxonomyError:
        return []


def _is_scheme(value: Members) -> bool:
    """Return whether an object of SKOS describes the taxonomy itself and not a class."""
    return any(
        words_of(key) == "type" and any(each.endswith("ConceptScheme") for each in _tolerant(found))
        for key, found in value
    )

"""Taxonomies in JSON: nested trees, objects of classes and parents, lists of concepts."""

from collections.abc import Iterator, Sequence

from manyclass.training.tables.record import Record, cell_of
from manyclass.training.taxonomies.documents import (
    Element,
    Members,
    is_children,
    is_entry,
    is_record,
    is_scalar,
    name_of,
    names_of,
    parsed,
    shown,
)
from manyclass.training.taxonomies.entries import nodes_of_entries
from manyclass.training.taxonomies.headings import is_parent
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Key, Node, TaxonomyError
from manyclass.training.taxonomies.paths import ARROW, nodes_of_paths
from manyclass.training.taxonomies.rows import nodes_of_rows

Read = tuple[list[Node], str]


def nodes_of_json(text: str, layout: TaxonomyLayout) -> Read:
    """Return the nodes of a JSON document, and a description of its form; TaxonomyError."""
    document = parsed(text)
    try:
        if isinstance(document, Members):
            return _object(document, layout)
        return _elements(document, layout)
    except RecursionError as error:
        raise TaxonomyError("its lists and objects are nested too deeply") from error


# --- arrays and lines -----------------------------------------------------------------------------


def _elements(elements: Sequence[Element], layout: TaxonomyLayout) -> Read:
    values = [value for _, value in elements]
    if not values:
        raise TaxonomyError("it is empty")
    if all(isinstance(value, str) for value in values):
        return _texts(elements, layout)
    if all(isinstance(value, list) for value in values):
        rows = [Record(at, [cell_of(each) for each in row]) for at, row in enumerate(values, 1)]
        return nodes_of_rows(rows, layout, "element")
    if any(is_entry(value) or is_record(value) for value in values):
        return nodes_of_entries(elements, layout)
    if len(values) == 1 and isinstance(values[0], Members):
        return _object(values[0], layout)
    return [*_of_list(elements, ())], "a nested tree of JSON"


def _texts(elements: Sequence[Element], layout: TaxonomyLayout) -> Read:
    if layout.separator is None and not any(ARROW.search(text) for _, text in elements):
        raise TaxonomyError(
            "it is an array of names without parents; if they are paths, add --path-separator TEXT"
        )
    return nodes_of_paths(elements, layout)


# --- one object -----------------------------------------------------------------------------------


def _object(whole: Members, layout: TaxonomyLayout) -> Read:
    """Read an object: one class, parents of many classes, or nested children."""
    if is_entry(whole, with_children=True) or (is_entry(whole) and is_record(whole)):
        return nodes_of_entries([("the object", whole)], layout)
    values = [value for _, value in whole]
    is_nested = any(
        (isinstance(value, Members) and value and not is_record(value))
        or (isinstance(value, list) and any(isinstance(each, Members | list) for each in value))
        for value in values
    )
    if any(is_record(value) for value in values):
        return [*_parents(whole)], "an object with the parent of each class"
    if not is_nested:
        if _lists_are_parents(whole, layout):
            return [*_parents(whole)], "an object with the parent of each class"
        nodes = [*_nested(whole, (), "")]
        return _defined(nodes), "an object with the list of classes below each class"
    if any(_has_children_key(value) for value in values):
        whole = Members((name, None if _is_note(value) else value) for name, value in whole)
        return _defined([*_nested(whole, (), "")]), "an object with the classes below each class"
    return [*_nested(whole, (), "")], "a nested tree of JSON"


def _has_children_key(value: object) -> bool:
    return isinstance(value, Members) and any(is_children(*member) for member in value)


def _is_note(value: object) -> bool:
    """Return whether an object has only scalars about its class, and no children."""
    return isinstance(value, Members) and all(is_scalar(each) or each is None for _, each in value)


def _lists_are_parents(whole: Members, layout: TaxonomyLayout) -> bool:
    """Return whether lists of an object are parents, by the layout or if only this gives a tree."""
    lists = [
        (name, names_of(value, f"/{name}")) for name, value in whole if isinstance(value, list)
    ]
    if layout.lists is not None:
        return layout.lists == "parents"
    if not any(names for _, names in lists) or any(
        is_scalar(value) and value != "" for _, value in whole
    ):
        return True
    named = [each for _, names in lists for each in {*names}]
    may_be_parents = all(len({*names}) <= 1 for _, names in lists)
    may_be_children = len({*named}) == len(named)
    if may_be_parents != may_be_children:
        return may_be_parents
    name, names = next((name, names) for name, names in lists if names)
    doubt = (
        f"{name!r} may be below {names[0]!r} or above it"
        if may_be_parents
        else "classes have several parents, whether the lists are parents or the classes below"
    )
    raise TaxonomyError(
        f"{doubt}: add --lists children or --lists parents (of several, --first-parent takes one)"
    )


def _parents(whole: Members) -> Iterator[Node]:
    """Yield the nodes of an object with the parents of each class."""
    for name, value in whole:
        above, below = value, list[str]()
        if isinstance(value, Members):
            above = [
                each for key, found in value if is_parent(key) for each in names_of(found, name)
            ]
            below = [
                each
                for key, found in value
                if is_children(key, found)
                for each in names_of(found, name)
            ]
        where = f"/{name}"
        named: list[str | None] = [*names_of(above, where)]
        for parent in named or [None]:
            yield Node(name, parent, where)
        for child in below:
            yield Node(child, name, where)


def _defined(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without those at the top that are below another class elsewhere."""
    placed = {node.key[-1] for node in nodes if node.parent is not None}
    return [node for node in nodes if node.parent is not None or node.key[-1] not in placed]


# --- nested trees ---------------------------------------------------------------------------------


def _nested(whole: Members, above: tuple[str, ...], where: str) -> Iterator[Node]:
    for name, value in whole:
        key = (*above, name)
        there = f"{where}/{name}"
        yield Node(key, above or None, there)
        yield from _below(value, key, there)


def _below(value: object, key: tuple[str, ...], where: str) -> Iterator[Node]:
    """Yield the nodes below a class."""
    match value:
        case None | "":
            return
        case Members():
            children = [each for each in value if is_children(*each)]
            others = [each for each in value if not is_children(*each)]
            if children and not others:
                raise TaxonomyError(
                    f"{where}: `{children[0][0]}` may be a class, or the key of the classes below:"
                    ' give its object a "name" too, or write the classes instead of it'
                )
            if children and all(is_scalar(each) or each is None for _, each in others):
                for _, each in children:
                    yield from _below(each, key, where)
            else:
                yield from _nested(value, key, where)
        case list():
            elements = [(f"{where}, element {at:,}", each) for at, each in enumerate(value, 1)]
            yield from _of_list(elements, key)
        case _:
            raise TaxonomyError(
                f"{where}: {shown(value)} may be a class below or a note: write a list of the"
                " classes below, or null"
            )


def _of_list(elements: Sequence[Element], above: tuple[str, ...]) -> Iterator[Node]:
    for where, value in elements:
        if not isinstance(value, Members):
            yield Node((*above, name_of(value, where)), above or None, where)
        elif is_entry(value):
            nodes, _ = nodes_of_entries([(where, value)], TaxonomyLayout())
            yield from (_moved(node, above) for node in nodes)
        else:
            yield from _nested(value, above, where)


def _moved(node: Node, above: tuple[str, ...]) -> Node:
    def below(key: Key | None) -> tuple[str, ...] | None:
        return (*above, *((key,) if isinstance(key, str) else key or ())) or None

    return node._replace(key=below(node.key) or (), parent=below(node.parent))

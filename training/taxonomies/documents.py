"""JSON documents: one value, or one value a line, with the locations of their parts."""

import json
from collections.abc import Iterator
from typing import Any, Final

from manyclass.training.taxonomies.headings import is_name, is_parent, words_of
from manyclass.training.taxonomies.nodes import TaxonomyError

CHILDREN: Final = {"children", "childs", "child nodes", "narrower", "nodes", "items"} | {
    f"sub{kind}" for kind in ("classes", "categories", "types", "groups", "topics", " categories")
}
_LISTS: Final = {"graph", "concepts", "nodes", "classes", "categories", "taxonomy", "terms"} | {
    "data", "items", "results", "tree"
}  # the key of all concepts  # fmt: skip
_REFERENCES: Final = ("@id", "@value")  # the key of the value itself


class Members(tuple[tuple[str, Any], ...]):
    """The members of an object, in order; keys may be repeated."""

    __slots__ = ()

    def get(self, key: str) -> Any:
        """Return the first value of a key; None without it."""
        return next((value for name, value in self if name == key), None)

    @property
    def keys(self) -> list[str]:
        """Return the keys, in order."""
        return [*dict.fromkeys(key for key, _ in self)]


Element = tuple[str, Any]  # the location in the file, the value


def parsed(text: str) -> Members | list[Element]:
    """Return one object, or the elements of an array or of lines; TaxonomyError."""
    try:
        whole = _decoded(text)
    except json.JSONDecodeError as error:
        return [*_lines(text, error)]
    except RecursionError as error:
        raise TaxonomyError("its lists and objects are nested too deeply") from error
    if isinstance(whole, list):
        return [(f"element {number:,}", each) for number, each in enumerate(whole, 1)]
    assert isinstance(whole, Members)
    for key, value in whole:
        others = [each for other, each in whole if other != key and isinstance(each, list)]
        if is_concept_list(key, value) and not others and not is_entry(whole, with_children=True):
            return [(f"{key}, element {at:,}", each) for at, each in enumerate(value, 1)]
    return whole


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=Members, parse_constant=_not_json)


def _not_json(constant: str) -> Any:
    raise TaxonomyError(f"{constant} is not JSON")


def _lines(text: str, error: json.JSONDecodeError) -> Iterator[Element]:
    """Yield the value of each line; TaxonomyError with the location of the fault."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for position, (number, line) in enumerate(lines):
        if line.lstrip().startswith("#"):
            continue
        try:
            yield f"line {number:,}", _decoded(line)
        except json.JSONDecodeError as fault:
            is_whole = position == 0  # one value on several lines
            at, line_number = (error, error.lineno) if is_whole else (fault, number)
            raise TaxonomyError(
                f"line {line_number:,}: it is not JSON: {at.msg}, column {at.colno};"
                " for a table, add --delimiter ,"
            ) from fault


def is_concept_list(key: str, value: object) -> bool:
    """Return whether a member of a document holds all its concepts."""
    return words_of(key) in _LISTS and _is_list_of_objects(value)


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, Members) for x in value)


def is_entry(value: object, with_children: bool = False) -> bool:
    """Return whether an object describes one class, which it names, instead of a part of a tree."""
    if not isinstance(value, Members):
        return False
    named = any(
        is_name(key) and is_scalar(each) and not is_children(key, each) for key, each in value
    )
    return named and (not with_children or any(is_children(key, each) for key, each in value))


def is_children(key: str, value: object) -> bool:
    """Return whether a member of an object holds the children of its class."""
    return (
        words_of(key) in CHILDREN and isinstance(value, list | Members) and not is_reference(value)
    )


def is_record(value: object) -> bool:
    """Return whether an object has the parent of a class; the key of the object names the class."""
    return isinstance(value, Members) and any(
        is_parent(key) and (not isinstance(each, Members) or is_reference(each))
        for key, each in value
    )


def is_reference(value: object) -> bool:
    """Return whether an object stands for one name: {"@id": "hockey"}."""
    return isinstance(value, Members) and (value.keys == ["@id"] or "@value" in value.keys)


def is_scalar(value: object) -> bool:
    """Return whether a value may be a name."""
    return isinstance(value, str | int | float) or is_reference(value)


def name_of(value: object, where: str) -> str:
    """Return the name of a class; TaxonomyError."""
    if isinstance(value, Members):
        value = next((value.get(key) for key in _REFERENCES if value.get(key) is not None), value)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value).strip()
    raise TaxonomyError(f"{where}: {shown(value)} is not the name of a class")


def names_of(value: object, where: str) -> list[str]:
    """Return the names of a value: none, one or a list; TaxonomyError."""
    if value in (None, "", [], ()):
        return []
    return [name_of(each, where) for each in (value if isinstance(value, list) else [value])]


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    if isinstance(value, Members):
        return f"an object with the keys {', '.join(value.keys[:5])}"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"

"""The columns of a table, or the keys of objects, that hold a class and its parent."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from manyclass.training.tables.columns import listed, position
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import TaxonomyError

_KINDS: Final = "class|category|type|group|topic|division|section|genre|family|department"
_PARENT = re.compile(
    r"(?:parents?|broader|coarse|hypernym)(?: (?P<of>.+))?|(?P<of_which>.+) parents?"
    rf"|super ?(?P<joined>{_KINDS})|sub ?class ?of"
)
_CHILD = re.compile(rf"(?:child|narrower|fine)(?: .+)?|hyponym|class|sub ?(?:{_KINDS})")
_NAME = re.compile(
    r"(?:id|identifier|code|key|uri|iri|notation|slug|category|node|concept|term|topic|tag"
    r"|name|label|title|text|pref label)"
)
_PATH = re.compile(r"(?:(?:full|category|taxonomy|class) )?path|breadcrumbs?")
_LEVEL = re.compile(r"(?P<stem>level|lvl|tier|depth|hierarchy) ?(?P<number>\d{1,2})")
_PLAIN: Final = ("parent", "parent class", "parent category", "parent id", "broader")
_SUBORDINATE = re.compile(f"sub ?(?P<above>{_KINDS})")

Values = Callable[[int], set[str]]  # of a column, by its position


@dataclass(frozen=True, slots=True)
class Headings:
    """Positions of columns: of the class and its parent, of a path, or of the parts of paths."""

    child: int | None = None
    parent: int | None = None
    name: int | None = None  # of the class, if `child` has its id
    path: int | None = None
    levels: tuple[int, ...] = ()

    def said(self, names: Sequence[str]) -> str:
        """Return the columns in use and the columns left out, for a message."""
        if self.levels:
            used = {*self.levels}
            said = f"a part of a path in each of the columns {listed([names[at] for at in used])}"
        else:
            of = {"path": self.path, "child": self.child, "parent": self.parent, "name": self.name}
            given = {role: at for role, at in of.items() if at is not None}
            used = {*given.values()}
            said = "columns " + ", ".join(f"{role}={names[at]}" for role, at in given.items())
        others = [name for at, name in enumerate(names) if at not in used]
        return said + (f" (not read: {listed(others)})" if others else "")


def words_of(name: str) -> str:
    """Return a heading as words: `broader` for skos:broader, `parent id` for parentId."""
    name = name.strip().lstrip("#@").strip()
    name = re.sub(r"^https?:.*[#/]|^[\w-]+:(?=\w)", "", name)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def is_parent(name: str) -> bool:
    """Return whether a heading is that of a parent."""
    return _PARENT.fullmatch(words_of(name)) is not None


def is_name(name: str) -> bool:
    """Return whether a heading is that of a class: of its name or its id."""
    words = words_of(name)
    return bool(_CHILD.fullmatch(words) or _NAME.fullmatch(words))


def is_header(names: Sequence[str]) -> bool:
    """Return whether the first row of a table must be its header."""
    words = [words_of(name) for name in names]
    if _levels(words) or _subordinate(words):
        return True
    parents = [at for at, name in enumerate(names) if is_parent(name)]
    if any(_PATH.fullmatch(each) for each in words) and all(
        is_name(name) or _PATH.fullmatch(words_of(name)) for name in names
    ):
        return True
    return bool(parents) and (
        (len(names) == 2 and words[parents[0]] in _PLAIN)
        or any(at not in parents and is_name(name) for at, name in enumerate(names))
        or any(_above_what(words[at]) in words for at in parents)
    )


def headings_of(names: Sequence[str], layout: TaxonomyLayout, values: Values) -> Headings:
    """Return the columns of the layout, or the columns that the names determine.

    `values` returns the values of a column, to find the column that has the parents' names. Raise
    TaxonomyError for an unknown or ambiguous column.
    """
    words = [words_of(name) for name in names]
    name = None if layout.name is None else position(layout.name, names)
    child = None if layout.child is None else position(layout.child, names)
    parent = None if layout.parent is None else position(layout.parent, names)
    if child is None and parent is None:
        if levels := _levels(words):
            return Headings(levels=levels)
        if found := _subordinate(words):
            return Headings(*found, name)
    if parent is None:
        parent = _only(
            [at for at in range(len(names)) if is_parent(names[at]) and at != child], names
        )
    if parent is None and layout.parent is None:
        paths = [at for at, each in enumerate(words) if _PATH.fullmatch(each) or at == child]
        if len(paths) == 1 or len(names) == 1:
            return Headings(path=paths[0] if paths else 0)
    if child is None and parent is not None:
        child = _child(names, words, parent, name, values)
    if child is None or parent is None:
        raise TaxonomyError(_unknown(names))
    return Headings(child, parent, name)


def _child(
    names: Sequence[str], words: Sequence[str], parent: int, name: int | None, values: Values
) -> int | None:
    """Return the column of the class, by the column of its parent."""
    used = {parent, name}
    free = [at for at in range(len(names)) if at not in used and not is_parent(names[at])]
    above = _above_what(words[parent])
    for fitting in (
        [at for at in free if above and words[at] == above],
        [at for at in free if _CHILD.fullmatch(words[at])],
        free if len(names) == 2 else [],
        [at for at in free if is_name(names[at])],
    ):
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            above_all = values(parent)
            holding = [at for at in fitting if not above_all.isdisjoint(values(at))]
            if len(holding) == 1:
                return holding[0]
            raise TaxonomyError(
                f"the class may be in the column {listed([names[at] for at in fitting])}: add"
                f" --child-column {names[fitting[0]]}, or another of them"
            )
    return None


def _above_what(words: str) -> str:
    """Return `id` of `parent id`, `category` of `supercategory`; empty for `parent`."""
    found = _PARENT.fullmatch(words)
    return (found["of"] or found["of_which"] or found["joined"] or "") if found else ""


def _only(found: Sequence[int], names: Sequence[str]) -> int | None:
    if len(found) > 1:
        raise TaxonomyError(
            f"the parent may be in the columns {listed([names[at] for at in found])}: add"
            f" --parent-column {names[found[0]]}, or another of them"
        )
    return found[0] if found else None


def _subordinate(words: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of a pair such as `subcategory` and `category`; None without one."""
    for at, each in enumerate(words):
        found = _SUBORDINATE.fullmatch(each)
        if found and words.count(found["above"]) == 1:
            return at, words.index(found["above"])
    return None


def _levels(words: Sequence[str]) -> tuple[int, ...]:
    """Return the columns `level 1`, `level 2`, ..., from the top down."""
    found: dict[str, dict[int, int]] = {}
    for at, each in enumerate(words):
        if matched := _LEVEL.fullmatch(each):
            found.setdefault(matched["stem"], {})[int(matched["number"])] = at
    for by_number in found.values():
        first = min(by_number)
        whole = sorted(by_number) == [*range(first, first + len(by_number))]
        if len(by_number) > 1 and first < 2 and whole:
            return tuple(by_number[number] for number in sorted(by_number))
    return ()


def _unknown(names: Sequence[str]) -> str:
    many = f"the columns {listed(names)}" if len(names) > 1 else f"one column, {listed(names)}"
    return (
        f"this is a table with {many}: add --child-column COLUMN --parent-column COLUMN, by name or"
        " number, and --no-header if its first row is a class"
    )

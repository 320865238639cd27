"""Paths from the top of a taxonomy: `Home > Lamps > Desk Lamps`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from manyclass.training.taxonomies.layout import PATH_SEPARATOR, TaxonomyLayout
from manyclass.training.taxonomies.nodes import Node, TaxonomyError

ARROW: Final = re.compile(r"\s*[>\u203a\u00bb]\s*")  # a separator that needs no option
LIKELY: Final = (" / ", "/", "::", "|", "\\", " - ", ".")  # that need one
COMMENT: Final = re.compile(r"#(?:[\s#!]|$)")
_ID = re.compile(r"(\d+)\s+-\s+(.+)")  # as in Google's taxonomy with ids

Path = tuple[str, str]  # the location in the file, and the text


def nodes_of_paths(
    paths: Iterable[Path], layout: TaxonomyLayout, may_have_header: bool = False
) -> tuple[list[Node], str]:
    """Return the node of each path and of each above it, and what was understood."""
    paths = [*paths]
    if not paths:
        raise TaxonomyError("it has no class")
    numbered = [_ID.fullmatch(text) for _, text in paths]
    ids = [found[1] for found in numbered if found]
    if len(ids) == len(paths):
        paths = [
            (where, found[2]) for (where, _), found in zip(paths, numbered, strict=True) if found
        ]
    elif layout.names == "id":
        at = numbered.index(None)
        raise TaxonomyError(f"{paths[at][0]}: it does not begin with an id, as `632 - Hardware`")
    else:
        ids = []
    if may_have_header and not ids:
        _check_first(paths, layout)
    found = [(where, _parts(text, where, layout.separator)) for where, text in paths]
    if layout.names == "id":
        return [*_by_ids(found, ids)], "lines are paths, named by their ids"
    said = (
        "lines are paths, "
        + {
            None: "named whole (or by their last part: --names last)",
            "path": "named whole",
            "last": "named by their last part",
        }[layout.names]
    )
    if ids:
        said += "; their ids are not read (--names id)"
    if layout.names == "last":
        return [*nodes_of_parts(found)], said
    return [*_whole(found, _separator_of(paths, layout))], said


def is_comment(text: str, where: str, has_more: bool) -> bool:
    """Return whether a line is a comment; TaxonomyError if it may be a class.

    `has_more`: there are more cells behind the text.
    """
    if not text.startswith("#"):
        return False
    if COMMENT.match(text) or not (has_more or ARROW.search(text)):
        return True
    raise TaxonomyError(
        f"{where}: it begins with #, so it may be a comment: write a blank behind #, or add"
        " --no-comments if names of classes begin with #"
    )


def _check_first(paths: Sequence[Path], layout: TaxonomyLayout) -> None:
    """Raise TaxonomyError if the first line may be a header: it begins no path."""
    separator = ARROW if layout.separator is None else re.compile(re.escape(layout.separator))
    (where, first), *others = paths
    if layout.header is not None or not others or separator.search(first):
        return
    if not any(separator.split(text)[0].strip() == first.strip() for _, text in others):
        raise TaxonomyError(doubt(where, first))


def doubt(where: str, row: str) -> str:
    """Return the message for a first row that may be a header."""
    return (
        f"{where}: `{row}` may be the header, since no other line has these names: add --header,"
        " or --no-header if it is a class"
    )


def nodes_of_parts(paths: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Node]:
    """Yield the node of each path and of each above it, with paths for keys."""
    for where, parts in paths:
        for depth in range(1, len(parts) + 1):
            yield Node(tuple(parts[:depth]), tuple(parts[: depth - 1]) or None, where)


def _whole(paths: Iterable[tuple[str, Sequence[str]]], separator: str) -> Iterator[Node]:
    """Yield the nodes with paths for names, as the file writes them."""
    for node in nodes_of_parts(paths):
        yield node._replace(label=separator.join(node.key))


def _by_ids(paths: Sequence[tuple[str, tuple[str, ...]]], ids: Sequence[str]) -> Iterator[Node]:
    id_of = dict(zip((parts for _, parts in paths), ids, strict=True))
    for (where, parts), id in zip(paths, ids, strict=True):
        above = id_of.get(parts[:-1])
        if above is None and len(parts) > 1:
            raise TaxonomyError(
                f"{where}: there is no line with the id of {' > '.join(parts[:-1])}"
            )
        yield Node(id, above, where)


def _parts(text: str, where: str, separator: str | None) -> tuple[str, ...]:
    parts = ARROW.split(text) if separator is None else text.split(separator)
    parts = [part.strip() for part in parts]
    if not all(parts):
        raise TaxonomyError(f"{where}: a part of the path is empty")
    return tuple(parts)


def _separator_of(paths: Iterable[Path], layout: TaxonomyLayout) -> str:
    """Return the text between the parts of the first path that has several."""
    if layout.separator is not None:
        return layout.separator
    found = (ARROW.search(text) for _, text in paths)
    return next((each[0] for each in found if each), PATH_SEPARATOR)

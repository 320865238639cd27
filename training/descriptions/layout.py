"""The layout of a file that describes classes, as the user gives it."""

from dataclasses import dataclass
from typing import Final, Literal

NameFrom = Literal["uri-end", "notation", "uri"]
SEPARATOR: Final = "|"  # between the other names in a cell


@dataclass(frozen=True, slots=True)
class DescriptionLayout:
    """Options that the user gave; None: the file determines it.

    Columns are given by name, or by number from 1.
    """

    name: str | None = None  # the column of the class
    title: str | None = None
    description: str | None = None
    others: str | None = None  # the column of other names
    separator: str = SEPARATOR
    header: bool = True
    delimiter: str | None = None  # of CSV
    encoding: str | None = None  # of text
    replaces: bool = False  # parts that a class of the file lacks are removed
    languages: tuple[str, ...] = ()  # of titles in SKOS, the preferred one first
    name_from: NameFrom = "uri-end"  # of a concept of SKOS
    broader: bool = False  # the broader concept of SKOS is the parent
    first_parent: bool = False  # of several broader concepts, the first by name

from collections.abc import Mapping
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.sections import Sections

LONGEST_PATH: int
MOST_PLACED: int
LARGEST_NAMES: int
SECTIONS: Mapping[str, str]

@final
class Taxonomy:
    """The tree of a model's classes, below a root that has no name.

    A node is a class if it was placed or learned. A node that was only named as a parent, or whose
    class was forgotten, goes with its last child. Children stand in the order in which they were
    placed.

    Threads: any number may read at once. One changes it; a change waits for the readers under way.
    """

    def __new__(cls, hash_seed: int = ...) -> Self: ...
    def __len__(self) -> int:
        """Return the number of nodes."""

    def __contains__(self, name: str, /) -> bool: ...
    def is_class(self, name: str) -> bool:
        """Return whether the name has a node that is a class."""

    def parent(self, name: str) -> str | None:
        """Return the parent's name; None for the root, and for a name without a node."""

    def path(self, name: str) -> list[str]:
        """Return the names from below the root down to this one; empty without a node."""

    def children(self, name: str, after: str | None = ..., limit: int = ...) -> list[str]:
        """Return at most `limit` children, from behind the child `after`; UnknownName."""

    def height(self, name: str) -> int:
        """Return the edges of the longest path down; 0 without a node. Reads all nodes below."""

    def distance(self, one: str | None, other: str | None) -> int:
        """Return the edges of the path between two classes, None for the root.

        A class without a node stands right below the root.
        """

    @property
    def name_bytes(self) -> int:
        """Bytes of all names in UTF-8."""

    @property
    def resident_bytes(self) -> int:
        """Bytes of memory."""

    def place(self, name: str, parent: str | None = ..., moves: bool = ...) -> list[str]:
        """Place a class below a parent, None for the root; add both if they have no nodes.

        A class with another parent keeps it unless it `moves`. Nothing changes where a circle, a
        path of more than 32 edges, more than a million nodes or more than 64 MiB of names would
        result. Return the names of the nodes that are gone because the class moved.
        """

    def note_classes(self, names: list[str]) -> list[str]:
        """Note that events learned these classes, if they have nodes.

        Return the names of nodes that were no classes before.
        """

    def forget(self, name: str) -> list[str]:
        """Forget a class; return the names of the nodes that are gone.

        The node of a class with children stays, without being a class.
        """

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays, none of an empty taxonomy that never had a node."""

    @classmethod
    def load(cls, sections: Sections, hash_seed: int = ...) -> Self:
        """Return the dumped taxonomy, an empty one without its arrays; SnapshotError."""

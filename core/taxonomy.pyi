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

    A node is a class if it was placed or learned. A node that is not a class (only named as a
    parent, or forgotten) is removed with its last child. Children are in the order of placement.

    Threads: any number may read at once. One at a time may change it; a change waits for the
    current readers.
    """

    def __new__(cls, hash_seed: int = ...) -> Self: ...
    def __len__(self) -> int:
        """Return the number of nodes."""

    def __contains__(self, name: str, /) -> bool:
        """Return whether the name has a node."""

    def is_class(self, name: str) -> bool:
        """Return whether the name has a node that is a class."""

    def parent(self, name: str) -> str | None:
        """Return the parent's name; None for the root, and for a name without a node."""

    def path(self, name: str) -> list[str]:
        """Return the names from below the root down to this name; empty without a node."""

    def children(self, name: str | None, after: str | None = ..., limit: int = ...) -> list[str]:
        """Return the names of at most `limit` children, from behind the child `after` on; of the
        root for None.

        Raise UnknownName for a name without a node, and if `after` is not a child.
        """

    def height(self, name: str) -> int:
        """Return the number of edges of the longest path down; 0 without a node.

        Reads all nodes below."""

    def distance(self, one: str | None, other: str | None) -> int:
        """Return the number of edges of the path between two classes; None stands for the root.

        A class without a node counts as a child of the root.
        """

    @property
    def name_bytes(self) -> int:
        """Bytes of all names in UTF-8."""

    @property
    def resident_bytes(self) -> int:
        """Bytes of memory that the taxonomy occupies now."""

    def place(self, name: str, parent: str | None = ..., moves: bool = ...) -> list[str]:
        """Place a class below a parent (None: the root); add nodes for both if needed.

        Return the names of the nodes removed because the class moved. A class with another parent
        keeps it unless `moves`. Nothing changes if a circle, a path of more than 32 edges, more
        than a million nodes or more than 64 MiB of names would follow.
        """

    def note_classes(self, names: list[str]) -> list[str]:
        """Note that events learned these classes, if they have nodes.

        Return the names of the nodes that were not classes before.
        """

    def rename(self, name: str, to: str) -> bool:
        """Give a node another name; its parent and its children stay.

        Return False, and change nothing, without the node, if a node has the name `to`, and if the
        names of all nodes would have more than LARGEST_NAMES bytes.
        """

    def forget(self, name: str) -> list[str]:
        """Forget a class; return the names of the removed nodes.

        The node of a class with children stays, but is not a class any more.
        """

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays; empty if the taxonomy never had a node."""

    @classmethod
    def load(cls, sections: Sections, hash_seed: int = ...) -> Self:
        """Return the dumped taxonomy, or an empty one if `sections` has none; SnapshotError."""

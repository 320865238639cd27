from typing import Literal, final

from _typeshed import ReadableBuffer as Buffer

_Fault = Literal["malformed", "repeated", "elements", "values"]

@final
class Outline:
    """The elements of a list in a JSON body, found but not parsed. Immutable.

    The scan releases the GIL and ends at the first limit exceeded. It follows brackets, strings and
    commas only: the JSON of each element, and of `rest`, is not checked. Any thread may read it.
    """

    fault: _Fault | None
    """The limit exceeded, or the fault of the brackets; None without a fault."""

    elements: list[memoryview] | None
    """The JSON of each element; None if the body has no such list, or a fault."""

    rest: bytes
    """The body with an empty list instead of the list."""

    position: int | None
    """The index of the element with the fault; None if the fault is not in the list."""

    key: bytes
    """For too many values in an object: the key of the last one read, as written; else empty."""

    bytes_read: int
    """The number of bytes of the body that were scanned."""

    def __init__(self, body: bytes, name: bytes, most_elements: int, most_values: int) -> None:
        """Scan the body for the list that is the member `name` of its outer object."""

def count_members(data: Buffer, most: int) -> int:
    """Return the number of members of a JSON object or array, at most `most` + 1; else 0.

    Other faults of the JSON are not found. Releases the GIL.
    """

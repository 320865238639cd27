from typing import Literal, final

from _typeshed import ReadableBuffer as Buffer

_Fault = Literal["malformed", "repeated", "elements", "values"]

@final
class Outline:
    """The places of the elements of a list in a JSON body. Immutable; any thread may read it.

    The scan releases the GIL. It follows brackets, strings and commas only, so the JSON of each
    element, and of `rest`, is still to be checked; and it ends at the first limit exceeded.
    """

    fault: _Fault | None
    """The limit exceeded, or what is wrong with the brackets."""

    elements: list[memoryview] | None
    """The JSON of each element; None when the body has no such list, or a fault."""

    rest: bytes
    """The body with an empty list in its place."""

    position: int | None
    """The position of the element with the fault; None when the fault is not in the list."""

    key: bytes
    """The key with the last value of an object with too many, as it is written; else empty."""

    bytes_read: int
    """Return the number of bytes of the body that were scanned."""

    def __init__(self, body: bytes, name: bytes, most_elements: int, most_values: int) -> None: ...

def count_members(data: Buffer, most: int) -> int:
    """Return how many members a JSON object or array has, as far as `most` + 1; else 0.

    What is wrong with its JSON is not found out. Releases the GIL.
    """

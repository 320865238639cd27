from collections.abc import Iterable, Mapping
from typing import Self, final

from _typeshed import ReadableBuffer as Buffer

LONGEST_NAME: int
LARGEST_VALUE: float
SMALLEST_VALUE: float

@final
class Instance:
    """A sparse instance: unique feature names with values other than 0. Immutable.

    The constructor takes a mapping name -> value, or names with value 1 each; the values of a
    repeated name add up. Values of a size below SMALLEST_VALUE are left out. It raises
    InstanceError for an empty or overlong name, a name that is not valid Unicode, and a value that
    is not a finite number of a size up to LARGEST_VALUE.
    """

    def __new__(cls, features: Mapping[str, float] | Iterable[str | int]) -> Self: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Instance:
        """Return the instance from its `bytes(instance)`; raise EventError for other data."""

    @classmethod
    def from_json(cls, data: Buffer, most: int = 0xFFFFFFFF) -> Instance | None:
        """Return the instance of a `features` value in JSON, without making Python objects.

        The text must be an object name -> number or an array of names, with at most `most` entries,
        without escapes and repeated keys, and valid for an instance. Return None for any other
        text: the ordinary parser then reads it or reports the error.
        """

    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int:
        """Return the number of active features."""

    @property
    def is_signed(self) -> bool:
        """True if a value is below 0."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def items(self) -> list[tuple[str, float]]:
        """Return the names and values in their original order."""

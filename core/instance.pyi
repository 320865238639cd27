from collections.abc import Iterable, Mapping
from typing import Self, final

import numpy as np
from _typeshed import ReadableBuffer as Buffer
from numpy.typing import ArrayLike, NDArray

LONGEST_NAME: int
LARGEST_VALUE: float
SMALLEST_VALUE: float
LEAST_DIMENSION: int
MOST_DIMENSION: int
VECTOR_FORMS: str  # in words, with an example

@final
class Instance:
    """A sparse instance: unique feature names with values other than 0, and perhaps a vector, such
    as an embedding. Immutable.
    """

    def __new__(
        cls, features: Mapping[str, float] | Iterable[str | int], vector: ArrayLike | None = None
    ) -> Self:
        """Take a mapping name -> value, or names with value 1 each.

        The values of a repeated name are added. Values with a magnitude below SMALLEST_VALUE are
        left out. Raise InstanceError for an empty or overlong name, a name that is not valid
        Unicode, and a value that is not a finite number of a magnitude up to LARGEST_VALUE.

        A vector has LEAST_DIMENSION to MOST_DIMENSION numbers. It is scaled to length 1 and rounded
        to multiples of 2^-12, unless it was before. Raise InstanceError for another dimension, a
        number that is not finite, and a vector of zeros.
        """

    @classmethod
    def from_bytes(cls, data: bytes) -> Instance:
        """Return the instance of its bytes, `bytes(instance)`; raise EventError for other data."""

    @classmethod
    def from_json(cls, data: Buffer, most: int = 0xFFFFFFFF) -> Instance | None:
        """Return the instance of a `features` value in JSON, read without Python objects.

        `data` must be an object name -> number or an array of names, with at most `most` entries,
        without escapes and repeated keys, and valid for an instance. Return None for any other
        data: the general parser then reads it or reports the error.
        """

    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int:
        """Return the number of active features."""

    @property
    def is_empty(self) -> bool:
        """True without features and without a vector."""

    @property
    def is_signed(self) -> bool:
        """True if a value is below 0."""

    @property
    def has_vector(self) -> bool: ...
    @property
    def dimension(self) -> int:
        """The number of numbers of the vector, 0 without one."""

    @property
    def vector(self) -> NDArray[np.int16] | None:
        """The vector, as multiples of 2^-12 of its length; None without one."""

    def unit_vector(self) -> tuple[float, ...] | None:
        """Return the numbers of the vector at length 1, but for rounding; None without one.

        An instance with these numbers as its vector has the same vector.
        """

    def with_vector(self, vector: ArrayLike | None) -> Instance:
        """Return an instance of the same features with this vector, None for none.

        Raise InstanceError for what cannot be one, as `Instance` does.
        """

    def with_vector_of_json(self, data: Buffer) -> Instance:
        """Return an instance of the same features with the vector of a value in JSON.

        The value is a list of numbers, a string of base64 of little-endian float32 numbers, or an
        object with such a string of int8 numbers under `int8`. `data` must be valid JSON. Raise
        InstanceError for anything else, with the position of an element that is not a number.
        """

    def with_vector_of(self, other: Instance) -> Instance:
        """Return an instance of the same features with the vector of the other, if it has one."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def items(self) -> list[tuple[str, float]]:
        """Return (name, value) of each active feature in the original order."""

"""Vectors of rows: in cells, in JSON, and in files of NumPy beside the rows."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from manyclass.core.instance import LEAST_DIMENSION, MOST_DIMENSION
from manyclass.training.lines import FileFault, LineFault

Vector = NDArray[np.float64]

FORMS: Final = (
    'an array of numbers, a text of base64 of float32, or {"int8": "..."}, of base64 of int8'
)
_REMEDY: Final = "write a number, or leave out the vector"
_KINDS: Final = ("f2", "f4", "f8", "i1", "i2")  # of the numbers in a file of NumPy
_SEPARATORS: Final = re.compile(r"[\s;]+")
_MODERATE: Final = (1e-30, 1e30)  # magnitudes that float32 has with all its digits
_JSON = msgspec.json.Decoder(list[float])


def vector_of_cell(cell: str) -> Vector:
    """Return the vector of a cell: JSON, numbers between blanks or `;`, or base64.

    Numbers in brackets without commas, as NumPy prints them, are read too. Raise LineFault.
    """
    text = cell.strip()
    if text.startswith("["):
        try:
            return checked(_JSON.decode(text))
        except msgspec.DecodeError:
            text = text.removeprefix("[").removesuffix("]").strip()
    elif text.startswith("{"):
        return vector_of_json(text.encode())
    if "..." in text or "…" in text:
        raise LineFault("the vector is cut, as programs print a long one: write all its numbers")
    parts = _SEPARATORS.split(text)
    if len(parts) == 1:
        parts = text.split(",")
    if len(parts) == 1:
        return vector_of_json(msgspec.json.encode(text))
    return checked([_number(part.removesuffix(","), at) for at, part in enumerate(parts, 1)])


def vector_of_json(value: bytes | msgspec.Raw) -> Vector:
    """Return the vector of a value of JSON. Raise LineFault."""
    with suppress(msgspec.DecodeError):  # of an element that is not a number, see below
        return checked(_JSON.decode(value))
    try:
        found: Any = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineFault(f"the vector: {error}; a vector is {FORMS}") from error
    match found:
        case list():
            return checked([_real(each, at) for at, each in enumerate(found, 1)])
        case str():
            return checked(_packed(found, "<f4"))
        case {"int8": str(packed)} if len(found) == 1:
            return checked(_packed(packed, "<i1"))
    raise LineFault(f"a vector is {FORMS}")


def checked(numbers: Sequence[float] | NDArray[Any]) -> Vector:
    """Return numbers as a vector. Raise LineFault if no instance can have it."""
    if not LEAST_DIMENSION <= len(numbers) <= MOST_DIMENSION:
        raise LineFault(_dimension(len(numbers)))
    vector = np.asarray(numbers, np.float64)
    if not np.isfinite(vector).all():
        at = int(np.argmin(np.isfinite(vector)))
        raise LineFault(f"number {at + 1} of the vector is {vector[at]}: leave out the vector")
    if not vector.any():
        raise LineFault("all numbers of the vector are 0: leave out the vector")
    return vector


def packed(vector: Vector) -> str:
    """Return a vector in the form of a request: base64 of float32, of which only the direction
    counts."""
    largest = float(np.abs(vector).max())
    if not _MODERATE[0] < largest < _MODERATE[1]:
        vector = vector / largest
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _number(text: str, at: int) -> float:
    try:
        return float(text)
    except ValueError:
        remedy = "write it with a point" if "," in text else _REMEDY
        raise LineFault(f"number {at} of the vector is {text[:20]!r}: {remedy}") from None


def _real(value: object, at: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineFault(
            f"number {at} of the vector is {msgspec.json.encode(value).decode()}: {_REMEDY}"
        )
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _packed(text: str, dtype: str) -> NDArray[Any]:
    try:
        data = b64decode(text, validate=True)
        return np.frombuffer(data, dtype)
    except ValueError:
        raise LineFault(f"the vector is {text[:20]!r}, but a vector is {FORMS}") from None


class VectorFile:
    """An array of NumPy on disk, whose row i is the vector of the i-th row of another file."""

    def __init__(self, file: str) -> None:
        """Map the file into memory. Raise FileFault unless it is an array of vectors."""
        self.name = file
        try:
            found: Any = np.load(Path(file).expanduser(), mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise FileFault(file, error.strerror or str(error)) from error
        except (ValueError, EOFError) as error:
            raise FileFault(file, "it is not an array that `numpy.save` wrote") from error
        if not isinstance(found, np.ndarray):
            names = ", ".join(found)
            found.close()
            raise FileFault(
                file,
                f"it is an archive of the arrays {names}: save one of them in a file of its own,"
                " with `numpy.save`",
            )
        if found.ndim != 2:
            raise FileFault(
                file, f"its array has the shape {found.shape}, in place of a vector for each row"
            )
        if f"{found.dtype.kind}{found.dtype.itemsize}" not in _KINDS:
            raise FileFault(
                file,
                f"its numbers are {found.dtype}, in place of float32, float16, float64, int8 or"
                " int16: `array.astype('float32')` converts them",
            )
        if not LEAST_DIMENSION <= found.shape[1] <= MOST_DIMENSION:
            raise FileFault(file, _dimension(found.shape[1]))
        self._vectors = found
        self._row = 0  # of the other file, to be read next
        self._is_counting = False

    def begin(self) -> None:
        """Begin with the first row."""
        self._row = 0

    def next_of(self, file: str) -> Vector | None:
        """Return the vector of the next row of this file, None while rows are counted.

        Raise LineFault if no instance can have it, FileFault if no vector is left.
        """
        at = self._row
        self._row += 1
        if self._is_counting:
            return None
        if at == len(self._vectors):
            raise self._other_number(file, f"more than {_counted(at, 'row')}")
        return checked(self._vectors[at])

    def end(self, file: str) -> None:
        """Raise FileFault unless each vector was that of a row of this file."""
        if self._row != len(self._vectors):
            raise self._other_number(file, _counted(self._row, "row"))

    def count(self, rows: Iterable[object]) -> None:
        """Read all rows to count them: they call `begin` and `end`, which compares the numbers."""
        self._is_counting = True
        try:
            for _ in rows:
                pass
        finally:
            self._is_counting = False

    def _other_number(self, file: str, rows: str) -> FileFault:
        return FileFault(
            file,
            f"it has {rows}, but {self.name} has {_counted(len(self._vectors), 'vector')}: each row"
            " needs its own, in the same order",
        )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _dimension(numbers: int) -> str:
    return f"a vector has from {LEAST_DIMENSION} to {MOST_DIMENSION:,} numbers, not {numbers:,}"

"""The snapshot format: a header and named flat arrays, each with a checksum; nothing executable.

    magic 8 bytes | header size u32 | header checksum 16 bytes | header (JSON) | arrays, end to end

The header holds the format version, free facts, and each array's name, type, shape and checksum
(BLAKE2b, 16 bytes). Numbers are little-endian. Equal states give equal bytes.
"""

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import SnapshotError

Arrays = dict[str, NDArray[np.generic]]

MAGIC = b"MANYCLAS"
VERSION = 1  # of the format
DTYPES = ("|u1", "<u2", "<u4", "<u8", "<f4", "<f8")  # of arrays
_PREFIX = struct.Struct("<8sI16s")
_LONGEST_HEADER = 1 << 20


def _checksum(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _raw(array: NDArray[np.generic]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def write(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]) -> list[memoryview]:
    """Return the snapshot's bytes in order, as views; the arrays are not copied."""
    sections = [
        {
            "name": name,
            "dtype": array.dtype.newbyteorder("<").str,
            "shape": list(array.shape),
            "checksum": _checksum(_raw(array)).hex(),
        }
        for name, array in arrays.items()
    ]
    header = json.dumps(
        {"version": VERSION, "facts": dict(facts), "sections": sections}, sort_keys=True
    ).encode()
    prefix = _PREFIX.pack(MAGIC, len(header), _checksum(header))
    return [memoryview(prefix), memoryview(header), *(_raw(array) for array in arrays.values())]


def read(chunks: Iterable[bytes | memoryview]) -> tuple[dict[str, Any], Arrays]:
    """Return the facts and arrays of a snapshot, given its bytes in chunks of any size.

    Raise SnapshotError, which names the damaged part.
    """
    facts, entries, data = _opened(chunks)
    return facts, _read_sections(entries, data)


def outline(chunks: Iterable[bytes | memoryview]) -> tuple[dict[str, Any], list["Section"]]:
    """Return the facts and the sections of a snapshot, also if sections are damaged.

    Raise SnapshotError if the header is damaged.
    """
    facts, entries, data = _opened(chunks)
    sections = []
    begin = 0
    for entry in entries:
        end = begin + entry.size
        sections.append(Section(entry, _is_whole(entry, data[begin:end])))
        begin = end
    return facts, sections


def _opened(
    chunks: Iterable[bytes | memoryview],
) -> tuple[dict[str, Any], list["Entry"], memoryview]:
    """Return the facts, the entries of the sections, and the bytes behind the header."""
    data = memoryview(b"".join(chunks))
    if len(data) < _PREFIX.size:
        raise SnapshotError("the snapshot is cut short before its header")
    magic, header_size, header_checksum = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise SnapshotError("this is not a snapshot of manyclass")
    at = _PREFIX.size
    header = data[at : at + min(header_size, _LONGEST_HEADER)]
    if len(header) != header_size or _checksum(header) != header_checksum:
        raise SnapshotError("the snapshot's header is damaged")
    try:
        described = json.loads(bytes(header))
    except (ValueError, RecursionError) as error:
        raise _senseless(repr(error)) from error
    return *_parsed_header(described), data[at + header_size :]


@dataclass(frozen=True, slots=True)
class Entry:
    """A section as the header describes it."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    checksum: str

    @property
    def size(self) -> int:
        """Bytes of the section."""
        return self.dtype.itemsize * prod(self.shape)


class Section(NamedTuple):
    """A section of a snapshot, and whether its bytes are as they were written."""

    entry: Entry
    is_whole: bool


def _senseless(what: str) -> SnapshotError:
    return SnapshotError(f"the snapshot's header makes no sense: {what}")


def _parsed_header(described: Any) -> tuple[dict[str, Any], list[Entry]]:
    """Return the facts and the entries of the sections; SnapshotError if a part is malformed."""
    if not isinstance(described, dict) or described.keys() != {"version", "facts", "sections"}:
        raise _senseless("it must have version, facts and sections")
    version, facts, sections = described["version"], described["facts"], described["sections"]
    if type(version) is not int or version != VERSION:
        raise SnapshotError(
            f"the snapshot's header has format {version!r}, and this release of manyclass reads"
            f" format {VERSION}"
        )
    if not isinstance(facts, dict) or not isinstance(sections, list):
        raise _senseless("facts must be an object and sections an array")
    entries = [_parsed_entry(entry) for entry in sections]
    names = Counter(entry.name for entry in entries)
    for name, times in names.items():
        if times > 1:
            raise SnapshotError(f"the header lists it {times} times", name)
    return facts, entries


def _parsed_entry(entry: Any) -> Entry:
    if not isinstance(entry, dict) or entry.keys() != {"name", "dtype", "shape", "checksum"}:
        raise _senseless("a section must have name, dtype, shape and checksum")
    name, dtype, shape, checksum = (entry[key] for key in ("name", "dtype", "shape", "checksum"))
    if not isinstance(name, str) or not name:
        raise _senseless(f"{name!r} cannot name a section")
    if dtype not in DTYPES:
        raise SnapshotError(f"makes no sense: its type is {dtype!r}, not one of {DTYPES}", name)
    if not isinstance(shape, list) or not 1 <= len(shape) <= 2 or not all(map(_is_size, shape)):
        raise SnapshotError(f"makes no sense: it cannot have the shape {shape!r}", name)
    if not isinstance(checksum, str):
        raise SnapshotError("makes no sense: its checksum is not a text", name)
    return Entry(name, np.dtype(dtype), tuple(shape), checksum)


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**48


def _is_whole(entry: Entry, part: memoryview) -> bool:
    return len(part) == entry.size and _checksum(part).hex() == entry.checksum


def _read_sections(entries: list[Entry], data: memoryview) -> Arrays:
    at = 0
    arrays: Arrays = {}
    for entry in entries:
        part = data[at : at + entry.size]
        if not _is_whole(entry, part):
            raise SnapshotError("it is damaged or cut short", entry.name)
        # Copied, so that the array is aligned and the joined bytes are freed.
        arrays[entry.name] = np.frombuffer(part, entry.dtype).reshape(entry.shape).copy()
        at += entry.size
    if at != len(data):
        raise SnapshotError("the snapshot has bytes after the last section of its header")
    return arrays

"""A snapshot: named flat arrays under a header, every part with its checksum. Nothing executable.

    magic 8 bytes | header size u32 | header checksum 16 bytes | header (JSON) | arrays, end to end

The header says the format's version, free facts, and each array's name, type, length and checksum
(BLAKE2b, 16 bytes). Numbers are little-endian. Equal states make equal snapshots.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import SnapshotError

Arrays = dict[str, NDArray[np.generic]]

MAGIC = b"MANYCLAS"
# All have one layout. 1 is of the releases that had one learner, 2 of those with shadows. 3 names
# the version of the rules, if that is not 1: releases that know no versions must refuse it.
VERSION = 2
VERSION_WITH_RULES = 3
READS = (1, VERSION, VERSION_WITH_RULES)
_PREFIX = struct.Struct("<8sI16s")
_LONGEST_HEADER = 1 << 20


def _checksum(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _raw(array: NDArray[np.generic]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def write(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]) -> list[memoryview]:
    """The snapshot's bytes, in order; the arrays themselves are not copied."""
    sections = [
        {
            "name": name,
            "dtype": array.dtype.newbyteorder("<").str,
            "shape": list(array.shape),
            "checksum": _checksum(_raw(array)).hex(),
        }
        for name, array in arrays.items()
    ]
    version = VERSION_WITH_RULES if "rules" in facts else VERSION
    header = json.dumps(
        {"version": version, "facts": dict(facts), "sections": sections}, sort_keys=True
    ).encode()
    prefix = _PREFIX.pack(MAGIC, len(header), _checksum(header))
    return [memoryview(prefix), memoryview(header), *(_raw(array) for array in arrays.values())]


def read(chunks: Iterable[bytes | memoryview]) -> tuple[dict[str, Any], Arrays]:
    """The facts and arrays that were written, however the bytes were cut.

    Raises SnapshotError, which names the part, for anything that is not whole and unharmed.
    """
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
        return _read_sections(json.loads(bytes(header)), data[at + header_size :])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(f"the snapshot's header makes no sense: {error!r}") from error


def _read_sections(described: dict[str, Any], data: memoryview) -> tuple[dict[str, Any], Arrays]:
    if described["version"] not in READS:
        formats = ", ".join(map(str, READS))
        raise SnapshotError(
            f"the snapshot has format {described['version']}; this program reads {formats}"
        )
    at = 0
    arrays: Arrays = {}
    for section in described["sections"]:
        dtype, shape = np.dtype(section["dtype"]), tuple(section["shape"])
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        part = data[at : at + size]
        if len(part) != size or _checksum(part).hex() != section["checksum"]:
            raise SnapshotError(f"the snapshot's section {section['name']!r} is damaged")
        # copied, so that the array is aligned and the joined bytes can go
        arrays[section["name"]] = np.frombuffer(part, dtype).reshape(shape).copy()
        at += size
    if at != len(data):
        raise SnapshotError("the snapshot goes on behind its last section")
    return described["facts"], arrays

"""Parquet and Arrow, by arro3-io of the extra [tables]: batch by batch, in bounded memory.

A damaged file can end the process that reads it, so that another one does.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from os import SEEK_END
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any, Final

import msgspec

from manyclass.training.lines import STANDARD_INPUT
from manyclass.training.tables.record import Cell, Record, TableError, readers_of

MAGIC: Final = b"PAR1"  # at both ends of a file
ARROW: Final = b"ARROW1"  # at both ends of a file of Arrow, which is Feather too
STREAM: Final = b"\xff\xff\xff\xff"  # at the beginning of a stream of Arrow
MAGICS: Final = (MAGIC, ARROW, STREAM)
LEAST_BYTES = 12  # both magics, and the length of what is between them
BATCH_ROWS = 1024
SIZE_BYTES: Final = 8  # of the number in front of each part


class Part(msgspec.Struct):
    """A part of what the other process found: the names of the columns, rows, or an error."""

    names: list[str] = []
    rows: list[list[Cell]] = []
    error: str = ""
    is_last: bool = False


_PARTS = msgspec.msgpack.Decoder(Part)


def records(file: str, vector: str | None = None) -> Iterator[Record]:
    """Yield the names of the columns, then the rows, from number 1 on; OSError, TableError.

    The column `vector` has vectors.
    """
    if file == STANDARD_INPUT:
        raise TableError("Parquet and Arrow are read from a file, not from standard input")
    if find_spec("arro3") is None:
        raise TableError(
            "reading Parquet and Arrow needs another package: pip install 'manyclass[tables]'"
        )
    with Path(file).open("rb") as opened:
        begin = opened.read(LEAST_BYTES)
        opened.seek(-len(begin), SEEK_END)
        reader = _reader_of(begin, opened.read())
    given = [] if vector is None else [vector]
    command = [sys.executable, "-P", "-m", __name__, file, reader, *given]
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as process:
        try:
            yield from _received(process.stdout)
        finally:
            process.kill()


def _reader_of(begin: bytes, end: bytes) -> str:
    """Return the name of the function of arro3 that reads a file, by its first and last bytes."""
    if len(begin) == LEAST_BYTES:
        for magic, reader in ((MAGIC, "read_parquet"), (ARROW, "read_ipc")):
            if begin.startswith(magic) and end.endswith(magic):
                return reader
        if begin.startswith(STREAM):
            return "read_ipc_stream"
    raise TableError("it is not a whole file of Parquet or Arrow")


def _received(output: IO[bytes] | None) -> Iterator[Record]:
    number = 0
    while output is not None and len(size := output.read(SIZE_BYTES)) == SIZE_BYTES:
        data = output.read(int.from_bytes(size))
        if len(data) < int.from_bytes(size):
            break
        part = _PARTS.decode(data)
        if part.error:
            raise TableError(f"the file is damaged: {part.error}")
        if part.is_last:
            return
        if part.names:
            yield Record(0, part.names)
        for cells in part.rows:
            number += 1
            yield Record(number, cells)
    raise TableError("the file is damaged: it cannot be read to its end")


def _parts(file: str, reader: str, vector: str | None) -> Iterator[Part]:
    """Read a file, in the other process."""
    from arro3 import io

    size = {"batch_size": BATCH_ROWS} if reader == "read_parquet" else {}
    try:
        batches = getattr(io, reader)(file, **size)
        yield Part(names=batches.schema.names)
        readers = readers_of(batches.schema.names, vector)
        for batch in (part for whole in batches for part in _sliced(whole)):
            columns = [batch.column(at).to_pylist() for at in range(batch.num_columns)]
            cells = (map(read, each) for read, each in zip(readers, columns, strict=True))
            yield Part(rows=[[*row] for row in zip(*cells, strict=True)])
    except BaseException as error:  # the reader panics, in Rust, where a file is damaged
        yield Part(error=str(error) or type(error).__name__)
    yield Part(is_last=True)


def _sliced(batch: Any) -> Iterator[Any]:
    """Yield a batch in parts: one of Arrow may have all rows of a file."""
    for first in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(first, min(BATCH_ROWS, batch.num_rows - first))


def _send(file: str, reader: str, vector: str | None = None) -> None:
    for part in _parts(file, reader, vector):
        data = msgspec.msgpack.encode(part)
        sys.stdout.buffer.write(len(data).to_bytes(SIZE_BYTES) + data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _send(*sys.argv[1:])

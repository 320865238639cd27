"""Lines of files and of standard input, plain or compressed."""

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import zstandard

STANDARD_INPUT: Final = "-"
CHUNK_BYTES = 64 * 1024
GZIP_BEGINS = b"\x1f\x8b"
ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"


class FileFault(Exception):
    """A file that cannot be read, or not to its end. The lines before the fault were given."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class LineFault(Exception):
    """A line that does not hold what it has to."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without its end. Numbers begin at 1."""

    file: str
    number: int
    data: bytes

    @property
    def place(self) -> str:
        """Where a person finds it."""
        return f"{self.file}:{self.number}"


class Source:
    """The lines of a file, or of standard input for `-`; blank ones are passed over.

    How it is compressed is seen from its first bytes, so standard input may be compressed too.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.name = "standard input" if file == STANDARD_INPUT else file
        self.position = 0  # bytes read so far, as they are stored

    @property
    def size(self) -> int | None:
        """How many bytes are stored; None where only the end will tell."""
        if self.file == STANDARD_INPUT:
            return None
        try:
            return Path(self.file).stat().st_size or None  # a named pipe says 0
        except OSError:
            return None

    def __iter__(self) -> Iterator[Line]:
        try:
            if self.file == STANDARD_INPUT:
                yield from self._lines(sys.stdin.buffer)
            else:
                with Path(self.file).open("rb") as opened:
                    yield from self._lines(opened)
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        except (EOFError, zlib.error, zstandard.ZstdError) as error:
            raise FileFault(self.name, str(error)) from error

    def _lines(self, opened: BinaryIO) -> Iterator[Line]:
        for number, data in enumerate(_split(_plain(self._chunks(opened))), 1):
            if data and not data.isspace():
                yield Line(self.name, number, data)

    def _chunks(self, opened: BinaryIO) -> Iterator[bytes]:
        """What there is to read, as it comes; the first chunk tells how it is compressed."""
        buffered = cast(BufferedIOBase, opened)  # typeshed gives BinaryIO no read1
        chunk = buffered.read(len(ZSTD_BEGINS))
        while chunk:
            self.position += len(chunk)
            yield chunk
            chunk = buffered.read1(CHUNK_BYTES)


def _plain(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks, decompressed when they begin as a compressed file does."""
    first = next(chunks, b"")
    if first.startswith(ZSTD_BEGINS):
        yield from _decompressed(first, chunks, zstandard.ZstdDecompressor().decompressobj)
    elif first.startswith(GZIP_BEGINS):
        yield from _decompressed(first, chunks, lambda: zlib.decompressobj(wbits=31))
    else:
        yield first
        yield from chunks


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _decompressed(
    first: bytes, chunks: Iterator[bytes], begin: Callable[[], _Decompressor]
) -> Iterator[bytes]:
    """What was compressed, in one part or several in a row; EOFError when the last is cut short."""
    part: _Decompressor | None = None
    chunk = first
    while chunk or (chunk := next(chunks, b"")):
        part = part or begin()
        yield part.decompress(chunk)
        chunk = b""
        if part.eof:
            chunk, part = part.unused_data, None
    if part is not None:
        raise EOFError("the compressed file ends in the middle")


def _split(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    yield rest

"""Lines of files and of standard input, plain or compressed."""

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STANDARD_INPUT: Final = "-"
CHUNK_BYTES = 64 * 1024
EXPANDED_AT_ONCE = 512  # compressed bytes: up to 128 KiB of zeros are stored in 4 bytes of zstd
LONGEST_LINE: Final = 16 * 2**20  # bytes, its end not counted; twice what a service takes at once
GZIP_BEGINS = b"\x1f\x8b"
GZIP_PADDING = b"\0"  # may follow, as tapes are padded
ZSTD_BEGINS = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FileFault(Exception):
    """A file that cannot be read to its end. The lines before the fault were yielded."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class LineFault(Exception):
    """A line that does not hold a valid instance."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without its end. Numbers begin at 1."""

    file: str
    number: int
    kept: bytes | None  # None if longer than LONGEST_LINE

    @property
    def data(self) -> bytes:
        """The bytes of the line; LineFault if it was too long to be kept."""
        if self.kept is None:
            raise LineFault(
                f"it is longer than {LONGEST_LINE:,} bytes; an instance has a line of its own"
            )
        return self.kept

    @property
    def place(self) -> str:
        """File and line number, for messages."""
        return f"{self.file}:{self.number}"


class Source:
    """The lines of a file, or of standard input for `-`; blank lines are skipped.

    The first bytes determine the compression, so standard input may be compressed too. A byte order
    mark in front of the first line is dropped.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.name = "standard input" if file == STANDARD_INPUT else file
        self.position = 0  # bytes read so far, as they are stored

    @property
    def size(self) -> int | None:
        """Stored bytes; None if they are not known before the end."""
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
        except (EOFError, zlib.error, zstd.ZstdError) as error:
            raise FileFault(self.name, str(error)) from error

    def _lines(self, opened: BinaryIO) -> Iterator[Line]:
        for number, data in enumerate(_split(_plain(self._chunks(opened))), 1):
            if number == 1 and data is not None:
                data = data.removeprefix(BYTE_ORDER_MARK)
            if data is None or (data and not data.isspace()):
                yield Line(self.name, number, data)

    def _chunks(self, opened: BinaryIO) -> Iterator[bytes]:
        """Yield the stored bytes as they arrive; the first chunk determines the compression."""
        buffered = cast(BufferedIOBase, opened)  # typeshed gives BinaryIO no read1
        chunk = buffered.read(len(ZSTD_BEGINS))
        while chunk:
            self.position += len(chunk)
            yield chunk
            chunk = buffered.read1(CHUNK_BYTES)


def _plain(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks, decompressed if they begin with a signature of gzip or zstd."""
    first = next(chunks, b"")
    if first.startswith(ZSTD_BEGINS):
        yield from _decompressed(first, _cut(chunks), zstd.ZstdDecompressor)
    elif first.startswith(GZIP_BEGINS):
        yield from _decompressed(
            first, _cut(chunks), lambda: zlib.decompressobj(wbits=31), GZIP_PADDING
        )
    else:
        yield first
        yield from chunks


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _cut(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut the chunks so small that their expanded bytes fit into memory."""
    for chunk in chunks:
        for begin in range(0, len(chunk), EXPANDED_AT_ONCE):
            yield chunk[begin : begin + EXPANDED_AT_ONCE]


def _decompressed(
    first: bytes,
    chunks: Iterator[bytes],
    begin: Callable[[], _Decompressor],
    padding: bytes = b"",
) -> Iterator[bytes]:
    """Yield the bytes of one or more compressed parts; EOFError if the last is cut short.

    Bytes of `padding` behind a part are skipped.
    """
    part: _Decompressor | None = None
    chunk = first
    while chunk or (chunk := next(chunks, b"")):
        if part is None:
            chunk = chunk.lstrip(padding)
            if not chunk:
                continue
            part = begin()
        yield part.decompress(chunk)
        chunk = b""
        if part.eof:
            chunk, part = part.unused_data, None
    if part is not None:
        raise EOFError("the compressed file ends in the middle")


def _split(chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    """Yield the lines without their ends; None for a line longer than LONGEST_LINE."""
    line = _Unfinished()
    for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            yield line.ended()
        line.add(rest)
    yield line.ended()


class _Unfinished:
    """The pieces of an incomplete line, joined once at its end: a line may have many."""

    def __init__(self) -> None:
        self._pieces = list[bytes]()
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LONGEST_LINE:
            self._pieces.clear()
        else:
            self._pieces.append(piece)

    def ended(self) -> bytes | None:
        """Return the line, None if it is too long, and begin the next one."""
        line = b"".join(self._pieces) if self._size <= LONGEST_LINE else None
        self._pieces.clear()
        self._size = 0
        return line

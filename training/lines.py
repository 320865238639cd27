"""Lines of files and of standard input, plain or compressed."""

import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from gzip import GzipFile
from io import BufferedIOBase, BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO, Final, cast

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STANDARD_INPUT: Final = "-"
CHUNK_BYTES = 64 * 1024
BEGIN_BYTES = 16 * 1024  # of a file, kept to recognise its format
HEADER_BYTES = 16  # of a part of gzip at most, as far as it is read at once
LONGEST_LINE: Final = 16 * 2**20  # bytes, its end not counted; twice what a service takes at once
GZIP_BEGINS = b"\x1f\x8b"
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
    kept: bytes | None  # None if longer than LONGEST_LINE, or if there is a fault
    fault: str = ""
    lines: int = 1  # that the fault concerns: an open quote of CSV takes the next ones in

    @property
    def data(self) -> bytes:
        """The bytes of the line; LineFault if it was too long to be kept, or has a fault."""
        if self.kept is None:
            raise LineFault(
                self.fault
                or f"it is longer than {LONGEST_LINE:,} bytes; an instance has a line of its own"
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
        self.file = _at_home(file)
        self.name = "standard input" if file == STANDARD_INPUT else file
        self.position = 0  # bytes read so far, as they are stored
        self.begin = b""  # the first bytes, not compressed, once they were read

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
        with self._plain() as plain:
            for number, data in enumerate(_split(plain), 1):
                if number == 1 and data is not None:
                    data = data.removeprefix(BYTE_ORDER_MARK)
                if data is None or (data and not data.isspace()):
                    yield Line(self.name, number, data)

    def read(self, most: int) -> bytes:
        """Return all bytes, decompressed; FileFault if they are more than `most`."""
        with self._plain() as plain:
            data = plain.read(most + 1)
        if len(data) > most:
            raise FileFault(self.name, f"it has more than {most:,} bytes")
        return data

    @contextmanager
    def _plain(self) -> Iterator[BinaryIO]:
        """Yield the bytes, decompressed; an error of reading becomes a FileFault."""
        try:
            with ExitStack() as stack:
                if self.file == STANDARD_INPUT:
                    opened = cast(BinaryIO, sys.stdin.buffer)
                else:
                    opened = stack.enter_context(Path(self.file).open("rb"))
                plain = _Stored(self, opened).plain()
                self.begin = cast(BufferedReader, plain).peek(BEGIN_BYTES)[:BEGIN_BYTES]
                yield plain
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        except EOFError as error:
            raise FileFault(self.name, "the compressed file ends in the middle") from error
        except (zlib.error, zstd.ZstdError) as error:
            raise FileFault(self.name, str(error)) from error


def _at_home(file: str) -> str:
    """Return a path with the home folder for ~; a shell leaves that of --taxonomy=~/FILE."""
    if not file.startswith("~"):
        return file
    with suppress(RuntimeError):  # there is no such user: it is the name of a file
        return str(Path(file).expanduser())
    return file


class _Stored(RawIOBase):
    """The stored bytes of a source as they arrive. Adds those read to its position."""

    def __init__(self, source: Source, opened: BinaryIO) -> None:
        self._source = source
        self._opened = cast(BufferedIOBase, opened)  # typeshed gives BinaryIO no read1
        self._begin = b""
        while len(self._begin) < BEGIN_BYTES and not self._has_line():
            more = self._opened.read1(BEGIN_BYTES - len(self._begin))
            if not more:
                break
            self._begin += more

    def _has_line(self) -> bool:
        """Return whether the first line has arrived; a byte of compressed data is not its end."""
        begins = (ZSTD_BEGINS, GZIP_BEGINS)
        return b"\n" in self._begin and not self._begin.startswith(begins)

    def plain(self) -> BinaryIO:
        """Return the bytes, decompressed if they begin with a signature of gzip or zstd.

        Compressed files may have several parts, those of gzip with zeros behind, as on tapes. What
        is decompressed at once is bounded.
        """
        stored = cast(BinaryIO, self)
        if self._begin.startswith(ZSTD_BEGINS):
            return cast(BinaryIO, zstd.ZstdFile(stored))
        if self._begin.startswith(GZIP_BEGINS):
            return cast(BinaryIO, GzipFile(fileobj=stored))
        return BufferedReader(self, CHUNK_BYTES)

    def readable(self) -> bool:
        return True

    # typeshed allows any buffer; `io` passes a memoryview.
    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = len(buffer)
        if self._begin:
            data, self._begin = self._begin[:size], self._begin[size:]
        elif size <= HEADER_BYTES:  # a reader of gzip needs all of a header
            data = self._opened.read(size)
        else:
            data = self._opened.read1(size)
        buffer[: len(data)] = data
        self._source.position += len(data)
        return len(data)


def _split(plain: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines without their ends; None for a line longer than LONGEST_LINE."""
    while line := plain.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line.removesuffix(b"\n")
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = plain.readline(CHUNK_BYTES)

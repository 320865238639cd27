"""Lines of files and of standard input, plain or compressed, in UTF-8 or another encoding."""

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from stat import S_ISDIR
from typing import BinaryIO, Final, cast

import msgspec

from manyclass.training.compression import (
    BEGIN_BYTES,
    CHUNK_BYTES,
    Stored,
    StoredFault,
    check,
    faults,
)
from manyclass.training.encodings import (
    BYTE_ORDER_MARK,
    ESCAPED,
    UTF8,
    EncodingFault,
    decoded,
    given_encoding,
    guessed_encoding,
    not_decoded,
)

STANDARD_INPUT: Final = "-"
LOOKED_AT: Final = 2**20  # bytes, by which the encoding is guessed
LONGEST_LINE: Final = 16 * 2**20  # bytes, its end not counted; twice what a service takes at once


NO_CLASS: Final = "no class"  # the fault of a line without a true class begins so


class FileFault(Exception):
    """A file that cannot be read to its end. Of a pipe, lines before the fault were yielded."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class LineFault(Exception):
    """A line that does not hold a valid instance."""


class Line(msgspec.Struct, frozen=True):
    """A line of a file, without its end. Numbers begin at 1."""

    file: str
    number: int
    kept: bytes | None  # None if longer than LONGEST_LINE, or if there is a fault
    fault: str = ""
    lines: int = 1  # that the fault concerns: an open quote of CSV takes the next ones in
    unit: str = ""  # that is counted, if not lines: the events of a body

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
    def location(self) -> str:
        """File and line number, for messages."""
        return (
            f"{self.file}: {self.unit} {self.number}" if self.unit else f"{self.file}:{self.number}"
        )


class Source:
    """The lines of a file, or of standard input for `-`, in UTF-8; blank lines are skipped.

    The first bytes determine the compression, so standard input may be compressed too. The encoding
    is given by name, or guessed by the first bytes. Byte order marks in front of lines are dropped:
    files that were put together have several. Where no line ends with \\n, \\r is the end of a
    line.
    """

    def __init__(
        self,
        file: str,
        encoding: str | None = None,
        guessed: Callable[[str], None] = lambda guess: None,
    ) -> None:
        """`guessed` is called with a text about what was guessed of the file."""
        self.file = _at_home(file)
        self.name = "standard input" if file == STANDARD_INPUT else file
        self.position = 0  # bytes read so far, as they are stored
        self.begin = b""  # the first bytes, not compressed, once they were read
        self.left_out = Counter[str]()  # rows that are not to be taught, by their noun
        self._encoding = encoding
        self._guessed = guessed
        self._is_checked = False

    @property
    def size(self) -> int | None:
        """Stored bytes; None if they are not known before the end."""
        if self.file == STANDARD_INPUT:
            return None
        try:
            return Path(self.file).stat().st_size or None  # a named pipe says 0
        except OSError:
            return None

    def check_there(self) -> None:
        """Raise FileFault for a file that is missing, is a folder, or may not be read.

        The file is not opened: a pipe is read once.
        """
        if self.file == STANDARD_INPUT:
            return
        try:
            is_folder = S_ISDIR(Path(self.file).stat().st_mode)
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        if is_folder or not os.access(self.file, os.R_OK):
            reason = errno.EISDIR if is_folder else errno.EACCES
            raise FileFault(self.name, os.strerror(reason))

    def __iter__(self) -> Iterator[Line]:
        self.left_out.clear()
        with self._plain() as plain:
            try:
                yield from self._lines_of(plain)
            except EncodingFault as error:
                raise FileFault(self.name, str(error)) from error

    def _lines_of(self, plain: BinaryIO) -> Iterator[Line]:
        encoding = self._encoding_of_begin()
        if encoding != UTF8:
            self.begin = decoded(self.begin, encoding).encode(errors="replace")
            yield from _decoded_lines(self.name, plain, encoding)
            return
        if b"\r" in self.begin[:-1] and b"\n" not in self.begin:
            plain = cast(BinaryIO, BufferedReader(_WithNewlines(plain), CHUNK_BYTES))
        yield from _split(self.name, plain)

    def _encoding_of_begin(self) -> str:
        """Return the given encoding, else the guessed one; EncodingFault if none is likely."""
        if self._encoding is not None:
            return given_encoding(self._encoding)
        encoding, sample = guessed_encoding(self._looked_at())
        if sample:
            self._guessed(
                f"{self.name} is not UTF-8; it is read as {encoding}: `{sample}`; --encoding names"
                " another"
            )
        return encoding

    def _looked_at(self) -> bytes:
        """Return the first bytes; of a pipe, which is read once, only the very first."""
        if self.file == STANDARD_INPUT or not Path(self.file).is_file():
            return self.begin
        again = Source(self.file)
        again._is_checked = True
        with again._plain() as plain:
            return plain.read(LOOKED_AT)

    def read(self, most: int) -> bytes:
        """Return all bytes, decompressed unless they are a spreadsheet; FileFault above `most`."""
        with self._plain(keeps_spreadsheet=True) as plain:
            data = plain.read(most + 1)
        if len(data) > most:
            raise FileFault(self.name, f"it has more than {most:,} bytes")
        return data

    @contextmanager
    def _plain(self, keeps_spreadsheet: bool = False) -> Iterator[BinaryIO]:
        """Yield the bytes, decompressed; an error of reading becomes a FileFault."""
        try:
            with ExitStack() as stack, faults():
                if self.file == STANDARD_INPUT:
                    opened = cast(BinaryIO, sys.stdin.buffer)
                else:
                    self._check()
                    opened = stack.enter_context(Path(self.file).open("rb"))
                plain = Stored(opened, self._move).plain(stack, keeps_spreadsheet)
                self.begin = plain.peek(BEGIN_BYTES)[:BEGIN_BYTES]
                yield cast(BinaryIO, plain)
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        except StoredFault as error:
            raise FileFault(self.name, str(error)) from error

    def _check(self) -> None:
        """Refuse a compressed file before its first line if it is cut or damaged.

        A pipe is read once, so its fault shows where it is reached.
        """
        if not self._is_checked and Path(self.file).is_file():
            check(Path(self.file))
            self._is_checked = True

    def _move(self, read: int) -> None:
        self.position += read


def _at_home(file: str) -> str:
    """Return a path with the home folder for ~; a shell leaves that of --taxonomy=~/FILE."""
    if not file.startswith("~"):
        return file
    with suppress(RuntimeError):  # there is no such user: it is the name of a file
        return str(Path(file).expanduser())
    return file


class _WithNewlines(RawIOBase):
    """Bytes whose lines end with \\r, as bytes whose lines end with \\n."""

    def __init__(self, plain: BinaryIO) -> None:
        self._plain = cast(BufferedReader, plain)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed: any buffer
        data = self._plain.read1(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)


def _split(name: str, plain: BinaryIO) -> Iterator[Line]:
    """Yield the lines that are not blank, without the bytes of those longer than LONGEST_LINE."""
    number = 0
    while line := plain.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            yield Line(name, number, None)
            while line and not line.endswith(b"\n"):
                line = plain.readline(CHUNK_BYTES)
            continue
        data = line.removesuffix(b"\n").removeprefix(BYTE_ORDER_MARK)
        if data and not data.isspace():
            yield Line(name, number, data)


def _decoded_lines(name: str, plain: BinaryIO, encoding: str) -> Iterator[Line]:
    """Yield the lines in UTF-8 that are not blank; EncodingFault if no line can be found."""
    text = TextIOWrapper(plain, encoding, "surrogateescape")
    number = 0
    try:
        while line := text.readline(LONGEST_LINE + 1):
            number += 1
            line = line.removeprefix("\ufeff").removesuffix("\n")
            if ESCAPED.search(line):
                yield Line(name, number, None, not_decoded(None, encoding, line))
                continue
            data = line.encode()
            if len(data) <= LONGEST_LINE:
                if data and not data.isspace():
                    yield Line(name, number, data)
                continue
            yield Line(name, number, None)
            while line and not line.endswith("\n"):
                line = text.readline(CHUNK_BYTES)
    except UnicodeError as error:  # of encodings with several bytes a letter
        raise EncodingFault(not_decoded(number + 1, encoding)) from error

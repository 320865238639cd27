"""Standard output and error of a command: what happens when they cannot be written."""

import os
import sys
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from typing import TextIO


class OutputFailed(Exception):
    """Standard output cannot be written: nothing reads it any more, or there is no room.

    It differs from OSError, which commands take for one of their files.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output cannot be written: {error.strerror or error}")
        self.is_unread = isinstance(error, BrokenPipeError)


def open_streams() -> None:
    """Take the standard streams from now on; a closed one does not become another file.

    Standard error that cannot be written loses its messages, and the command goes on.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)  # the lowest number; all but 2 fail as if closed
            os.set_inheritable(opened, True)
    sys.stdin = sys.stdin or TextIOWrapper(BufferedReader(FileIO(0, closefd=False)))
    sys.stdout = _writing(_Output(1, "w", closefd=False), sys.stdout)
    sys.stderr = _writing(_Messages(2, "w", closefd=False), sys.stderr)


class _Output(FileIO):
    """Standard output. What follows a failure is dropped, so that it is raised once."""

    _has_failed = False

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # typeshed: any buffer
        if self._has_failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._has_failed = True
            raise OutputFailed(error) from error


class _Messages(FileIO):
    """Standard error."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # typeshed: any buffer
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _writing(file: FileIO, former: TextIO | None) -> TextIO:
    """Return the stream of a file, with the encoding of the former one.

    Signs that its encoding does not have are written as escapes.
    """
    encoding = "utf-8" if former is None else former.encoding
    errors = "strict" if former is None else former.errors
    return TextIOWrapper(
        BufferedWriter(file),
        encoding,
        "backslashreplace" if errors == "strict" else errors,
        line_buffering=file.isatty() or isinstance(file, _Messages),
    )

"""Stored bytes of a file, plain or compressed by gzip, zstd, bzip2, xz or zip."""

import sys
import zlib
from bz2 import BZ2File
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from gzip import GzipFile
from io import BufferedIOBase, BufferedReader, RawIOBase
from lzma import LZMAError, LZMAFile
from pathlib import Path, PurePath
from shutil import copyfileobj
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import IO, BinaryIO, Final, cast
from zipfile import ZipFile

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK_BYTES = 64 * 1024
BEGIN_BYTES = 16 * 1024  # of a file, kept to recognise its format
HEADER_BYTES = 16  # of a part of gzip at most, as far as it is read at once
SUFFIXES: Final = (".gz", ".zst", ".bz2", ".xz", ".zip")
_OPENED: Final[Mapping[bytes, Callable[[BinaryIO], object]]] = MappingProxyType(
    {
        b"\x28\xb5\x2f\xfd": zstd.ZstdFile,
        b"\x1f\x8b": lambda stored: GzipFile(fileobj=stored),
        b"BZh": BZ2File,
        b"\xfd7zXZ\x00": LZMAFile,
    }
)
_ZIP: Final = b"PK\x03\x04"
_SIGNATURES: Final = (*_OPENED, _ZIP)
# A part of every spreadsheet of Excel and of LibreOffice, which are zip archives too.
_SPREADSHEETS: Final = frozenset({"[Content_Types].xml", "META-INF/manifest.xml"})
MOST_NAMED: Final = 5  # files of an archive, in a message


class StoredFault(Exception):
    """Stored bytes that cannot be decompressed to their end."""


@contextmanager
def faults() -> Iterator[None]:
    """Map the errors of decompression to StoredFault; those of the system stay."""
    try:
        yield
    except EOFError as error:
        raise StoredFault("the compressed file ends in the middle") from error
    except (zlib.error, zstd.ZstdError, LZMAError) as error:
        raise _damaged(error) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(error) from error


def _damaged(error: Exception) -> StoredFault:
    return StoredFault(f"the compressed file is damaged: {error}")


def check(file: Path) -> None:
    """Decompress a file to its end if it is compressed; StoredFault if it is cut or damaged.

    Checksums stand behind the bytes that they are of, so damaged rows would be used before one is
    found wrong.
    """
    with file.open("rb") as opened, ExitStack() as stack:
        if not opened.read(len(max(_SIGNATURES, key=len))).startswith(_SIGNATURES):
            return
        opened.seek(0)
        with faults():
            plain = Stored(opened, lambda read: None).plain(stack, keeps_spreadsheet=True)
            while plain.read(CHUNK_BYTES):
                pass


class Stored(RawIOBase):
    """The stored bytes of a file as they arrive; `moved` is called with the number of each part."""

    def __init__(self, opened: BinaryIO, moved: Callable[[int], None]) -> None:
        self._opened = cast(BufferedIOBase, opened)  # typeshed gives BinaryIO no read1
        self._moved = moved
        self._begin = b""
        while len(self._begin) < BEGIN_BYTES and not self._has_line():
            more = self._opened.read1(BEGIN_BYTES - len(self._begin))
            if not more:
                break
            self._begin += more

    def _has_line(self) -> bool:
        """Return whether the first line has arrived; a byte of compressed data is not its end."""
        return b"\n" in self._begin and not self._begin.startswith(_SIGNATURES)

    def plain(self, stack: ExitStack, keeps_spreadsheet: bool = False) -> BufferedReader:
        """Return the bytes, decompressed if they begin with a signature; StoredFault.

        Compressed files may have several parts, those of gzip with zeros behind, as on tapes. What
        is decompressed at once is bounded. Of a zip archive it is the only file, unless the archive
        is a spreadsheet, or no whole archive, and kept as it is. What has to be closed is put on
        the stack.
        """
        for signature, opened in _OPENED.items():
            if self._begin.startswith(signature):
                return cast(BufferedReader, opened(cast(BinaryIO, self)))
        if not self._begin.startswith(_ZIP):
            return BufferedReader(self, CHUNK_BYTES)
        whole = stack.enter_context(TemporaryFile())  # noqa: SIM115 (the stack closes it)
        copyfileobj(BufferedReader(self, CHUNK_BYTES), whole, CHUNK_BYTES)
        if keeps_spreadsheet and _may_be_spreadsheet(whole):
            whole.seek(0)
            return cast(BufferedReader, whole)
        return BufferedReader(_Member(whole, stack), CHUNK_BYTES)

    def readable(self) -> bool:
        return True

    # typeshed allows any buffer; `io` passes a memoryview.
    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed: any buffer
        size = len(buffer)
        if self._begin:
            data, self._begin = self._begin[:size], self._begin[size:]
        elif size <= HEADER_BYTES:  # a reader of gzip needs all of a header
            data = self._opened.read(size)
        else:
            data = self._opened.read1(size)
        buffer[: len(data)] = data
        self._moved(len(data))
        return len(data)


class _Member(RawIOBase):
    """The only file of a zip archive. For a damaged archive, zipfile has errors of many kinds."""

    def __init__(self, file: IO[bytes], stack: ExitStack) -> None:
        try:
            archive = stack.enter_context(ZipFile(file))
            names = members(archive)
        except Exception as error:
            raise StoredFault(f"the zip archive is cut or damaged: {error}") from error
        if not _SPREADSHEETS.isdisjoint(names):
            raise StoredFault(
                "this looks like a spreadsheet: name it .xlsx or .ods, or add --format xlsx"
            )
        if len(names) != 1:
            listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
            raise StoredFault(
                f"the zip archive has {len(names):,} files ({listed}): unpack it, and name them"
                if names
                else "the zip archive is empty"
            )
        self._name = names[0]
        try:
            self._opened = cast(BufferedIOBase, stack.enter_context(archive.open(names[0])))
        except Exception as error:
            raise self._fault(error) from error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed: any buffer
        try:
            data = self._opened.read1(len(buffer))
        except Exception as error:
            raise self._fault(error) from error
        buffer[: len(data)] = data
        return len(data)

    def _fault(self, error: Exception) -> StoredFault:
        return StoredFault(f"{self._name} of the zip archive cannot be read: {error}")


def _may_be_spreadsheet(file: IO[bytes]) -> bool:
    """Return whether a file is a spreadsheet, perhaps a damaged one; its reader says how."""
    try:
        with ZipFile(file) as archive:
            return not _SPREADSHEETS.isdisjoint(archive.namelist())
    except Exception:  # zipfile has errors of many kinds
        return True


def members(archive: ZipFile) -> list[str]:
    """Return the names of the files of an archive, without the ones that macOS adds."""
    return [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
        if not PurePath(name).name.startswith(".")
    ]


def inner_name(file: str) -> str:
    """Return the name of a file without the suffix of its compression.

    That of a zip archive is the name of its only file, unless `a.csv.zip` says it.
    """
    path = PurePath(file)
    if path.suffix.lower() not in SUFFIXES:
        return file
    if path.suffix.lower() == ".zip" and not PurePath(path.stem).suffix:
        try:
            with ZipFile(file) as archive:
                names = members(archive)
        except Exception:  # reading the file says why
            return path.stem
        return names[0] if len(names) == 1 else path.stem
    return path.stem

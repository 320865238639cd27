"""The segments of the history in a SQLite store."""

from struct import pack

from manyclass.service.store.batch import checksum_of
from manyclass.service.store.errors import HISTORY_HINT, SegmentMissing, StoreDamaged
from manyclass.service.store.segments import SegmentInfo
from manyclass.service.store.sqlite.log import ReadableFile
from manyclass.service.store.sqlite.store_file import StoreFile

# A damaged row may hold a value of another type: it is read as a number, and the checksum differs.
_FIRST_SEQ, _AMENDMENTS = "CAST(first_seq AS INTEGER)", "CAST(amendments AS INTEGER)"


class SegmentReader:
    """The rows of `segments`, to read. Any thread may call any method."""

    def __init__(self, file: ReadableFile) -> None:
        self._readable = file

    def list(self) -> list[SegmentInfo]:
        """Return the segments, oldest first."""
        with self._readable.reading() as connection:
            rows = connection.execute(
                f"SELECT {_FIRST_SEQ}, last_seq, length(body), {_AMENDMENTS} FROM segments"
                " ORDER BY last_seq"
            )
            return [SegmentInfo(*row) for row in rows]

    def read(self, last_seq: int) -> bytes:
        """Return the body of a row, checked. SegmentMissing, StoreDamaged."""
        with self._readable.reading() as connection:
            row = connection.execute(
                f"SELECT {_FIRST_SEQ}, {_AMENDMENTS}, checksum, body FROM segments"
                " WHERE last_seq = ?",
                (last_seq,),
            ).fetchone()
        if row is None:
            raise SegmentMissing(last_seq)
        first_seq, amendments, checksum, body = row
        info = SegmentInfo(first_seq, last_seq, len(body), amendments)
        if checksum != _checksum(info, body):
            raise StoreDamaged(f"the history up to event {last_seq} is damaged", HISTORY_HINT)
        return bytes(body)


class SqliteSegments(SegmentReader):
    """The rows of `segments`. Any thread may call any method at any time."""

    def __init__(self, file: StoreFile) -> None:
        super().__init__(file)
        self._file = file

    def save(self, info: SegmentInfo, body: bytes) -> None:
        """Insert a row, or replace the one with the same last event."""
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO segments (last_seq, first_seq, amendments, checksum, body)"
                " VALUES (?, ?, ?, ?, ?)",
                (info.last_seq, info.first_seq, info.amendments, _checksum(info, body), body),
            )

    def delete(self, last_seq: int) -> None:
        """Delete the rows up to this event, one at a time, so that appends have their turns."""
        for info in self.list():
            if info.last_seq <= last_seq:
                with self._file.writing() as connection:
                    connection.execute("DELETE FROM segments WHERE last_seq = ?", (info.last_seq,))


def _checksum(info: SegmentInfo, body: bytes) -> bytes:
    return checksum_of(pack("<qqq", info.first_seq, info.last_seq, info.amendments) + body)

"""The segments of the history: objects in an archive, listed in Redis.

The list is the truth: an object that it does not name counts as absent. So a segment is replaced in
one step, a leader that was replaced changes nothing, and a log that has lost its last writes has
the list that fits it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock

from manyclass.service.store.archive.archive import Archive
from manyclass.service.store.batch import checksum_of
from manyclass.service.store.errors import SegmentMissing, StoreDamaged, StoreUnavailable
from manyclass.service.store.redis import scripts
from manyclass.service.store.redis.file_rewrite import rewrite_files
from manyclass.service.store.redis.link import pairs
from manyclass.service.store.redis.mail import clear_mail
from manyclass.service.store.redis.session import Session
from manyclass.service.store.redis.snapshots import RedisSnapshots
from manyclass.service.store.redis.url import ARCHIVE
from manyclass.service.store.segments import SegmentInfo

OBJECT_HINT = (
    f"see whether {ARCHIVE} names the archive of this store; the state does not need the object,"
    " and it alone may be put back from a backup"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    info: SegmentInfo
    name: str  # of the object

    def text(self) -> str:
        info = self.info
        return f"{info.first_seq} {info.bytes} {info.amendments} {info.checksum} {self.name}"


class RedisSegments:
    """The segments of one store. Any thread may call any method at any time.

    The name of an object begins with the identity of the store, the numbers of its events, and the
    lease under which it was written: `scrub` deletes what is not listed, but for objects of a
    later leader, which may be about to list them.
    """

    def __init__(
        self, session: Session, snapshots: RedisSnapshots, archive: Archive | None
    ) -> None:
        """Take the place of the bodies; without an archive the history is what the log holds."""
        self._session = session
        self._snapshots = snapshots
        self._archive = archive
        self._numbers = count(1)
        self._writing = Lock()

    @property
    def are_kept(self) -> bool:
        return self._archive is not None

    def segments(self) -> list[SegmentInfo]:
        return self.listed()[0]

    def listed(self) -> tuple[list[SegmentInfo], int]:
        entries, floor = self._listed()
        return sorted((each.info for each in entries), key=lambda info: info.last_seq), floor

    def save_segment(self, info: SegmentInfo, body: bytes) -> None:
        archive, lease = self._open(), self._lease()
        with self._writing:
            name = (
                f"{self._session.identity}/{info.first_seq:015}-{info.last_seq:015}"
                f"-{_fence(lease)}-{next(self._numbers)}.segment"
            )
            archive.put(name, body)
            entry = _Entry(replace(info, checksum=checksum_of(body).hex()), name)
            former = self._session.run(scripts.LIST_SEGMENT, lease, info.last_seq, entry.text())
        if former is not None and (old := _parsed(info.last_seq, former)).name != name:
            archive.delete(old.name)

    def read_segment(self, last_seq: int) -> bytes:
        archive = self._open()
        tried: str | None = None
        for _ in range(2):  # a rebuild may replace an object between the two steps
            entries, _ = self._listed()
            entry = next((each for each in entries if each.info.last_seq == last_seq), None)
            if entry is None:
                raise SegmentMissing(last_seq)
            if entry.name == tried:
                break
            tried = entry.name
            body = archive.get(entry.name)
            if body is None:
                continue
            if entry.info.checksum != checksum_of(body).hex():
                raise StoreDamaged(f"{entry.name} in the archive is damaged", OBJECT_HINT)
            return body
        raise StoreDamaged(
            f"the history up to event {last_seq} is missing in the archive", OBJECT_HINT
        )

    def delete_segments(self, last_seq: int) -> None:
        entries, _ = self._listed()
        gone = [each for each in entries if each.info.last_seq <= last_seq]
        if gone:
            self._session.run(
                scripts.DELETE_SEGMENTS, self._lease(), *(each.info.last_seq for each in gone)
            )
        for each in gone:
            self._open().delete(each.name)

    def save_base(self, seq: int, chunks: Iterable[bytes | memoryview]) -> None:
        self._snapshots.save(seq, chunks, keep_existing=False, place=b"", is_base=True)

    def scrub(self) -> None:
        lease = self._lease()
        self._snapshots.sweep(also_in_use=True)
        with self._writing:
            if self._archive is not None:
                self._delete_unlisted(self._archive, _fence(lease))
        clear_mail(self._session)
        rewrite_files(self._session)

    def _delete_unlisted(self, archive: Archive, fence: int) -> None:
        form = re.compile(rf"{self._session.identity}/\d+-\d+-(\d+)-\d+\.segment", re.ASCII)

        def is_ours(name: str) -> bool:
            match = form.fullmatch(name)
            return match is not None and int(match[1]) <= fence

        names = [name for name in archive.names() if is_ours(name)]
        listed = {each.name for each in self._listed()[0]}
        for name in names:
            if name not in listed:
                archive.delete(name)
        archive.delete_unfinished(is_ours)

    def _listed(self) -> tuple[list[_Entry], int]:
        """Return the entries of the list, and the event up to which the log was trimmed."""
        entries, floor = self._session.run(scripts.SEGMENTS)
        return [_parsed(int(seq), text) for seq, text in pairs(entries).items()], int(floor)

    def _open(self) -> Archive:
        if self._archive is None:
            raise StoreUnavailable("there is no archive", f"set {ARCHIVE}")
        return self._archive

    def _lease(self) -> bytes:
        lease = self._session.lease
        if not lease:
            raise StoreUnavailable("another process leads", "the process that leads does this")
        return lease


def _fence(lease: bytes) -> int:
    return int(lease.partition(b" ")[0])


def _parsed(last_seq: int, text: bytes) -> _Entry:
    first_seq, size, amendments, checksum, name = text.decode().split(" ")
    info = SegmentInfo(int(first_seq), last_seq, int(size), int(amendments), checksum)
    return _Entry(info, name)

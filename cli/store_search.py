"""Searches the file of a store for words: to see that erased data is gone.

The history is compressed, so a search of the bytes of the file alone would prove nothing.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from manyclass.cli.run_summary import counted
from manyclass.core import snapshot
from manyclass.core.errors import SnapshotError
from manyclass.service.history.folded import folded
from manyclass.service.history.segment import Segment, SegmentDamaged
from manyclass.service.store.errors import StoreError
from manyclass.service.store.sqlite.reader import SqliteReader
from manyclass.service.store.waiting import parts

READ_BYTES: Final = 2**20
READ_ITEMS: Final = 100
ENDINGS: Final = ("", "-wal", ".waiting", ".waiting-journal")  # of the files of a store


class Place(NamedTuple):
    """A place of a store, the words that it has, and why it cannot be searched."""

    name: str
    words: Sequence[str] = ()
    fault: str = ""


class StoreSearch:
    """The places of a store that have some words, in any case and with any accents."""

    def __init__(self, reader: SqliteReader, words: Sequence[str]) -> None:
        self._reader = reader
        self._words = {word: folded(word) for word in words}
        self._searched: Counter[str] = Counter()

    def places(self) -> Iterator[Place]:
        """Yield each place that has a word, or that cannot be searched. Raises StoreError."""
        for place in self._all():
            if place.words or place.fault:
                yield place

    def searched(self) -> str:
        """Return what was searched, in words."""
        log, history, states, waiting, files = (
            self._searched[each] for each in ("log", "history", "snapshot", "queue", "file")
        )
        return (
            f"{counted(log, 'event')} of the log, {history:,} of the history,"
            f" {counted(states, 'snapshot')}, {waiting:,} of the queue of review, and the bytes of"
            f" {counted(files, 'file')}"
        )

    def _all(self) -> Iterator[Place]:
        for part, read in (
            ("the log", self._log),
            ("the history", self._history),
            ("the snapshots", self._snapshots),
            ("the queue of review", self._queue),
            ("the bytes of the files", self._files),
        ):
            try:
                yield from read()
            except (StoreError, OSError) as error:
                yield Place(f"the rest of {part}", fault=str(error))

    def _log(self) -> Iterator[Place]:
        for seq, payload in self._reader.read(self._reader.first_seq - 1):
            self._searched["log"] += 1
            yield Place(f"event {seq} of the log", self._within(payload))

    def _history(self) -> Iterator[Place]:
        for info in self._reader.segments():
            try:
                body = self._reader.read_segment(info.last_seq)
                payloads = Segment.unpacked(info.first_seq, body).payloads
            except (StoreError, SegmentDamaged) as error:
                yield Place(f"the history up to event {info.last_seq}", fault=str(error))
                continue
            for seq, payload in enumerate(payloads, info.first_seq):
                self._searched["history"] += bool(payload)  # an erased event is empty
                yield Place(f"event {seq} of the history", self._within(payload))

    def _snapshots(self) -> Iterator[Place]:
        for info in self._reader.snapshots():
            self._searched["snapshot"] += 1
            name = f"snapshot {info.seq}"
            try:
                facts, arrays = snapshot.read(self._reader.open_snapshot(info.seq))
            except (StoreError, SnapshotError) as error:
                yield Place(name, fault=str(error))
                continue
            found = [*self._within(json.dumps(facts, ensure_ascii=False).encode())]
            for part, array in arrays.items():
                if array.dtype == np.uint8:
                    found += self._within(_separated(arrays, part))
            yield Place(name, [*dict.fromkeys(found)])

    def _queue(self) -> Iterator[Place]:
        with closing(self._reader.open_waiting(time.monotonic)) as waiting:
            for ids in parts(list(waiting.heads()), READ_ITEMS):
                for each, item in waiting.items(ids).items():
                    self._searched["queue"] += 1
                    found = self._within(b"\n".join([each.encode(), item.head, item.body]))
                    yield Place(f"instance {each} of the queue of review", found)

    def _files(self) -> Iterator[Place]:
        for ending in ENDINGS:
            path = self._reader.path.with_name(self._reader.path.name + ending)
            if path.exists():
                yield self._file(path)

    def _file(self, path: Path) -> Place:
        """Return the words in the bytes of a file, where rests of deleted rows would be too."""
        self._searched["file"] += 1
        overlap = 4 * max(len(word) for word in self._words)
        found: list[str] = []
        before = b""
        with path.open("rb") as opened:
            while data := opened.read(READ_BYTES):
                found += self._within(before + data)
                before = data[-overlap:]
        return Place(f"the bytes of {path.name}", [*dict.fromkeys(found)])

    def _within(self, data: bytes) -> list[str]:
        text = folded(data.decode("utf-8", "replace"))  # no letters meet across other bytes
        return [word for word, form in self._words.items() if form in text]


def _separated(arrays: snapshot.Arrays, part: str) -> bytes:
    """Return the bytes of a section; names are separated, so that no word is found across two."""
    data = arrays[part].tobytes()
    sizes = arrays.get(f"{part.removesuffix('s')}_sizes")
    if sizes is None or int(sizes.sum()) != len(data):
        return data
    ends = np.cumsum(sizes, dtype=np.int64)
    return b"\n".join(data[end - size : end] for end, size in zip(ends, sizes, strict=True))

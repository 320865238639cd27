"""A damaged snapshot is detected and logged, the one before it is used; no event is lost."""

import json
import shutil
import sqlite3
from contextlib import closing

import httpx
import pytest

from tests.system.process import Service, learned


@pytest.fixture
def service(tmp_path):
    """Return a killed service with two snapshots and events after each."""
    service = Service(tmp_path, snapshot_events=0, snapshot_seconds=0)  # on request only
    service.start()
    with httpx.Client(base_url=service.url) as http:
        for number in range(30):
            body = {"features": {f"f{number % 7}": 1, "g": 2}, "classes": [f"c{number}"]}
            assert http.post("/learn", json=body).status_code == 200
            if number in (9, 19):
                assert http.post("/snapshots").status_code < 300
    service.kill()
    with closing(sqlite3.connect(service.store)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(service.store, unharmed(service))
    with service:
        yield service


def unharmed(service):
    """Return the path of a copy of the store."""
    return service.store.with_name("unharmed.db")


def snapshot_bytes(service):
    """Return row id and bytes of each piece of the newest snapshot."""
    with closing(sqlite3.connect(service.store)) as file:
        newest = file.execute("SELECT max(seq) FROM snapshots").fetchone()[0]
        return file.execute(
            "SELECT chunks.rowid, body FROM chunks JOIN snapshots ON snapshots.id = snapshot"
            " WHERE seq = ? ORDER BY number",
            (newest,),
        ).fetchall()


def sections(data):
    """Yield (name, begin, end) of the parts of a snapshot."""
    start = data.index(b"{")
    header, length = json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))
    yield "prefix", 0, start
    yield "header", start, start + length
    at = start + length
    for section in header["sections"]:
        count = 1
        for size in section["shape"]:
            count *= size
        end = at + count * int(section["dtype"][2:])
        yield section["name"], at, end
        at = end


def restart_with(service, row, data):
    """Start on a copy of the store with other bytes in one piece of a snapshot."""
    for name in ("store.db-wal", "store.db-shm"):
        service.store.with_name(name).unlink(missing_ok=True)
    shutil.copy(unharmed(service), service.store)
    with closing(sqlite3.connect(service.store)) as file, file:
        file.execute("UPDATE chunks SET body = ? WHERE rowid = ?", (data, row))
    begin = len(service.log.read_text())
    service.start()
    counts = learned(service.url)
    recovery = httpx.get(f"{service.url}/readyz").json()["recovery"]
    service.kill()
    assert counts == {f"c{number}": 1 for number in range(30)}
    return recovery, service.log.read_text()[begin:]


@pytest.mark.slow
def test_every_section_flipped(service):
    ((row, whole),) = snapshot_bytes(service)
    for _name, begin, end in sections(whole):
        if begin == end:
            continue
        damaged = bytearray(whole)
        damaged[(begin + end) // 2] ^= 1 << (begin % 8)
        recovery, log = restart_with(service, row, bytes(damaged))
        assert recovery["snapshot"]["seq"] == 10
        assert recovery["replayed"] == 20
        assert "snapshot 20" in log


@pytest.mark.parametrize(
    "share", [0.3, *(pytest.param(share, marks=pytest.mark.slow) for share in (0, 0.999))]
)
def test_cut_short(service, share):
    ((row, whole),) = snapshot_bytes(service)
    recovery, log = restart_with(service, row, whole[: int(len(whole) * share)])
    assert recovery["snapshot"]["seq"] == 10
    assert "snapshot 20" in log


def test_unharmed(service):
    ((row, whole),) = snapshot_bytes(service)
    recovery, _ = restart_with(service, row, whole)
    assert recovery["snapshot"]["seq"] == 20
    assert recovery["replayed"] == 10

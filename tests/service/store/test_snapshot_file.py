"""A saved state has one snapshot and no events."""

import pytest

from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing
from manyclass.service.store.snapshot_file import SnapshotFile
from tests.service.engines import model_of
from tests.service.faulty import learn


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "saved.snapshot"
    path.write_bytes(b"".join(model_of(*(learn("a", f"c{n}") for n in range(3))).dump()))
    return path


def test_a_file_holds_one_state_and_no_events(file):
    store = SnapshotFile(file)
    [info] = store.snapshots()
    assert (info.seq, info.bytes) == (3, file.stat().st_size)
    assert b"".join(store.open_snapshot(3)) == file.read_bytes()
    assert list(store.read(0)) == []
    with pytest.raises(SnapshotMissing):
        store.open_snapshot(2)


def test_damage_is_found_before_anything_is_made_of_it(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(SnapshotDamaged):
        SnapshotFile(file)

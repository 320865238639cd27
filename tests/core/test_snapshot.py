import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import snapshot
from manyclass.core.errors import SnapshotError

ARRAYS = {
    "bytes": np.frombuffer(b"names of things", np.uint8),
    "empty": np.zeros(0, np.uint32),
    "masses": np.linspace(0, 1, 7, dtype=np.float32),
    "rows": np.arange(8, dtype=np.uint64).reshape(2, 4),
}
FACTS = {"seq": 12, "options": {"leak": True}}
WHOLE = b"".join(snapshot.write(FACTS, ARRAYS))


@given(st.integers(1, len(WHOLE)))
def test_it_reads_back_however_it_was_cut(size):
    chunks = [WHOLE[at : at + size] for at in range(0, len(WHOLE), size)]
    facts, arrays = snapshot.read(chunks)
    assert facts == FACTS
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)


def test_every_flipped_bit_is_found():
    for place in range(len(WHOLE)):
        for bit in range(8):
            damaged = bytearray(WHOLE)
            damaged[place] ^= 1 << bit
            with pytest.raises(SnapshotError):
                snapshot.read([bytes(damaged)])


def test_every_cut_is_found():
    for size in range(len(WHOLE)):
        with pytest.raises(SnapshotError):
            snapshot.read([WHOLE[:size]])


def test_more_than_a_snapshot_is_refused():
    with pytest.raises(SnapshotError, match="bytes after the last section"):
        snapshot.read([WHOLE, b"\0"])


def test_damage_is_named():
    with pytest.raises(SnapshotError, match="'rows'"):
        snapshot.read([WHOLE[:-1] + b"\xff"])


def test_the_outline_names_each_section_and_those_that_are_damaged():
    facts, sections = snapshot.outline([WHOLE[:-1] + b"\xff"])
    assert facts == FACTS
    assert [(entry.name, entry.shape, entry.size) for entry, _ in sections] == [
        (name, array.shape, array.nbytes) for name, array in ARRAYS.items()
    ]
    assert [is_whole for _, is_whole in sections] == [True, True, True, False]
    _, cut = snapshot.outline([WHOLE[:-64]])
    assert [is_whole for _, is_whole in cut] == [True, True, True, False]
    _, whole = snapshot.outline([WHOLE])
    assert len({entry.checksum for entry, is_whole in whole if is_whole}) == len(ARRAYS)


def test_another_format_is_refused_with_its_number(monkeypatch):
    monkeypatch.setattr(snapshot, "VERSION", 99)
    later = b"".join(snapshot.write(FACTS, ARRAYS))
    monkeypatch.undo()
    with pytest.raises(SnapshotError, match="format 99"):
        snapshot.read([later])


def test_equal_states_make_equal_bytes():
    other_order = {"options": {"leak": True}, "seq": 12}
    assert b"".join(snapshot.write(other_order, dict(ARRAYS))) == WHOLE


def test_the_header_is_plain_text():
    start = WHOLE.index(b"{")
    header, _ = json.JSONDecoder().raw_decode(WHOLE[start:].decode("latin-1"))
    assert [section["name"] for section in header["sections"]] == list(ARRAYS)


@pytest.mark.parametrize(
    "described",
    [
        [],
        {},
        {"version": 1},
        {"version": 1, "facts": {}, "sections": [{}]},
        {"version": 1, "facts": {}, "sections": [{"name": "a", "dtype": "O!", "shape": [1]}]},
        {"version": 1, "facts": {}, "sections": [{"name": "a", "dtype": "<u4", "shape": "x"}]},
    ],
)
def test_a_well_checked_header_that_makes_no_sense_is_refused(described):
    header = json.dumps(described).encode()
    prefix = snapshot._PREFIX.pack(snapshot.MAGIC, len(header), snapshot._checksum(header))
    with pytest.raises(SnapshotError, match="makes no sense"):
        snapshot.read([prefix, header])


@pytest.mark.parametrize("version", [0, snapshot.VERSION + 1])
def test_another_format_is_refused(version, monkeypatch):
    written = snapshot.write({"a": 1}, {})
    assert snapshot.read(written) == ({"a": 1}, {})
    present = snapshot.VERSION
    monkeypatch.setattr(snapshot, "VERSION", version)
    other = snapshot.write({"a": 1}, {})
    monkeypatch.setattr(snapshot, "VERSION", present)
    with pytest.raises(SnapshotError, match=f"format {version}, .* reads format {present}"):
        snapshot.read(other)

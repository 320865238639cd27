from contextlib import suppress

import pytest

from manyclass.training.tables import parquet
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from tests.training.tables.conftest import event
from tests.training.tables.files import write_arrow_file, write_parquet_file


@pytest.fixture
def file(tmp_path):
    """Return the path of a Parquet file of 3,000 rows."""
    path = tmp_path / "table.parquet"
    texts = [f"text {number}" for number in range(3000)]
    write_parquet_file(path, text=[*texts[:-1], None], label=[number % 7 for number in range(3000)])
    return path


def read(path, **layout):
    """Return the events of all rows by their numbers."""
    source = TableSource(str(path), "parquet", Layout(**layout))
    return {line.number: event(line) for line in source}


def test_all_rows_of_all_batches_are_read(file):
    events = read(file)
    assert list(events) == list(range(1, 3001))
    assert events[2998] == {"text": "text 2997", "classes": ["1"]}
    assert events[3000] == "no text: text is empty"


def test_its_names_are_there_without_a_header(file):
    assert len(read(file, header=False, text=("text",), classes=("label",))) == 3000


@pytest.mark.parametrize("content", [b"", b"text,label\n", b"PAR1", b"PAR1 cut"])
def test_other_bytes_are_not_parquet(tmp_path, content):
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(TableFault, match="not a whole file of Parquet or Arrow"):
        read(path)


def test_a_damaged_file_is_a_fault(file):
    data = file.read_bytes()
    file.write_bytes(data[:-60] + data[-30:])
    with pytest.raises(TableFault, match="the file is damaged"):
        read(file)


def test_standard_input_cannot_be_parquet():
    with pytest.raises(TableFault, match="from a file, not from standard input"):
        read("-")


def test_without_the_package_the_fault_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    with pytest.raises(TableFault, match=r"pip install 'manyclass\[tables\]'"):
        read(file)


@pytest.mark.parametrize(
    "script", ["kill -ABRT $$", "printf '\\0\\0\\0\\0\\0\\0\\0\\11x'", "exit 0"]
)
def test_a_reader_that_a_damaged_file_ends_is_a_fault(file, tmp_path, monkeypatch, script):
    program = tmp_path / "reader"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(program))
    with pytest.raises(TableFault, match="damaged: it cannot be read to its end"):
        read(file)


def test_a_file_with_flipped_bytes_is_read_or_a_fault(file, capfd):
    whole = file.read_bytes()
    for at in range(4, len(whole), len(whole) // 5):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        file.write_bytes(damaged)
        with suppress(TableFault):
            read(file)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("is_stream", [False, True])
def test_arrow_is_read_in_parts(tmp_path, is_stream):
    path = tmp_path / "table.arrow"
    texts = [f"text {number}" for number in range(3000)]
    columns = {"text": texts, "label": [number % 7 for number in range(3000)]}
    write_arrow_file(path, is_stream=is_stream, **columns)
    events = {line.number: event(line) for line in TableSource(str(path), "arrow", Layout())}
    assert list(events) == list(range(1, 3001))
    assert events[2998] == {"text": "text 2997", "classes": ["1"]}
    sizes = [len(part.rows) for part in parquet._parts(str(path), _reader(path), None)]
    assert max(sizes) == parquet.BATCH_ROWS


def _reader(path):
    whole = path.read_bytes()
    return parquet._reader_of(whole[: parquet.LEAST_BYTES], whole[-parquet.LEAST_BYTES :])


@pytest.mark.parametrize("is_stream", [False, True])
def test_arrow_that_is_cut_is_a_fault(tmp_path, is_stream, capfd):
    path = tmp_path / "table.arrow"
    write_arrow_file(path, is_stream=is_stream, text=["ice", "puck"], label=["a", "b"])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(
        TableFault, match=r"the file is damaged|not a whole file of Parquet or Arrow"
    ):
        [*TableSource(str(path), "arrow", Layout())]
    assert capfd.readouterr().err == ""

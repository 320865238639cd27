import gzip
import io

import pytest
import zstandard

from training.lines import CHUNK_BYTES, FileFault, Source

MANY = b"".join(b'{"text": "%d"}\n' % number for number in range(20_000))


def zstd(data):
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)  # as the zstd tool does


FORMS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip in parts": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
    "zstd": zstd,
    "zstd in parts": lambda data: zstd(data[:1000]) + zstd(data[1000:]),
}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def stored_as(request):
    return request.param


def test_lines_are_read_however_the_file_is_stored(tmp_path, stored_as):
    path = tmp_path / "lines"
    path.write_bytes(stored_as(MANY))
    assert len(MANY) > 3 * CHUNK_BYTES
    source = Source(str(path))
    lines = list(source)
    assert [each.data for each in lines] == MANY.split(b"\n")[:-1]
    assert [each.number for each in lines] == list(range(1, 20_001))
    assert lines[1].place == f"{path}:2"
    assert source.size == source.position == path.stat().st_size


def test_standard_input_is_read_the_same_way(monkeypatch, stored_as):
    stdin = io.TextIOWrapper(io.BytesIO(stored_as(b"a\nb\n")))
    monkeypatch.setattr("sys.stdin", stdin)
    source = Source("-")
    assert [(each.place, each.data) for each in source] == [
        ("standard input:1", b"a"),
        ("standard input:2", b"b"),
    ]
    assert source.size is None


@pytest.mark.parametrize("written", [b"", b"\n", b"\n \n\r\n"])
def test_blank_lines_are_passed_over(tmp_path, written):
    path = tmp_path / "lines"
    path.write_bytes(written)
    assert list(Source(str(path))) == []


def test_numbers_count_blank_lines_and_the_last_line_needs_no_end(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"\na\r\n\nb")
    assert [(each.number, each.data.strip()) for each in Source(str(path))] == [
        (2, b"a"),
        (4, b"b"),
    ]


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_compressed_file_cut_short_gives_its_lines_and_then_an_error(tmp_path, form):
    path = tmp_path / "lines"
    data = FORMS[form](MANY)
    path.write_bytes(data[: len(data) * 3 // 4])
    lines = iter(Source(str(path)))
    assert [next(lines).number for _ in range(100)] == list(range(1, 101))
    with pytest.raises(FileFault, match="ends in the middle"):
        list(lines)


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_damaged_compressed_file_is_an_error(tmp_path, form):
    path = tmp_path / "lines"
    data = bytearray(FORMS[form](MANY))
    data[len(data) // 2] ^= 0xFF
    data[len(data) // 2 + 40] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(FileFault):
        list(Source(str(path)))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileFault, match="missing: No such file"):
        list(Source(str(tmp_path / "missing")))
    with pytest.raises(FileFault, match="Is a directory"):
        list(Source(str(tmp_path)))

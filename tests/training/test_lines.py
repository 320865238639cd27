import gzip
import io
import tracemalloc

import pytest

from manyclass.training import lines as lines_module
from manyclass.training.compression import CHUNK_BYTES, zstd
from manyclass.training.lines import FileFault, LineFault, Source

MANY = b"".join(b'{"text": "%d"}\n' % number for number in range(20_000))


WITH_CHECKSUM = {zstd.CompressionParameter.checksum_flag: 1}  # as the zstd tool does


def zstd_compressed(data):
    return zstd.compress(data, options=WITH_CHECKSUM)


FORMS = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0x0A0A0A0A),  # its header has the end of a line
    "gzip in parts": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
    "zstd": zstd_compressed,
    "zstd in parts": lambda data: zstd_compressed(data[:1000]) + zstd_compressed(data[1000:]),
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
    assert lines[1].location == f"{path}:2"
    assert source.size == source.position == path.stat().st_size


def test_standard_input_is_read_the_same_way(monkeypatch, stored_as):
    stdin = io.TextIOWrapper(io.BytesIO(stored_as(b"a\nb\n")))
    monkeypatch.setattr("sys.stdin", stdin)
    source = Source("-")
    assert [(each.location, each.data) for each in source] == [
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
def test_of_a_compressed_file_cut_short_no_line_is_read(tmp_path, form):
    path = tmp_path / "lines"
    data = FORMS[form](MANY)
    path.write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(FileFault, match="ends in the middle"):
        next(iter(Source(str(path))))


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_compressed_pipe_cut_short_gives_its_lines_and_then_an_error(monkeypatch, form):
    data = FORMS[form](MANY)
    cut = io.BytesIO(data[: len(data) * 3 // 4])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(cut))
    lines = iter(Source("-"))
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


def test_a_line_may_be_as_long_as_the_bound_and_one_above_it_is_not_held(
    tmp_path, stored_as, monkeypatch
):
    longest = 5 * CHUNK_BYTES + 7
    monkeypatch.setattr(lines_module, "LONGEST_LINE", longest)
    path = tmp_path / "lines"
    path.write_bytes(
        stored_as(b"a\n" + b"x" * longest + b"\n" + b"y" * (longest + 1) + b"\nb\n" + b"z" * 10**6)
    )
    first, full, above, after, last = Source(str(path))
    assert (first.data, full.data, after.data) == (b"a", b"x" * longest, b"b")
    assert [each.number for each in (above, after, last)] == [3, 4, 5]
    for each in (above, last):
        with pytest.raises(LineFault, match="longer than 327,687 bytes"):
            _ = each.data


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_huge_expansion_is_not_held_in_memory(tmp_path, form):
    path = tmp_path / "lines"
    with path.open("wb") as opened:
        if form == "gzip":
            writer = gzip.GzipFile(fileobj=opened, mode="wb", compresslevel=1)
        else:
            writer = zstd.ZstdFile(opened, "wb", level=1)
        with writer:
            for _ in range(160):
                writer.write(bytes(2**20))
    tracemalloc.start()
    try:
        [line] = Source(str(path))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert line.kept is None
    assert most < 80 * 2**20


@pytest.mark.parametrize("text", [b"\xef\xbb\xbfa\nb", b"\xef\xbb\xbf\na\nb"])
def test_a_byte_order_mark_is_no_part_of_a_line(tmp_path, stored_as, text):
    path = tmp_path / "lines"
    path.write_bytes(stored_as(text + b"\n\xef\xbb\xbfc"))
    assert [each.data for each in Source(str(path))] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("padding", [b"\0", b"\0" * (3 * CHUNK_BYTES)])
def test_a_gzip_file_may_be_padded_with_zeros(tmp_path, padding):
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(b"a\n") + padding)
    assert [each.data for each in Source(str(path))] == [b"a"]
    path.write_bytes(gzip.compress(b"a\n") + padding + b"x")
    with pytest.raises(FileFault):
        list(Source(str(path)))


class Trickle(io.BytesIO):
    """A pipe that has three bytes at a time."""

    def read1(self, size=-1):
        return super().read1(min(size, 3) if size > 0 else 3)


def test_the_first_line_is_known_even_of_a_slow_pipe(monkeypatch, stored_as):
    line = b'{"text": "a"}\n'
    stdin = io.TextIOWrapper(Trickle(stored_as(line * 100)))
    monkeypatch.setattr("sys.stdin", stdin)
    source = Source("-")
    assert source.begin == b""
    assert len(list(source)) == 100
    assert source.begin.startswith(line)


def test_a_file_is_read_whole_if_it_has_no_more_than_the_most(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert Source(str(path)).read(5) == b"12345"
    with pytest.raises(FileFault, match="more than 4 bytes"):
        Source(str(path)).read(4)

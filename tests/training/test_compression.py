import bz2
import gzip
import io
import lzma
from contextlib import suppress
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from manyclass.training.compression import inner_name, zstd
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource

ROWS = b"text,label\n" + b"".join(b"ice %d,hockey\n" % number for number in range(400))


def archive(*files, **more):
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as written:
        for name, data in (*files, *more.items()):
            written.writestr(name, data)
    return packed.getvalue()


def zipped(data):
    return archive(("__MACOSX/._rows.csv", b"x"), ("data/", b""), ("data/rows.csv", data))


def checked_zstd(data):
    """Return data as the program zstd packs it: with a checksum."""
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


PACKED = {
    "gz": gzip.compress,
    "zst": checked_zstd,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}


@pytest.fixture(params=PACKED)
def form(request):
    return request.param


def read(file):
    return [each.data for each in Source(str(file))]


def test_a_packed_table_is_read(tmp_path, form):
    file = tmp_path / f"rows.csv.{form}"
    file.write_bytes(PACKED[form](ROWS))
    assert len(list(TableSource(str(file), "csv", Layout()))) == 400
    assert read(file) == ROWS.splitlines()


def test_standard_input_may_be_packed(monkeypatch, form):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PACKED[form](ROWS))))
    assert read("-") == ROWS.splitlines()


def test_a_file_that_is_cut_anywhere_is_a_fault(tmp_path, form):
    packed = PACKED[form](ROWS)
    file = tmp_path / "rows"
    least = 7  # shorter ones have no signature
    for end in {*range(least, len(packed), max(1, len(packed) // 40)), len(packed) - 1}:
        file.write_bytes(packed[:end])
        for source in (Source(str(file)), TableSource(str(file), "csv", Layout())):
            with pytest.raises(FileFault, match=r"ends in the middle|cut or damaged|is damaged"):
                list(source)


def test_no_row_of_a_file_with_flipped_bytes_is_read_unless_all_are_right(tmp_path, form):
    packed = PACKED[form](ROWS)
    file = tmp_path / "rows"
    file.write_bytes(packed)

    def sources():
        return Source(str(file)), TableSource(str(file), "csv", Layout())

    right = [[row.data for row in source] for source in sources()]
    begin = 8  # without its signature it is another file
    for at in range(begin, len(packed), max(1, len(packed) // 60)):
        damaged = bytearray(packed)
        damaged[at] ^= 0xFF
        file.write_bytes(damaged)
        for source, whole in zip(sources(), right, strict=True):
            rows = []
            with suppress(FileFault):
                for row in source:
                    rows.append(row.data)
            assert rows in ([], whole), at


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (archive(a=b"x", b=b"y"), r"has 2 files \(a, b\): unpack it, and name them"),
        (archive(), "is cut or damaged|is empty"),
        (archive(("__MACOSX/x", b"")), "the zip archive is empty"),
        (archive(("[Content_Types].xml", b"")), "looks like a spreadsheet: name it .xlsx"),
    ],
)
def test_an_archive_that_is_not_one_file_is_refused_with_the_way_on(tmp_path, data, reason):
    file = tmp_path / "rows.csv"
    file.write_bytes(data)
    if data.startswith(b"PK\x03\x04"):
        with pytest.raises(FileFault, match=reason):
            read(file)


def test_an_archive_with_a_password_is_refused(tmp_path):
    data = bytearray(archive(("a.csv", ROWS)))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    file = tmp_path / "a.zip"
    file.write_bytes(data)
    with pytest.raises(FileFault, match=r"a\.csv of the zip archive cannot be read: .*encrypted"):
        read(file)


def test_the_name_in_an_archive_is_that_of_its_format(tmp_path):
    file = tmp_path / "data.zip"
    file.write_bytes(zipped(ROWS))
    assert inner_name(str(file)).endswith("rows.csv")
    assert inner_name("a/b.csv.zip") == "b.csv"
    assert inner_name("a/b.jsonl.XZ") == "b.jsonl"
    assert inner_name(str(tmp_path / "missing.zip")) == "missing"
    file.write_bytes(b"PK\x03\x04 damaged")
    assert inner_name(str(file)) == "data"

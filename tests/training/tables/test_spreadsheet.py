import builtins
from contextlib import suppress
from io import BytesIO
from zipfile import ZIP_LZMA, ZipFile

import pytest

from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from tests.training.tables.conftest import event
from tests.training.tables.files import write_spreadsheet


@pytest.fixture
def sheet(tmp_path):
    """Return a function that writes sheets and returns the events of the first."""

    def read(*sheets, **layout):
        file = tmp_path / "table.xlsx"
        write_spreadsheet(file, *sheets)
        return {
            line.number: event(line) for line in TableSource(str(file), "xlsx", Layout(**layout))
        }

    return read


def test_the_first_sheet_is_read_and_whole_numbers_are_names(sheet):
    rows = [["text", "label"], ["a < b", 3], ["c", 1.5], [None, None], ["d", None]]
    assert sheet(rows, [["other"]]) == {
        2: {"text": "a < b", "classes": ["3"]},
        3: {"text": "c", "classes": ["1.5"]},
        5: "no class: label is empty",
    }


def test_blank_rows_above_the_header_are_skipped_and_counted(sheet):
    rows = [[], [], ["text", "label"], ["a", "b"]]
    assert sheet(rows) == {4: {"text": "a", "classes": ["b"]}}


def test_a_sheet_without_rows_is_refused(sheet):
    with pytest.raises(TableFault, match="it is empty"):
        sheet([])
    with pytest.raises(TableFault, match=r"a header and no rows \(text, label\)"):
        sheet([["text", "label"]])


FAR = {
    "by its place": '<row><c r="XFD1048576"><v>1</v></c></row>',
    "by the place of its row": '<row r="1048576">' + "<c><v>1</v></c>" * 100 + "</row>",
    "with a prefix": "<row><x:c t='n' r = 'XFD1048576'><v>1</v></x:c></row>",
    "behind a megabyte": f'<row>{" " * 2**20}</row><row><c r="XFD1048576"><v>1</v></c></row>',
}


@pytest.mark.parametrize("far", FAR.values(), ids=FAR)
def test_a_cell_far_out_is_refused(far, tmp_path):
    file = tmp_path / "far.xlsx"
    write_spreadsheet(file, [["text", "label"], ["a", "b"]], more=far)
    with pytest.raises(TableFault, match="a sheet reaches to row 1,048,576 and column"):
        list(TableSource(str(file), "xlsx", Layout()))


def test_an_empty_cell_far_out_is_not_held(tmp_path):
    file = tmp_path / "far.xlsx"
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    write_spreadsheet(file, [["text", "label"], ["a", "b"]], more=far)
    [line] = TableSource(str(file), "xlsx", Layout())
    assert event(line) == {"text": "a", "classes": ["b"]}


def test_its_columns_are_looked_up_too(sheet):
    with pytest.raises(TableFault, match="the columns a, b: add --text-column"):
        sheet([["a", "b"], ["c", "d"]])


def test_other_bytes_are_not_a_spreadsheet(tmp_path):
    file = tmp_path / "table.xlsx"
    file.write_text("text,label\n")
    with pytest.raises(FileFault, match="not a spreadsheet that can be read"):
        list(TableSource(str(file), "xlsx", Layout()))


def lacking_bytes(whole):
    return whole[:50] + whole[53:]


def damaged_lzma(whole):
    """Return the spreadsheet compressed by LZMA, with a wrong byte in its first part."""
    packed = BytesIO()
    with ZipFile(BytesIO(whole)) as archive, ZipFile(packed, "w", ZIP_LZMA) as lzma:
        first, *_ = archive.namelist()
        for name in archive.namelist():
            lzma.writestr(name, archive.read(name))
    at = 30 + len(first) + 20  # amid the compressed bytes, behind the header of the part
    data = bytearray(packed.getvalue())
    data[at] ^= 0xFF
    return bytes(data)


def of_a_later_version(whole):
    at = whole.index(b"PK\1\2") + 6
    return whole[:at] + b"\xff" + whole[at + 1 :]


@pytest.mark.parametrize("damage", [lacking_bytes, damaged_lzma, of_a_later_version])
def test_a_damaged_archive_is_a_fault_or_read_without_a_check(damage, tmp_path):
    file = tmp_path / "table.xlsx"
    write_spreadsheet(file, [["text", "label"], ["a", "b"]])
    file.write_bytes(damage(file.read_bytes()))
    with suppress(FileFault):
        assert len(list(TableSource(str(file), "xlsx", Layout()))) == 1


def test_without_the_package_the_fault_says_what_to_install(sheet, monkeypatch):
    imported = builtins.__import__

    def lacking(name, *arguments, **more):
        if name == "python_calamine":
            raise ImportError(name)
        return imported(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(TableFault, match=r"pip install 'manyclass\[tables\]'"):
        sheet([["text", "label"]])

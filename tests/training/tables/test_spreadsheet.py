from contextlib import suppress
from io import BytesIO
from zipfile import ZIP_LZMA, ZipFile

import pytest

from manyclass.training.formats import format_of
from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import TableError
from manyclass.training.tables.source import TableFault, TableSource
from manyclass.training.tables.spreadsheet import Bounds, Workbook
from tests.training.tables import workbooks
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


def rows_of(content, sheet=None):
    opened = Workbook(BytesIO(content))
    return list(opened.rows(sheet or opened.first))


def test_a_cell_is_read_as_a_person_sees_it():
    content, expected = workbooks.kinds()
    assert rows_of(content)[1] == expected


def test_results_of_formulas_are_read_and_errors_and_merged_cells_are_empty():
    content = workbooks.office()
    assert rows_of(content) == workbooks.OFFICE_ROWS
    assert rows_of(content, "Old") == [["not", "this"]]


def test_old_workbooks_and_those_of_libre_office_are_read():
    assert rows_of(workbooks.old()) == workbooks.OLD_ROWS
    assert rows_of(workbooks.libre()) == workbooks.LIBRE_ROWS


def test_a_million_blank_rows_are_no_rows(tmp_path):
    file = tmp_path / "table.xlsx"
    file.write_bytes(workbooks.blank_rows())
    found = list(TableSource(str(file), "xlsx", Layout()))
    assert [(each.number, each.text) for each in found] == [(2, "a"), (1_000_003, "b")]


@pytest.mark.parametrize("kind", workbooks.HOSTILE)
def test_a_hostile_workbook_is_refused_with_the_reason(kind):
    make, reason = workbooks.HOSTILE[kind]
    with pytest.raises(TableError, match=reason):
        assert Workbook(BytesIO(make()), Bounds(unpacked=256 * 2**20)).first


def test_the_sheet_is_chosen_by_name_and_the_others_are_named(tmp_path):
    file = tmp_path / "table.xlsx"
    rows = [[["text", "label"], [each, each]] for each in "abc"]
    file.write_bytes(workbooks.workbook(*rows, hidden=["S1"]))
    said = []

    def texts(**layout):
        source = TableSource(str(file), "xlsx", Layout(**layout), guessed=said.append)
        return [each.text for each in source]

    assert texts() == ["b"]
    assert said[0] == "the rows are those of the sheet `S2`; --sheet names another: S1, S3"
    said.clear()
    assert texts(sheet="S3") == ["c"]
    assert "sheet" not in "".join(said)
    with pytest.raises(TableFault, match="there is no sheet `s3`, the sheets are S1, S2, S3"):
        texts(sheet="s3")


@pytest.mark.parametrize("name", ["a.xls", "a.ods", "a.XLSX", "a.xlsm"])
def test_the_name_of_a_workbook_determines_its_format(name):
    assert format_of(name) == "xlsx"


def test_a_workbook_of_libre_office_of_another_name_is_recognised(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes(workbooks.libre())
    with pytest.raises(FileFault, match=r"looks like a spreadsheet: name it \.xlsx or \.ods"):
        list(TableSource(str(file), "csv", Layout()))

import builtins

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


def test_a_sheet_without_rows_has_none(sheet):
    assert sheet([]) == {}


def test_its_columns_are_looked_up_too(sheet):
    with pytest.raises(TableFault, match="the columns a, b: add --text-column"):
        sheet([["a", "b"], ["c", "d"]])


def test_other_bytes_are_not_a_spreadsheet(tmp_path):
    file = tmp_path / "table.xlsx"
    file.write_text("text,label\n")
    with pytest.raises(FileFault, match="not a spreadsheet that can be read"):
        list(TableSource(str(file), "xlsx", Layout()))


def test_without_the_package_the_fault_says_what_to_install(sheet, monkeypatch):
    imported = builtins.__import__

    def lacking(name, *arguments, **more):
        if name == "python_calamine":
            raise ImportError(name)
        return imported(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(TableFault, match=r"pip install 'manyclass\[tables\]'"):
        sheet([["text", "label"]])

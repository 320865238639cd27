"""Makes the files of the tests: spreadsheets as zip archives of XML, Parquet and Arrow."""

from html import escape
from zipfile import ZipFile

from arro3.core import Array, DataType, Table
from arro3.io import write_ipc, write_ipc_stream, write_parquet

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_spreadsheet(path, *sheets, more=""):
    """Write a workbook of sheets, lists of rows of texts, numbers and None, with `more` XML."""
    numbers = range(1, len(sheets) + 1)
    named = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
    related = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in numbers
    )
    kinds = "".join(
        f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="application/vnd.openxml'
        'formats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n in numbers
    )
    with ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType="application/vnd.'
            'openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main'
            f'+xml"/>{kinds}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_RELATIONS}">{related}</Relationships>',
        )
        for number, sheet in zip(numbers, sheets, strict=True):
            rows = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in sheet)
            archive.writestr(
                f"xl/worksheets/s{number}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}{more}</sheetData></worksheet>',
            )


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def write_parquet_file(path, **columns):
    """Write a Parquet file of columns of texts or whole numbers, or of arrays."""
    write_parquet(_table(columns), path)


def write_arrow_file(path, *, is_stream=False, **columns):
    """Write a file of Arrow, or a stream, of columns as those of `write_parquet_file`."""
    (write_ipc_stream if is_stream else write_ipc)(_table(columns), path)


def _table(columns):
    arrays = {
        name: values
        if isinstance(values, Array)
        else Array(
            values,
            DataType.int64() if isinstance(values[0], int) else DataType.string(),
        )
        for name, values in columns.items()
    }
    return Table.from_pydict(arrays)

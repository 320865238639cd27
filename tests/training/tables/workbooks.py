"""Workbooks of the tests, as bytes: what offices save, and what harms a reader."""

import struct
import zlib
from base64 import b64decode
from datetime import date, datetime, time, timedelta
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import xlsxwriter

from tests.training.tables.files import write_spreadsheet

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
_OLD = (  # by xlwt 1.3: text, label, tag / ä b, 2136, a date / c, the text 00123, 1.5
    "eNrtWE1oE0EU/maTND+0TVJToRVKLFi1ttjYi5d2Vao9pVQ9qFXQpA0iDamEHNSDVmuOgiAIipdCPXipevEHFfQgeBAqehAE"
    "IVFvngQFD23W9152a1orNKCF6nzLvJl5M9/O230zb2b31Uy4MHm3uYhF6IULJcuPmgqdouR3KiFQu2Vx0cl9lCyNVQW/jxxZ48Gj"
    "upde9iH7uwgDd9zPSAIfKB3BSQyMZVLRFcQusSGh2IYekgo3SFOPJrGqQeSwyDUib0vPxyJ3iOaSyB7qW1BDmDEH2rfbs/ig0Spt"
    "9eD73hfOO9HE0IgXPIvPXVblvh7szJ5IpFdZQ4u7FlMgh/anMqks14O4iQBwiNAZj3f29RUQIWdP4ZsVBb46q/ppVOtXVq9A+u8L"
    "9d7f6H3kxMX6K4YbGId1TBZJnpwccXOLgf2xWWyVBc2JlLnUqZwHSCeSqbSLqonjJD9FkzR3hknf1RXb1h3gGC8xIbQgJtTJWqkl"
    "OYKglMOyYkJk1OytL6/jyUHzqGjGZR8o7xYb2DhYOM8MItdLi2tetgtji8gLctd1Um4WGaHpTHnbYKNd2DMhfS5KaxuN0y14Y26s"
    "KG+icv7z3gct+Y/mZipP9xfPRKbfmpNopd1rhPh8TaBDdajr1xgPTSdXdmR5L7LplyjjM0K27Za9JQYxx+uKEBZZrvHbUfM1w35X"
    "zFZLsJWw+X08ofGVsJPrOcpdfW4Qk3nGEjxDeG57nLJPyI84a3CNRz1MXXqNBtzjrhQXfyIADQ0NDQ0NDQ2N/xFKzqfl0zifJD32"
    "ed9r/9eZo1TSv0n+WezDGF05+qjcjQzlWZyuav6shUc591LL5Dj/CxkHaPQsRpEUO0arnr/0vaYqn2fZxNCfW0LVjl+qxs6/PP4P"
    "oE7VQQ=="
)


def workbook(*sheets, hidden=(), **named):
    """Return a workbook of sheets S1, S2, … and of named ones: lists of rows of values."""
    whole = {f"S{number}": rows for number, rows in enumerate(sheets, 1)} | named
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"remove_timezone": True}) as made:
        dated = made.add_format({"num_format": "dd.mm.yyyy"})
        timed = made.add_format({"num_format": "dd.mm.yyyy hh:mm"})
        formats = {
            date: dated,
            datetime: timed,
            time: made.add_format({"num_format": "hh:mm"}),
            timedelta: made.add_format({"num_format": "[h]:mm:ss"}),
        }
        for name, rows in whole.items():
            sheet = made.add_worksheet(name)
            if name in hidden:
                sheet.hide()
            else:
                sheet.activate()  # the first is active, unless another is, and cannot be hidden
            for at, row in enumerate(rows):
                for column, value in enumerate(row):
                    if isinstance(value, str):
                        sheet.write_string(at, column, value)
                    elif value is not None:
                        sheet.write(at, column, value, formats.get(type(value)))
    return file.getvalue()


def kinds():
    """Return a workbook of each kind of cell, and what a person sees of the second row."""
    row = {
        2136: "2136",
        1.5: "1.5",
        0.1 + 0.2: "0.3",
        "00123": "00123",
        " a\nb ": " a\nb ",
        "=1+1": "=1+1",
        date(2024, 5, 1): "2024-05-01",
        datetime(2024, 5, 1, 8, 30): "2024-05-01 08:30:00",
        time(8, 30): "08:30:00",
        timedelta(hours=36): "36:00:00",
        True: "true",
        None: "",
        12345678901234567890: "1.23456789012346e+19",
        -7: "-7",
    }
    return workbook([[f"c{at}" for at in range(len(row))], list(row)]), list(row.values())


def office():
    """Return a workbook with formulas, errors, merged cells, a chart and a hidden sheet."""
    file = BytesIO()
    with xlsxwriter.Workbook(file) as made:
        hidden = made.add_worksheet("Old")
        made.add_chartsheet("Chart").set_chart(made.add_chart({"type": "line"}))
        made.charts[0].add_series({"values": "=Data!$C$2:$C$4"})
        sheet = made.add_worksheet("Data")
        sheet.activate()
        sheet.set_first_sheet()
        hidden.hide()
        hidden.write_row(0, 0, ["not", "this"])
        sheet.write_row(0, 0, ["text", "label", "sum"])
        sheet.write_row(1, 0, ["a", "x", 1])
        sheet.merge_range(2, 1, 3, 1, "y")
        sheet.write_string(2, 0, "b")
        sheet.write_string(3, 0, "c")
        sheet.write_formula(2, 2, "=C2+1", None, 2)
        sheet.write_formula(3, 2, "=1/0", None, "#DIV/0!")
    return file.getvalue()


OFFICE_ROWS = [["text", "label", "sum"], ["a", "x", "1"], ["b", "y", "2"], ["c", "", ""]]


def old():
    """Return a workbook of Excel before 2007."""
    return zlib.decompress(b64decode(_OLD))


OLD_ROWS = [["text", "label", "tag"], ["ä b", "2136", "2024-05-01"], ["c", "00123", "1.5"]]


def open_document(rows):
    """Return a workbook of LibreOffice of this XML of rows."""
    file = BytesIO()
    spaces = " ".join(
        f'xmlns:{each}="{_OFFICE}:{each}:1.0"' for each in ("office", "table", "text")
    )
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{_OFFICE}:manifest:1.0"><m:file-entry m:full-path="/"'
            ' m:media-type="application/vnd.oasis.opendocument.spreadsheet"/></m:manifest>',
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table"
            f' table:name="S1">{rows}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        )
    return file.getvalue()


def _open_row(*cells, repeated=1):
    inside = "".join(cells)
    return f'<table:table-row table:number-rows-repeated="{repeated}">{inside}</table:table-row>'


def _open_text(text, repeated=1):
    return (
        f'<table:table-cell table:number-columns-repeated="{repeated}" office:value-type="string">'
        f"<text:p>{text}</text:p></table:table-cell>"
    )


def libre():
    """Return a workbook of LibreOffice, which repeats blank cells and rows up to the last one."""
    number = (
        '<table:table-cell office:value-type="float" office:value="2136"><text:p>2.136</text:p>'
        "</table:table-cell>"
    )
    blank = '<table:table-cell table:number-columns-repeated="16384"/>'
    return open_document(
        _open_row(_open_text("text"), _open_text("label"))
        + _open_row(_open_text("ä b"), number)
        + _open_row(_open_text("c"), _open_text("00123"))
        + _open_row(blank, repeated=1_048_573)
    )


LIBRE_ROWS = [["text", "label"], ["ä b", "2136"], ["c", "00123"]]


# --- hostile ones, with words of the reason -------------------------------------------------------


def _written(*sheets, **more):
    file = BytesIO()
    write_spreadsheet(file, *sheets, **more)
    return file.getvalue()


def bomb(megabytes=300):
    """Return a small workbook with a part that unpacks to so many megabytes."""
    file = BytesIO(_written([["text", "label"]]))
    with (
        ZipFile(file, "a", ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/sharedStrings.xml", "w") as part,
    ):
        for _ in range(megabytes):
            part.write(bytes(2**20))
    return file.getvalue()


def encrypted():
    """Return the compound file in which Excel keeps a workbook with a password, without it."""
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    mark = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    sizes = (0x3E, 3, 0xFFFE, 9, 6, b"", 0, 1, 1, 0, 4096, end, 0, end, 0, 0)
    header = struct.pack("<8s16s5H6s9I109I", mark, b"", *sizes, *[free] * 108)

    def entry(name, kind, right, child):
        raw = name.encode("utf-16-le")
        of_tree = (len(raw) + 2, kind, 1, free, right, child)
        return struct.pack("<64sHBBIII16sIQQIQ", raw, *of_tree, b"", 0, 0, 0, end, 0)

    entries = [
        entry("Root Entry", 5, free, 1),
        entry("EncryptedPackage", 2, 2, free),
        entry("EncryptionInfo", 2, free, free),
    ]
    sectors = struct.pack("<128I", table, end, *[free] * 126)
    return header + sectors + b"".join(entries).ljust(512, b"\0")


def far():
    return _written([["text", "label"]], more='<row><c r="XFD1048576"><v>1</v></c></row>')


def far_in_open_document():
    return open_document(_open_row(*[_open_text("a")] * 20, repeated=1_048_576))


def wide_in_open_document():
    return open_document(_open_row(_open_text("a", repeated=99_999_999)))


HOSTILE = {
    "bomb": (bomb, "unpacks to more than"),
    "password": (encrypted, "protected by a password"),
    "far": (far, "reaches to row 1,048,576 and column"),
    "far in .ods": (far_in_open_document, "reaches to row 1,048,576 and column"),
    "wide in .ods": (wide_in_open_document, "reaches to row 1 and column 99,999,999"),
    "no archive": (lambda: b"PK\3\4 no archive", "not a spreadsheet that can be read"),
    "no workbook": (lambda: _written(), "cannot be read|no sheet"),
    "empty": (lambda: b"", "not a spreadsheet that can be read"),
}


def blank_rows():
    """Return a workbook of a million rows without a cell between two rows with some."""
    blank = "<row/>" * 1_000_000
    more = f'{blank}<row><c t="inlineStr"><is><t>b</t></is></c><c><v>2</v></c></row>'
    return _written([["text", "label"], ["a", 1]], more=more)

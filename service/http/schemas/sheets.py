"""The body of the call that reads a workbook."""

import msgspec


class Sheet(msgspec.Struct, gc=False):
    """A sheet of a workbook: the texts of its cells, row by row from the first row on."""

    name: str
    rows: list[list[str]]


class Sheets(msgspec.Struct, gc=False):
    """The sheets of a workbook in order. `first` is the name of the first that is not hidden."""

    first: str
    sheets: list[Sheet]

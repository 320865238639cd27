import json

import pytest

from manyclass.training.lines import LineFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource


def event(line):
    """Return the event of a line, or the reason why it has none."""
    try:
        return json.loads(line.data)
    except LineFault as fault:
        return str(fault)


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a file and yields the events of its rows by line numbers."""

    def read(content, name="table.csv", labelled=True, format="csv", **layout):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = TableSource(str(file), format, Layout(**layout), labelled)
        return {line.number: event(line) for line in source}

    return read

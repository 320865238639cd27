"""The page about offline training says what there is, and its examples can be read."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from manyclass.cli.main import app
from manyclass.training.formats import FORMATS, SUFFIXES
from manyclass.training.lines import Source
from manyclass.training.reading import read

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text()


def test_every_option_is_in_the_table():
    command = get_command(app).commands["train"]
    flags = {
        flag
        for parameter in command.params
        if parameter.name not in ("files", "help") and not parameter.hidden
        for flag in [*parameter.opts, *parameter.secondary_opts]
    }
    assert "--held-out" in flags
    table = PAGE.split("## Options of")[1].split("\n\n")[1]
    assert {flag for flag in re.findall(r"`(--[a-z-]+)`", table)} >= flags


def test_every_suffix_is_in_the_table():
    rows = re.findall(r"^\| `(\w+)` \| (`\..*) \|$", PAGE, re.MULTILINE)
    told = {suffix: format for format, names in rows for suffix in re.findall(r"`(\S+)`", names)}
    assert told == dict(SUFFIXES)


@pytest.mark.parametrize("format", FORMATS)
def test_the_example_of_each_format_can_be_read(format, tmp_path):
    [example] = re.findall(rf"^```{format}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "example"
    file.write_text(example)
    rows, account = read([Source(str(file))], format)
    assert account.rejected == 0
    assert len(rows) == len(example.splitlines()) - (format == "xmc")
    assert len(rows.indices) > 0

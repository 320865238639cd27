"""The page about tables names every option, and its examples are read as it says."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from manyclass.cli.input_options import Input
from manyclass.cli.main import app
from manyclass.training.tables.columns import CLASS_NAMES, TEXT_NAMES
from manyclass.training.tables.layout import Layout

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
COMMANDS = get_command(app).commands
OFFLINE = ["train", "report", "evaluate", "fit", "probabilities", "convert"]
READING = ["learn", "rank", "give", *OFFLINE]


def flags_of(command):
    """Return the flags of a command's options."""
    return {
        flag for each in COMMANDS[command].params for flag in (*each.opts, *each.secondary_opts)
    }


def test_every_option_of_tables_is_in_the_table():
    section = PAGE.split("## Columns")[1].split("## Rows")[0]
    told = {
        flag
        for cell in re.findall(r"^\| (`--.*?`) \|", section, re.MULTILINE)
        for flag in re.findall(r"--[a-z-]+", cell)
    }
    common = set.intersection(*map(flags_of, READING)) - {"--help", "files"}
    assert {"--text-column", "--delimiter", "--no-header"} <= common
    assert told == common | {
        *("--class-column", "--class-separator", "--id-column"),
        *("--leave-out", "--one-hot", "--ranked-id-column", "--source-column"),
        *("--vector-column", "--vectors"),
    }
    assert {"--class-column", "--class-separator"} <= set.intersection(
        *(flags_of(command) for command in READING if command not in ("rank", "give"))
    )


def test_every_command_that_reads_tables_is_named():
    named = PAGE.split("read tables")[0]
    assert re.findall(r"`(?:manyclass )?(\w+)`", named) == READING
    assert {name for name in COMMANDS if "--text-column" in flags_of(name)} == {*READING}


@pytest.mark.parametrize("line", re.findall(r"^manyclass \w.*$", PAGE, re.MULTILINE))
def test_every_command_can_be_parsed(line):
    command, *arguments = shlex.split(line)[1:]
    context = COMMANDS[command].make_context(command, arguments)
    assert context.params["text_columns"] == ("question",)


def test_the_example_is_read(tmp_path):
    [example, _] = re.findall(r"^```csv\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "questions.csv"
    file.write_text(example)
    [source] = Input(None, Layout()).sources([str(file)])
    assert len([line.data for line in source]) == len(example.splitlines()) - 1


def test_the_names_that_are_guessed_are_there():
    texts, classes = re.findall(r"\(((?:`\w+`,?\s*)+)\)", PAGE)
    for names, pattern in ((texts, TEXT_NAMES), (classes, CLASS_NAMES)):
        assert all(pattern.fullmatch(name) for name in re.findall(r"\w+", names))

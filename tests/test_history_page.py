"""The examples of docs/history.md do what it says they do."""

import json
import re
import shlex
from pathlib import Path

import httpx
from typer.testing import CliRunner

from manyclass.cli.ephemeral_service import ephemeral_service
from manyclass.cli.main import app

PAGE = Path(__file__).parents[1] / "docs" / "history.md"
OLD_KEYS = {"rank", "ranks"}  # answered until 1.0, and not shown


def commands():
    """Return the commands of the page with the output shown, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [
        (shlex.split(command), output)
        for block in blocks
        for command, output in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block, re.MULTILINE)
    ]


def posted(url, address, body):
    answer = httpx.post(
        url + address.removeprefix("127.0.0.1:8000"),
        content=body,
        headers={"Content-Type": "application/json"},
    )
    return {key: value for key, value in answer.json().items() if key not in OLD_KEYS}


def is_shown(shown, given):
    """Return whether an output is the one shown, in which … stands for anything."""
    return re.fullmatch(re.escape(shown).replace("…", ".*"), given) is not None


def test_the_outputs_are_those_shown():
    shown = commands()
    assert len(shown) >= 10
    with ephemeral_service({}) as url:
        for (program, *arguments), output in shown:
            if program == "curl":
                address, option, body = arguments
                assert option == "--json"
                assert posted(url, address, body) == json.loads(output)
            else:
                assert program == "manyclass"
                result = CliRunner().invoke(app, arguments, env={"MANYCLASS_URL": url})
                assert result.exit_code == 0, result.output
                assert is_shown(output, result.stdout), (arguments, result.stdout)


def test_another_output_is_found():
    assert is_shown("a … b\n", "a 1 b\n")
    assert not is_shown("a … b\n", "a 1 c\n")
    assert not is_shown("", "a\n")

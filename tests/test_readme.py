"""The examples of the README do what it says they do."""

import doctest
import json
import re
import shlex
from pathlib import Path

import httpx
import pytest
from typer.main import get_command

from manyclass.cli.ephemeral_service import ephemeral_service
from manyclass.cli.main import app

README = Path(__file__).parents[1] / "README.md"
OLD_KEYS = {"rank", "withheld"}  # answered until 1.0, and not shown
EXAMPLE = re.compile(r"^\$ curl (.*)\n((?:[^$`].*\n)*)", re.MULTILINE)


def examples():
    """Return the calls of the README with the answers shown, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    return [
        (shlex.split(command), json.loads(answer))
        for block in blocks
        for command, answer in EXAMPLE.findall(block)
    ]


def about(value):
    """Replace the numbers in a value by approximations of the README's precision."""
    if isinstance(value, dict):
        return {name: about(each) for name, each in value.items()}
    if isinstance(value, list):
        return [about(each) for each in value]
    return pytest.approx(value, abs=0.0006) if isinstance(value, float) else value


def test_the_answers_are_those_shown():
    shown = examples()
    assert len(shown) >= 5
    with ephemeral_service({}) as url:
        for (address, *options), answer in shown:
            path = re.sub(r"^127\.0\.0\.1:800[01]", "", address)
            if options[:1] == ["--json"]:
                headers = {"Content-Type": "application/json"}
                got = httpx.post(url + path, content=options[1], headers=headers)
            else:
                assert not options
                got = httpx.get(url + path)
            told = {key: value for key, value in got.json().items() if key not in OLD_KEYS}
            assert told == about(answer), address


def test_the_python_session_is_as_shown():
    failed, tried = doctest.testfile(str(README), False, optionflags=doctest.ELLIPSIS)
    assert tried >= 5
    assert failed == 0


PAGES = [README, *README.parent.glob("docs/*.md"), *README.parent.glob("deploy/*.md")]
CODE = re.compile(r"```.*?```|`[^`]+`", re.DOTALL)
CALL = re.compile(r"(?:^|`|[A-Z]=\S+ )manyclass ([a-z][^`|]*?)(?=`|\n\S|\n*$)", re.MULTILINE)


def unknown(call):
    """Return the first word of a call that the command line does not know; None without one."""
    command = get_command(app)
    for word in call.replace("'", " ").split():
        if word.startswith("--"):
            names = [name for each in command.params for name in (*each.opts, *each.secondary_opts)]
            if word.partition("=")[0] not in names:
                return word
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return word
            command = command.commands[word]
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_calls_of_the_command_line_name_commands_and_options(page):
    calls = CALL.findall("\n".join(CODE.findall(page.read_text())))
    assert [call for call in calls if unknown(call)] == []
    assert len(calls) >= 10 or page != README


def test_an_unknown_command_or_option_is_found():
    assert unknown("serve --store sqlite:x --reconfigure") is None
    assert unknown("snapshot restore SEQ") is None
    assert unknown("snapshot mend SEQ") == "mend"
    assert unknown("learn FILE --urls http://x") == "--urls"

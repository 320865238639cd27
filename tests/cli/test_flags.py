"""Options name their flag: some versions of typer take it from the word for the value otherwise."""

import ast
from pathlib import Path

import pytest

COMMANDS = Path(__file__).parents[2] / "cli"


def options(module):
    """Yield every call of typer.Option in a module."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option":
            yield node


@pytest.mark.parametrize("module", sorted(COMMANDS.glob("*.py")), ids=lambda each: each.stem)
def test_an_option_with_a_word_for_its_value_names_its_flag(module):
    with_word = [
        option
        for option in options(module)
        if any(keyword.arg == "metavar" for keyword in option.keywords)
    ]
    assert [ast.unparse(option) for option in with_word if not option.args] == []


def test_options_are_found():
    assert len([*options(COMMANDS / "connection.py")]) == 2

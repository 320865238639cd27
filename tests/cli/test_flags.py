"""Options name their flag: some versions of typer take it from the word for the value otherwise."""

import ast
from pathlib import Path

COMMANDS = Path(__file__).parents[2] / "cli"


def test_an_option_with_a_word_for_its_value_names_its_flag():
    with_word = [
        node
        for module in COMMANDS.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option"
        if any(keyword.arg == "metavar" for keyword in node.keywords)
    ]
    assert len(with_word) > 10
    assert [ast.unparse(option) for option in with_word if not option.args] == []

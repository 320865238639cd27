"""The messages that docs/faq.md quotes in its headings are messages of the program."""

import ast
import re

from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs/faq.md").read_text()
QUOTED = [
    part.strip()
    for heading in re.findall(r"^### (.*`.*)$", PAGE, re.MULTILINE)
    for message in re.findall(r"`([^`]+)`", heading)
    for part in message.split("…")
    if " " in part.strip()
]


def strings():
    """Return the strings of the program, those next to each other as one."""
    found = []
    for room in ("service", "cli", "core", "client"):
        for module in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(module.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [each.value for each in node.values if isinstance(each, ast.Constant)]
                    found.append("…".join(parts))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return "\n".join(found)


def test_quoted_messages_exist():
    said = strings()
    assert len(QUOTED) > 6
    assert [each for each in QUOTED if each not in said] == []


def test_a_message_that_does_not_exist_would_be_found():
    assert "the store had learned by" not in strings()

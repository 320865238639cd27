"""Texts for people name each setting in full: a variable without the prefix is not read."""

import ast
import re
from pathlib import Path

from manyclass.service.config.settings import TABLE

ROOT = Path(__file__).parents[2]
NAMES = [row.name.upper() for row in TABLE]
SEVERAL_WORDS = "|".join(name for name in NAMES if "_" in name)
ONE_WORD = "|".join(name for name in NAMES if "_" not in name)
# One word alone may be prose or an example (`redis://HOST/0`), unless it is code or reads as one.
SHORT = re.compile(
    rf"(?<![A-Z_])({SEVERAL_WORDS}|LEARNER|SHADOWS|STORE)(?![A-Z_])|`({ONE_WORD})(?=[`=])"
)

OF_MAKE = re.compile(r"make run( (PORT|HOST|STORE)=[^\s`)]*)+")  # its own variables

PAGES = [
    *ROOT.glob("*.md"),
    # The page of the command line is made of help texts, which the other test reads.
    *(path for path in (ROOT / "docs").rglob("*.md") if path.name != "command-line.md"),
    *(ROOT / "deploy").glob("*.md"),
    *(path for path in (ROOT / "deploy").rglob("*") if path.suffix in (".yml", ".yaml", ".json")),
    *(ROOT / "deploy").rglob("*.conf"),
    *ROOT.glob("docker-compose*.yml"),
]
ROOMS = [ROOT / room for room in ("service", "cli", "core", "client")]
MODULES = [*(path for room in ROOMS for path in room.rglob("*.py")), ROOT / "deploy/dashboards.py"]


def text_of(module):
    """Return the strings of a module, docstrings included, one to a line."""
    nodes = ast.walk(ast.parse(module.read_text()))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return "\n".join(value for value in constants if isinstance(value, str))


def short(text):
    """Find settings without the prefix, but for the examples on the page that explains it."""
    text = OF_MAKE.sub("", text)
    explained = text.partition("The prefix is part of each name.")
    rest = explained[2].partition("other programs use them.")[2] if explained[2] else ""
    return [match[0] for match in SHORT.finditer(explained[0] + rest)]


def test_pages_name_settings_in_full():
    found = {page: short(page.read_text()) for page in PAGES}
    assert {page: names for page, names in found.items() if names} == {}


def test_messages_name_settings_in_full():
    found = {module: short(text_of(module)) for module in MODULES}
    assert {module: names for module, names in found.items() if names} == {}


def test_a_short_name_would_be_found():
    assert short(
        "make run PORT=1 STORE=a.db; RANK_KEYS, `PORT`; MANYCLASS_LEARNER, redis://HOST"
    ) == [
        "RANK_KEYS",
        "`PORT",
    ]

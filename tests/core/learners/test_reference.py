"""docs/learners.md has the tables that follow from the declarations."""

import re
from pathlib import Path

from manyclass.core.learners.reference import with_tables
from manyclass.core.learners.registry import LEARNERS, OPTIONS

PAGE = Path(__file__).parents[3] / "docs" / "learners.md"


def test_the_tables_of_the_page_follow_from_the_declarations():
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<!-- table: (\w+) -->", page) == ["learners", "options", "defaults"]
    assert with_tables(page) == page


def test_the_page_names_only_options_there_are():
    page = PAGE.read_text(encoding="utf-8")
    known = {*OPTIONS, *LEARNERS}
    named = {name for name in re.findall(r"`(\w+)=\w+`", page)}
    assert named <= known
    assert all(f"| `{name}` |" in page for name in known)


def test_another_default_would_show():
    page = PAGE.read_text(encoding="utf-8")
    changed = page.replace("| `rating` | 10 |", "| `rating` | 11 |")
    assert changed != page
    assert with_tables(changed) == page

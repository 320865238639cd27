"""Generates the tables of docs/learners.md from the declarations of learners."""

import re
from collections.abc import Mapping

from manyclass.core.learners.options import LIMITS
from manyclass.core.learners.registry import LEARNERS, OPTIONS
from manyclass.core.learners.spec import Option

_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with each marked table generated anew."""
    return fill(page, {"learners": _learners(), "options": _options(), "defaults": _defaults()})


def fill(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with these tables between their markers."""
    return _MARKED.sub(lambda mark: mark[1] + tables[mark[2]] + mark[3], page)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _learners() -> str:
    rows = [[f"`{each.name}`", each.about] for each in LEARNERS.values()]
    return table(["learner", "rows hold", "learns", "source"], rows)


def _options() -> str:
    rows = []
    for option in OPTIONS.values():
        rows.append([f"`{option.name}`", option.symbol, _values(option), option.help])
    return table(["option", "symbol", "values", "meaning"], rows)


def _values(option: Option) -> str:
    values = option.values.replace(" | ", ", ")
    values = values or ("yes, no" if isinstance(option.default, bool) else "text")
    if option.zero:
        values += f"; 0: {option.zero}"
    for name, learner in LEARNERS.items():
        own = learner.option(option.name)
        if own is not None and own.values != option.values:
            values += f"; `{name}`: {own.values}"
    return values


def _defaults() -> str:
    rows = []
    for name in (each for each in OPTIONS if each not in LIMITS):
        own = [learner.option(name) for learner in LEARNERS.values()]
        texts = [option.write(option.default) if option else "" for option in own]
        rows.append([f"`{name}`", *texts])
    return table(["option", *(f"`{name}`" for name in LEARNERS)], rows)

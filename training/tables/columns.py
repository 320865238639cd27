"""The columns of a table that become an instance, its classes and its id."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from manyclass.core.errors import did_you_mean
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Cell, Record, TableError, text_of

# As the console's page Import guesses them: tests/console/test_tables.py compares both.
CLASS_NAMES: Final = re.compile(
    r"(class(es)?|labels?|categor(y|ies)|intents?|targets?|tags?|y)", re.IGNORECASE
)
TEXT_NAMES: Final = re.compile(
    r"(text|question|sentence|title|body|message|description|content|query|utterance)s?",
    re.IGNORECASE,
)
MOST_NAMED = 20  # columns in a message
LONGEST_NAME = 40  # letters, in a message


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of columns, from 0. Without classes, rows are only ranked."""

    text: tuple[int, ...]
    classes: tuple[int, ...]
    id: int | None
    guess: str = ""  # the columns that the user did not give, for a message


def choose(layout: Layout, names: Sequence[str], rows: Sequence[Record], labelled: bool) -> Columns:
    """Return the columns of the layout; those not given are guessed if one alone fits by its name.

    `rows` are some of the first, for the command in the message of the TableError that an unknown
    or a missing column raises.
    """
    id = None if layout.id is None else position(layout.id, names)
    text = tuple(position(each, names) for each in layout.text)
    classes = tuple(position(each, names) for each in layout.classes) if labelled else ()
    taken = {*text, *classes, id}
    guesses: list[str] = []
    if not text:
        text = _guessed(TEXT_NAMES, names, taken)
        guesses += [f"the text is in column `{names[at]}`" for at in text]
    if labelled and not classes:
        classes = _guessed(CLASS_NAMES, names, taken)
        guesses += [f"the class is in column `{names[at]}`" for at in classes]
    if not text or (labelled and not classes):
        raise TableError(_missing(layout, names, rows, labelled))
    return Columns(text, classes, id, ", ".join(guesses))


def column_names(cells: Sequence[Cell]) -> list[str]:
    """Return the names of a header; a column without one is named by its number."""
    return [text_of(cell).strip() or f"column {at}" for at, cell in enumerate(cells, 1)]


def listed(names: Sequence[str]) -> str:
    """Return the names of columns for a message, shortened."""
    shown = [_shortened(name) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED:,} more")
    return ", ".join(shown)


def suggestion(names: Sequence[str], rows: Sequence[Record], labelled: bool) -> str:
    """Return the options that name the columns: by their names, else by the lengths of cells."""
    return _options(Layout(), names, rows, labelled)


def _options(layout: Layout, names: Sequence[str], rows: Sequence[Record], labelled: bool) -> str:
    """Return the options to add to those of the layout."""
    taken = {position(each, names) for each in [*layout.text, *layout.classes]}
    if layout.id is not None:
        taken.add(position(layout.id, names))

    def letters(at: int) -> int:
        return sum(len(text_of(row.cells[at])) for row in rows if at < len(row.cells))

    def fitness(at: int) -> tuple[bool, bool, int]:  # of a class: no gaps, few values, short ones
        cells = [text_of(row.cells[at]).strip() if at < len(row.cells) else "" for row in rows]
        return "" in cells, len(cells) > 1 and len({*cells}) == len(cells), letters(at)

    def of(pattern: re.Pattern[str]) -> list[int]:
        return [at for at, name in enumerate(names) if at not in taken and pattern.fullmatch(name)]

    classes = of(CLASS_NAMES)
    texts = [] if layout.text else of(TEXT_NAMES)
    free = [at for at in range(len(names)) if at not in {*taken, *classes, *texts}]
    if not texts and not layout.text and free:
        texts = [max(free, key=letters)]
        free.remove(texts[0])
    options = [f"--text-column {shlex.quote(names[at])}" for at in texts]
    if labelled and not layout.classes:
        at = classes[0] if classes else min(free, key=fitness, default=None)
        options.append("--class-column " + ("COLUMN" if at is None else shlex.quote(names[at])))
    return " ".join(options)


def _guessed(
    pattern: re.Pattern[str], names: Sequence[str], taken: set[int | None]
) -> tuple[int, ...]:
    """Return the only column of such a name, or nothing."""
    found = [at for at, name in enumerate(names) if at not in taken and pattern.fullmatch(name)]
    return tuple(found) if len(found) == 1 else ()


def position(name: str, names: Sequence[str]) -> int:
    """Return the position of a column by its name, else by its number from 1; TableError."""
    found = [at for at, each in enumerate(names) if each == name.strip()]
    if len(found) > 1:
        numbers = ", ".join(str(at + 1) for at in found)
        raise TableError(f"the columns {numbers} are all named `{name}`: give a number")
    if found:
        return found[0]
    if name.isascii() and name.isdigit() and 0 < int(name) <= len(names):
        return int(name) - 1
    hint = did_you_mean(name, names)
    raise TableError(
        f"there is no column `{_shortened(name)}`, the columns are {listed(names)}"
        + (f"; {hint}" if hint else "")
    )


def _missing(layout: Layout, names: Sequence[str], rows: Sequence[Record], labelled: bool) -> str:
    many = f"the columns {listed(names)}" if len(names) > 1 else f"one column, {listed(names)}"
    return f"this is a table with {many}: add {_options(layout, names, rows, labelled)}"


def _shortened(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"

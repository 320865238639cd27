"""The columns of a table that become an instance, its classes and its id."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from manyclass.core.errors import did_you_mean
from manyclass.training.tables.label_lists import labels_of
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import (
    Cell,
    Fields,
    Record,
    TableError,
    Unusable,
    is_filled,
    text_of,
)

# As the console's page Import guesses them: tests/console/test_tables.py compares both.
# The lines are English, German, French and Italian.
CLASS_NAMES: Final = re.compile(
    r"(class(es)?|labels?|categor(y|ies)|intents?|topics?|targets?|tags?|y"
    r"|thema|themen|kategorien?|klassen?|rubrik(en)?|schlagw(ort|örter)"
    r"|classe|th[eè]mes?|cat[eé]gories?|[eé]tiquettes?|rubriques?"
    r"|tem[ai]|categori[ae]|etichett[ae]|argoment[io])",
    re.IGNORECASE,
)
TEXT_NAMES: Final = re.compile(
    r"(text|question|sentence|title|body|message|description|content|query|utterance)s?"
    r"|betreff|titel|nachrichten|nachricht|frage|anfrage|inhalt|beschreibung"
    r"|(objet|texte|titre|contenu)s?"
    r"|oggetto|testo|titolo|messaggio|domanda|contenuto|descrizione",
    re.IGNORECASE,
)
_NUMBERED_CLASSES: Final = re.compile(rf"{CLASS_NAMES.pattern}\s?\d+", re.IGNORECASE)  # Label 1
_BEST_CLASS: Final = re.compile("(new_)*class_1")  # of a table that was ranked
_LABEL_ID: Final = re.compile(
    r"(class|label|categor(y|ie)|intent|target|tag)s?[\s_.-]?id", re.IGNORECASE
)
KEY_NAMES: Final = re.compile(  # of columns that name a row; but the id of a label names the label
    rf"(?!(?i:{_LABEL_ID.pattern}$))"
    r"((?i:(.*[\s_.-])?(id|key|nr|index|uuid|guid))|.*[a-z](Id|ID|Key))"
)
_OTHER_NAMES: Final = re.compile(
    "event_?id|source|annotator|absender|exp[eé]diteur|mittente|weight|features?|not|parents"
    "|eingang|eingangsdatum|datum",
    re.IGNORECASE,
)
_NUMBER: Final = r"-?[0-9]*\.?[0-9]+(?:e-?[0-9]+)?"
_VECTOR: Final = re.compile(rf"\[?\s*{_NUMBER}(?:[\s,;]+{_NUMBER}){{7}}", re.IGNORECASE)
MOST_WORDS: Final = 2  # of the name of a key
ANSWER: Final = "answer"  # of an annotator, in files of Prodigy
ANSWERS: Final = ("accept", "reject", "ignore")
ACCEPTED: Final = "accept"  # the choices, in files of Prodigy
ONE_HOT: Final = ("1", "1.0", "true")  # a column is the class of the row
ONE_COLD: Final = ("0", "0.0", "false", "")
LEAST_ONE_HOT: Final = 3  # columns that are proposed as classes
UNKNOWN: Final = "COLUMN"  # in options, a column for the user to choose
MOST_VALUES: Final = 3  # of a column, in a message
MOST_NAMED = 20  # columns in a message
LONGEST_NAME = 40  # letters, in a message


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of columns, from 0. Without classes, rows are only ranked; without a text, they
    have vectors, or label ranked instances.
    """

    text: tuple[int, ...]
    classes: tuple[int, ...]
    id: int | None
    one_hot: tuple[int, ...] = ()  # named as classes
    lists: frozenset[int] = frozenset()  # of the classes, whose cells are lists of labels
    answer: int | None = None  # of an annotator, who may reject the row
    source: int | None = None  # of the person or channel
    ranked_id: int | None = None  # of ranked instances, which rows without a text label
    vector: int | None = None
    plain: tuple[int, ...] = ()  # of the text, the ids and the source: their cells are texts
    said: str = ""  # for a message: the columns that the user did not give, and the lists


def choose(layout: Layout, names: Sequence[str], rows: Sequence[Record], labelled: bool) -> Columns:
    """Return the columns of the layout; those not given are guessed if one alone fits by its name.

    `rows` are some of the first, for the command in the message of the TableError that an unknown
    or a missing column raises. Rows with vectors need no text, if no column may be one.
    """
    id = None if layout.id is None else position(layout.id, names)
    source = None if layout.source is None else position(layout.source, names)
    ranked_id = None if layout.ranked_id is None else position(layout.ranked_id, names)
    vector = None if layout.vector is None else position(layout.vector, names)
    text = _positions("--text-column", layout.text, names)
    classes = _positions("--class-column", layout.classes, names) if labelled else ()
    one_hot = _positions("--one-hot", layout.one_hot, names) if labelled else ()
    taken = {*text, *classes, *one_hot, id, source, ranked_id, vector}
    said: list[str] = []
    if layout.fields:
        _check_fields(text, names)
    if not text and ranked_id is None:
        text = _guessed(TEXT_NAMES, names, taken | {*_no_texts(names, rows)})
        said += [f"the text is in column `{names[at]}`" for at in text]
    if labelled and not classes and not one_hot:
        classes = _guessed(CLASS_NAMES, names, taken | {*_unusable(names, rows)})
        said += [f"the class is in column `{names[at]}`" for at in classes]
    has_instance = text or ranked_id is not None
    if not has_instance and layout.has_vectors:
        others = {*taken, *classes, *_no_texts(names, rows)}
        free = [at for at in range(len(names)) if at not in others]
        has_instance = not _wordy(free, names, rows)
        said += ["no column is the text, the vectors are the whole instances"]
    if not has_instance or (labelled and not classes and not one_hot):
        raise TableError(_missing(layout, names, rows, labelled))
    lists = frozenset(at for at in classes if _has_lists(_column(at, rows)))
    said += [f"column `{names[at]}` has lists of classes" for at in sorted(lists)]
    answer = _answer(names, rows) if labelled else None
    answer = None if answer in {*text, *classes, *one_hot, id, vector} else answer
    plain = (*text, *(at for at in (id, source, ranked_id, vector) if at is not None))
    about = ", ".join(said)
    return Columns(
        text, classes, id, one_hot, lists, answer, source, ranked_id, vector, plain, about
    )


def _wordy(columns: Iterable[int], names: Sequence[str], rows: Sequence[Record]) -> list[int]:
    """Return the columns that have the name of a text, or cells of several words and of no class.

    They are texts, which rows with vectors should not be taught without.
    """
    found = []
    for at in columns:
        cells = [text_of(cell).strip() for cell in _column(at, rows)]
        if TEXT_NAMES.fullmatch(names[at]):
            found += [at] if any(cells) else []
        elif not CLASS_NAMES.fullmatch(names[at]):
            found += [at] if any(" " in cell for cell in cells) else []
    return found


def _positions(flag: str, given: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of columns; TableError for one that is given twice: another is meant."""
    found = tuple(position(each, names) for each in given)
    for at, times in Counter(found).items():
        if times > 1:
            raise TableError(
                f"column `{_shortened(names[at])}` is given twice by {flag}: the columns are"
                f" {listed(names)}"
            )
    return found


def _check_fields(text: Sequence[int], names: Sequence[str]) -> None:
    """Raise TableError unless the columns of a text can be its fields, each by its own name."""
    for name, times in Counter(names[at] for at in text).items():
        if times > 1:
            raise TableError(
                f"two fields of a text cannot be named `{_shortened(name)}`: rename a column"
            )


def _column(at: int, rows: Sequence[Record]) -> list[Cell]:
    return [row.cells[at] if at < len(row.cells) else "" for row in rows if not row.fault]


def _unusable(names: Sequence[str], rows: Sequence[Record]) -> list[int]:
    """Return the columns that hold objects or lists of them, and so no classes."""
    return _holding((Unusable, Fields), names, rows)


def _no_texts(names: Sequence[str], rows: Sequence[Record]) -> list[int]:
    """Return the columns that hold lists, objects of others than texts, or vectors alone."""
    held = _holding((Unusable, list), names, rows)
    return [at for at in range(len(names)) if at in held or _has_vectors(_column(at, rows))]


def _has_vectors(cells: Sequence[Cell]) -> bool:
    filled = [text for cell in cells if (text := text_of(cell).strip())]
    # Whole numbers alone may be the words of a text.
    return bool(filled) and all("." in text and _VECTOR.match(text) for text in filled)


def _holding(kinds: tuple[type, ...], names: Sequence[str], rows: Sequence[Record]) -> list[int]:
    return [
        at for at in range(len(names)) if any(isinstance(cell, kinds) for cell in _column(at, rows))
    ]


def _has_lists(cells: Sequence[Cell]) -> bool:
    """Return whether each cell that is a text and not blank is a list of labels."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    return bool(texts) and all(labels_of(cell) is not None for cell in texts)


def _answer(names: Sequence[str], rows: Sequence[Record]) -> int | None:
    """Return the column of the answers of an annotator, as Prodigy writes them."""
    found = [at for at, name in enumerate(names) if name == ANSWER]
    if len(found) != 1:
        return None
    answers = {text_of(cell).strip() for cell in _column(found[0], rows)} - {""}
    return found[0] if answers and answers <= {*ANSWERS} else None


def _one_hot(columns: Sequence[int], rows: Sequence[Record]) -> list[int]:
    """Return the columns of 0 and 1, if they are enough to be classes."""
    found = [
        at
        for at in columns
        if all(_is_binary(cell) for cell in _column(at, rows))
        and any(text_of(cell).strip() for cell in _column(at, rows))
    ]
    return found if len(found) >= LEAST_ONE_HOT else []


def _is_binary(cell: Cell) -> bool:
    return isinstance(cell, str) and cell.strip().lower() in (*ONE_HOT, *ONE_COLD)


def is_known_name(name: str) -> bool:
    """Return whether a name is one that columns have, and no sentence."""
    patterns = (CLASS_NAMES, TEXT_NAMES, _OTHER_NAMES)
    return any(each.fullmatch(name) for each in patterns) or (
        KEY_NAMES.fullmatch(name) is not None and len(name.split()) <= MOST_WORDS
    )


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
    """Return the options that name the columns: the class by a known name only, the text else by
    the length of its cells."""
    return _options(Layout(), names, rows, labelled)


def _options(layout: Layout, names: Sequence[str], rows: Sequence[Record], labelled: bool) -> str:
    """Return the options to add to those of the layout.

    Columns of objects are in those of texts only if they hold fields, and then by themselves. Lists
    are in none of texts. Ids, keys and blank columns are in none, nor are answers of Prodigy and
    what it writes for itself.
    """
    given = [*layout.text, *layout.classes, *layout.one_hot]
    taken = {position(each, names) for each in given}
    one = (layout.id, layout.source, layout.ranked_id, layout.vector)
    taken |= {position(each, names) for each in one if each is not None}
    needs_text = not layout.text and layout.ranked_id is None
    unusable, no_texts = _unusable(names, rows), _no_texts(names, rows)
    answer = _answer(names, rows)
    taken |= {at for at, name in enumerate(names) if KEY_NAMES.fullmatch(name)}
    blank = [at for at in range(len(names)) if rows and not is_filled(_column(at, rows))]
    if answer is not None:
        taken |= {answer, *(at for at, name in enumerate(names) if name.startswith("_"))}

    def letters(at: int) -> int:
        return sum(len(text_of(cell)) for cell in _column(at, rows))

    def of(pattern: re.Pattern[str]) -> list[int]:
        return [at for at, name in enumerate(names) if at not in taken and pattern.fullmatch(name)]

    classes = [at for at in of(CLASS_NAMES) if at not in unusable]
    if answer is not None and not classes and ACCEPTED in names:
        classes = [names.index(ACCEPTED)]
    numbered = [] if classes else of(_NUMBERED_CLASSES)
    classes = classes or numbered or of(_BEST_CLASS)[-1:] or of(_LABEL_ID)[:1]
    texts = [at for at in of(TEXT_NAMES) if needs_text and at not in (*no_texts, *blank)]
    texts = [at for at in texts if at in unusable][:1] or texts  # fields are a whole text
    free = [at for at in range(len(names)) if at not in {*taken, *blank, *classes, *texts}]
    one_hot = [] if classes else _one_hot(free, rows)
    free = [at for at in free if at not in one_hot]
    possible = [at for at in free if at not in (*no_texts, *unusable)]
    needs_class = labelled and not (classes or one_hot or layout.classes or layout.one_hot)
    if len(possible) <= needs_class:
        possible = [at for at in free if at not in no_texts]
    if layout.has_vectors:
        possible = _wordy(possible, names, rows)
    if not texts and needs_text and possible:
        texts = [max(possible, key=letters)]
        free.remove(texts[0])
    options = [f"--text-column {as_option(at, names)}" for at in texts]
    if not texts and needs_text and not layout.has_vectors:
        options.append(f"--text-column {UNKNOWN}")
    if labelled and not layout.classes and not layout.one_hot:
        best = numbered or classes[:1]
        kind, columns = ("one-hot", one_hot) if one_hot else ("class-column", best)
        options += [f"--{kind} {as_option(at, names)}" for at in columns]
        if not columns:
            options.append(f"--class-column {UNKNOWN}")
    hidden = [names[at] for at in unusable if labelled and CLASS_NAMES.fullmatch(names[at])]
    said = (
        f" (column {listed(hidden)} holds objects: write the classes as a list)" if hidden else ""
    )
    if len(texts) > 1 and not layout.fields:
        said += f", and --fields to keep {_joined([_shortened(names[at]) for at in texts])} apart"
    return " ".join(options) + said


def _joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def as_option(at: int, names: Sequence[str]) -> str:
    """Return a column as an option names it: by its number, if another one has its name."""
    return str(at + 1) if names.count(names[at]) > 1 else shlex.quote(names[at])


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
        raise TableError(
            f"the columns {numbers} are all named `{name}`: rename one, or give a number"
        )
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
    options = _options(layout, names, rows, labelled)
    chosen = f"; {UNKNOWN} is one of {_valued(names, rows)}" if f" {UNKNOWN}" in options else ""
    return f"this is a table with {many}: add {options}{chosen}"


def _valued(names: Sequence[str], rows: Sequence[Record]) -> str:
    """Return the columns that have values, with the first ones of each."""
    columns = []
    for at, name in enumerate(names[:MOST_NAMED]):
        texts = (_shortened(text_of(cell)) for cell in _column(at, rows))
        values = list(dict.fromkeys(filter(None, texts)))[:MOST_VALUES]
        if values:
            columns.append(f"{_shortened(name)} ({', '.join(values)})")
    return ", ".join(columns) or listed(names)


def _shortened(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"

"""FF on Jane Austen's words, under each rule for words and for the ends of sentences.

The paper states neither rule. The rules in use (letters and digits, with ends) were chosen by these
very results, which are therefore no independent confirmation of the paper's.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from manyclass.core.words import WORD
from manyclass.evaluation import readers
from manyclass.evaluation.datasets import Dataset
from studies.declaration import Pivot, Record, Study, trials
from studies.held_out import held_out
from studies.paper import focused

HYPHENATED: Final = re.compile(r"[^\W_]+(?:['\u2019\-]+[^\W_]+)*")
RULES: Final = {
    "letters and digits, with ends": (WORD, True),
    "letters and digits": (WORD, False),
    "apostrophes and hyphens inside a word too, with ends": (HYPHENATED, True),
    "apostrophes and hyphens inside a word too": (HYPHENATED, False),
}


def read(name: str, folder: Path) -> Dataset:
    """Return the words of the novels under a rule."""
    word, ends = RULES[name]
    return Dataset(name, readers.words_of(readers.novels(folder), word, ends), share=0.9)


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield accuracy after each pass, with the classes and active features of the rule."""
    sizes = {"classes": len(data.rows.classes), "active": len(data.rows.indices) / len(data.rows)}
    for record in held_out(data, name, passes, seed):
        yield record | sizes


STUDY: Final = Study(
    "Rules for words and for the ends of sentences",
    trials(RULES, [focused("0")], splits=3),
    measured,
    [Pivot("Words by rule", ["R1", "R5", "classes", "active"], "dataset", each="", digits=4)],
    read=read,
)

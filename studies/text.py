"""The analyses of texts: what words, pairs, characters and other parts gain, and their price.

`text-choice` compares them on a held-out tenth of the training rows, another tenth in each split,
to choose the analysis of new stores; `text` shows them on the published test rows.

No data set here is of a script without spaces. `clinc-ideographs` stands in for one: each word of
clinc becomes one to three of 1,000 ideographs by its checksum, and the words are joined. It shows
that an analysis finds such words again, not how well it fits a language.
"""

import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from manyclass.core.text import TextAnalysis
from manyclass.evaluation import readers
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.readers import feature_values
from studies.declaration import Pivot, Record, Study, Trial
from studies.held_out import held_out
from studies.samples import affordable, training_only

FILES: Final = {
    "clinc": "clinc150",
    "clinc-ideographs": "clinc150",
    "banking": "banking77",
    "cpv": "cpv_it",
    "newsgroups": "newsgroups",
}
ANALYSES: Final = (
    "words",
    "words+pairs",
    "words+characters",
    "words+pairs+characters",
    "words+pairs+unmarked",
    "words+pairs+symbols",
    "words+pairs+characters+unmarked+symbols",
)
LEARNERS: Final = ("svm", "svm(budget=16,max_outdegree=300)")
SPLITS: Final = {"newsgroups": 1}  # its texts are long
IDEOGRAPHS: Final = 1000

Texts = tuple[tuple[str, str, tuple[str, ...]], ...]  # published split, text, classes


def ideographs(text: str) -> str:
    """Return a text of ideographs without spaces, one to three for each word."""
    written = []
    for word in text.lower().split():
        number = zlib.crc32(word.encode())
        for _ in range(1 + number % 3):
            number, place = divmod(number, IDEOGRAPHS)
            written.append(chr(0x4E00 + place))
    return "".join(written)


@lru_cache(1)
def texts_of(name: str, data: Path) -> Texts:
    """Return the texts of a data set."""
    change = {"clinc-ideographs": ideographs, "newsgroups": readers.without_headers}.get(name, str)
    return tuple(
        (row["split"], change(row["text"]), tuple(dict.fromkeys(row["classes"])))
        for row in readers.json_lines(data / f"{FILES[name]}.jsonl.gz")
    )


def read(name: str, data: Path) -> Dataset:
    """Return the data set of a name as `clinc words+pairs`."""
    of, _, parts = name.partition(" ")
    analysis = TextAnalysis.parse(parts)
    rows = (
        (split, feature_values(text, analysis), [*classes])
        for split, text, classes in texts_of(of, data)
    )
    return Dataset.of_parts(name, rows)


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the accuracy and cost of a learner, and the number of features it has learned."""
    training, _ = data.split(seed)
    counts = {
        "features": len(np.unique(training.indices)),
        "features a text": len(training.indices) / len(training),
    }
    for each in held_out(data, name, passes, seed):
        yield {**each, **counts}


TRIALS: Final = [
    Trial(f"{name} {text}", learner, SPLITS.get(name, 3), tags={"set": name, "text": text})
    for name in FILES
    for text in ANALYSES
    for learner in LEARNERS
]
TABLES: Final = [
    Pivot(measure, [measure], rows="text", across="set", each="estimator", digits=digits)
    for measure, digits in (
        ("R1", 4),
        ("R5", 4),
        ("features", 0),
        ("features a text", 0),
        ("bytes", 0),
        ("T_train s", 2),
        ("ranks/s", 0),
        ("d", 0),
    )
]
CHOICE: Final = Study(
    "The analysis of texts, chosen on held-out training rows",
    TRIALS,
    measured,
    TABLES,
    prepare=training_only,
    read=read,
)
STUDY: Final = Study(
    "The analyses of texts on test rows", TRIALS, measured, TABLES, prepare=affordable, read=read
)

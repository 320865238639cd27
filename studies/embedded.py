"""Texts with vectors: sets whose rows have an embedding beside their words.

The vectors of clinc and banking were made by two models: `minilm` (all-MiniLM-L6-v2, 384 numbers)
and `static64` (a table of 64 numbers a word piece). Those of reuters are not embeddings: they are
tf-idf values of words, projected to 64 numbers at random. The title of a class is its name in
words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT
from manyclass.evaluation import readers
from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]

FILES: Final = {"clinc": "clinc150", "banking": "banking77"}
UNIT: Final = 4096  # the files have int16 numbers, in units of 2^-12
USED: Final = ("train", "test")
OUT_OF_SCOPE: Final = "oos_test"
OF_OOS_FILE: Final = ("oos_", "val")  # the splits with vectors in a file of their own
PROJECTED: Final = "projected words"
LEAST_ROWS: Final = 5
NUMBERS: Final = 64  # of a projected vector


@dataclass(frozen=True)
class Embedded(Dataset):
    """A data set of texts; `rows` holds their words only.

    `vectors` has a matrix by model, of the rows in their order; `of_titles` those of the classes
    by name; `outside` has instances of no class, with the vectors `of_outside`.
    """

    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    of_titles: Mapping[str, Mapping[str, Matrix]] = field(default_factory=dict)
    outside: Sequence[Instance] = ()
    of_outside: Mapping[str, Matrix] = field(default_factory=dict)

    def instances(self, rows: Positions, model: str, words: bool) -> list[Instance]:
        """Return the instances of these rows, with the vectors of a model, if any."""
        found = self.rows.take(rows)
        only = [Instance(features if words else {}) for features, _ in found]
        return with_vectors(only, self.vectors[model][rows] if model else None)

    def outsiders(self, model: str, words: bool) -> list[Instance]:
        """Return the instances of no class."""
        only = [each if words else Instance({}) for each in self.outside]
        return with_vectors(only, self.of_outside[model] if model else None)


def with_vectors(instances: Sequence[Instance], vectors: Matrix | None) -> list[Instance]:
    """Return the instances, each with its row of the matrix."""
    if vectors is None:
        return [*instances]
    pairs = zip(instances, vectors, strict=True)
    return [each.with_vector(vector) for each, vector in pairs]


def read(name: str, data: Path) -> Embedded:
    """Return clinc, banking or reuters; DataMissing if a file is not in the folder."""
    return _projected(data) if name == "reuters" else _of_files(name, data)


def held_out(data: Embedded, share: float = 1 / 3) -> Embedded:
    """Return the training rows alone, of which the last share, at random, is for testing."""
    order = np.random.default_rng(20).permutation(data.published or 0)
    return replace(
        data,
        rows=data.rows.take(order),
        published=round(len(order) * (1 - share)),
        vectors={model: matrix[order] for model, matrix in data.vectors.items()},
    )


def _of_files(name: str, data: Path) -> Embedded:
    file = FILES[name]
    texts = [*readers.json_lines(data / f"{file}.jsonl.gz")]
    words = [DEFAULT_TEXT.features_of(row["text"]) for row in texts]
    parts = [row["split"] for row in texts]
    outside = [part.startswith(OF_OOS_FILE) for part in parts]
    classes = [row["classes"] for row in texts]
    made = Dataset.of_parts(name, zip(parts, words, classes, strict=True))
    # a Dataset has the training rows first
    order = np.argsort([part == "test" for part in parts if part in USED], kind="stable")
    folder = data / "vectors"
    minilm = _matrix(folder / f"{file}.minilm.npz", len(order))
    static = _matrix(
        folder / f"{file}.static64.npz", sum(not part.startswith("oos_") for part in parts)
    )
    kept = [part in USED for part in parts if not part.startswith("oos_")]
    of_outside, outsiders = dict[str, Matrix](), list[Instance]()
    if any(part == OUT_OF_SCOPE for part in parts):
        among = [part == OUT_OF_SCOPE for part in parts if part.startswith(OF_OOS_FILE)]
        of_outside["minilm"] = _matrix(folder / f"{file}.oos.minilm.npz", sum(outside))[among]
        outsiders = [
            Instance(features)
            for part, features in zip(parts, words, strict=True)
            if part == OUT_OF_SCOPE
        ]
    with np.load(readers.existing(folder / f"{file}.names.minilm.npz")) as found:
        numbers = found["vectors"] / np.float32(UNIT)
        of_titles = dict(zip(found["names"].tolist(), numbers, strict=True))
    return Embedded(
        name,
        made.rows,
        made.published,
        vectors={"minilm": minilm[order], "static64": static[kept][order]},
        titles={each: each.replace("_", " ").lower() for each in made.rows.classes},
        of_titles={"minilm": of_titles},
        outside=outsiders,
        of_outside=of_outside,
    )


def _matrix(path: Path, rows: int) -> Matrix:
    with np.load(readers.existing(path)) as found:
        matrix: Matrix = found["vectors"] / np.float32(UNIT)
    if len(matrix) != rows:
        raise ValueError(f"{path} has vectors of {len(matrix)} rows, and there are {rows}")
    return matrix


def _projected(data: Path) -> Embedded:
    """Return reuters with projected words; the features are those of the service."""
    parts = (
        (row["split"], DEFAULT_TEXT.features_of(row["text"]), [*dict.fromkeys(row["classes"])])
        for row in readers.json_lines(data / "reuters21578.jsonl.gz")
    )
    made = Dataset.of_parts("reuters", parts)
    return Embedded(
        made.name, made.rows, made.published, vectors={PROJECTED: projected(made.rows, NUMBERS)}
    )


def projected(rows: Rows, numbers: int) -> Matrix:
    """Return the tf-idf values of the words of each row, projected to so many numbers at random.

    Words of less than LEAST_ROWS rows are left out, as are pairs and runs of characters.
    """
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    frequency = np.bincount(rows.indices, minlength=len(rows.features))
    is_word = np.array([name.isalpha() for name in rows.features])
    weights = np.log((1 + len(rows)) / (1 + frequency)) * (is_word & (frequency >= LEAST_ROWS))
    values = (1 + np.log(np.maximum(rows.values, 1))) * weights[rows.indices]
    directions = np.random.default_rng(64).normal(size=(len(rows.features), numbers))
    made = np.zeros((len(rows), numbers), np.float32)
    for at in range(numbers):
        made[:, at] = np.bincount(row, values * directions[rows.indices, at], len(rows))
    return made + np.float32(1e-6)  # no vector of zeros

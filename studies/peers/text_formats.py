"""Rows as text files of other programs, all from the same vectors.

Columns name features and classes: no program tokenises anything.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from manyclass.training.rows import Rows
from studies.peers.vectors import Vectors


def pairs(vectors: Vectors) -> Iterator[str]:
    """Yield each row as `column:value column:value ...`, values with six digits."""
    for at in range(len(vectors)):
        columns, values = vectors.row(at)
        yield " ".join(map("%d:%.6g".__mod__, zip(columns.tolist(), values.tolist(), strict=True)))


def tokens(vectors: Vectors) -> Iterator[str]:
    """Yield each row as a bag of names `fCOLUMN`, repeated by their rounded values, at least once.

    Values of 0 or less have no token.
    """
    for at in range(len(vectors)):
        columns, values = vectors.row(at)
        present = values > 0
        times = np.maximum(np.rint(values[present]), 1).astype(np.int64)
        yield " ".join(map("f%d".__mod__, np.repeat(columns[present], times).tolist()))


def write_one_class_each(path: Path, rows: Rows) -> None:
    """Write Vowpal Wabbit's multiclass format: a line for each true class of a row, from 1."""
    with path.open("w") as file:
        for classes, text in zip(rows.true_columns(), pairs(Vectors.of(rows)), strict=True):
            file.writelines(f"{each + 1} | {text}\n" for each in classes.tolist())


def write_all_classes(path: Path, rows: Rows) -> None:
    """Write Vowpal Wabbit's multilabel format: the true classes of a row by commas, from 0."""
    with path.open("w") as file:
        for classes, text in zip(rows.true_columns(), pairs(Vectors.of(rows)), strict=True):
            file.write(f"{','.join(map(str, classes.tolist()))} | {text}\n")


def write_labelled_tokens(path: Path, rows: Rows) -> None:
    """Write fastText's format: `__label__COLUMN` for each true class, then the tokens."""
    with path.open("w") as file:
        for classes, text in zip(rows.true_columns(), tokens(Vectors.unscaled(rows)), strict=True):
            labels = "".join(map("__label__%d ".__mod__, classes.tolist()))
            file.write(f"{labels}{text}\n")


def write_xmc(path: Path, rows: Rows) -> None:
    """Write the XMC format: a header of sizes, then `class,class feature:value ...`."""
    with path.open("w") as file:
        file.write(f"{len(rows)} {len(rows.features)} {len(rows.classes)}\n")
        for classes, text in zip(rows.true_columns(), pairs(Vectors.of(rows)), strict=True):
            file.write(f"{','.join(map(str, classes.tolist()))} {text}\n")

"""The data sets of the benchmarks as rows, without their splits."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from manyclass.evaluation.readers import jane_austen, json_lines, newsgroups, word_and_pair_counts
from manyclass.training.rows import Rows


def clinc(data: Path) -> Rows:
    """Return CLINC150: short requests and their intents."""
    return labelled_texts(data / "clinc150.jsonl.gz")


def banking(data: Path) -> Rows:
    """Return BANKING77: short requests to a bank and their intents."""
    return labelled_texts(data / "banking77.jsonl.gz")


def cpv(data: Path) -> Rows:
    """Return Italian tenders and their procurement codes."""
    return labelled_texts(data / "cpv_it.jsonl.gz")


def labelled_texts(path: Path) -> Rows:
    """Return short texts with the features of the service, without out-of-scope ones."""
    return Rows.of(
        (word_and_pair_counts(row["text"]), row["classes"])
        for row in json_lines(path)
        if not row["split"].startswith("oos")
    )


SETS: Final[dict[str, Callable[[Path], Rows]]] = {
    "words": jane_austen,
    "newsgroups": newsgroups,
    "clinc": clinc,
    "banking": banking,
    "cpv": cpv,
}

"""The data sets of the benchmarks as rows: all that each has, whatever split it is in."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from manyclass.evaluation.readers import jane_austen, json_lines, newsgroups, word_and_pair_counts
from manyclass.training.rows import Rows


def clinc(data: Path) -> Rows:
    """CLINC150: short requests and their intents."""
    return labelled_texts(data / "clinc150.jsonl.gz")


def banking(data: Path) -> Rows:
    """BANKING77: short requests to a bank and their intents."""
    return labelled_texts(data / "banking77.jsonl.gz")


def cpv(data: Path) -> Rows:
    """Italian tenders and their procurement codes."""
    return labelled_texts(data / "cpv_it.jsonl.gz")


def labelled_texts(path: Path) -> Rows:
    """Short texts with the features the service makes of a text, out-of-scope ones left out."""
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

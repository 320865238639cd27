"""Readers of the public data sets, as rows ready to learn from.

The sets are not part of the repository. They are looked for in `../shared/data` beside the
checkout, or where the environment's BENCHMARK_DATA or a command's --data says.
"""

import gzip
import json
import os
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Rows
from core.text import features_of
from service.demo.words import WORD, instances, sentences

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
TOKEN = re.compile(r"[a-z]{2,}")


class DataMissing(SystemExit):
    """A data set is not where it was looked for: the command ends and says which and where."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"missing: {path}\n"
            "Say where the data sets are with --data FOLDER or BENCHMARK_DATA=FOLDER."
        )


def add_data_option(parser: ArgumentParser) -> None:
    default = Path(os.environ.get("BENCHMARK_DATA", BESIDE_THE_CHECKOUT))
    parser.add_argument("--data", type=Path, default=default, help="folder of the data sets")


# --- Jane Austen: which word stands here? -----------------------------------------------------


def jane_austen(data: Path) -> Rows:
    """Every word of the six novels, with 15 features each but for those seen once in all."""
    return words_of(novels(data))


def novels(data: Path) -> list[str]:
    """The texts of Jane Austen's six novels."""
    books = sorted((data / "jane_austen").glob("*.txt.gz"))
    if not books:
        raise DataMissing(data / "jane_austen" / "*.txt.gz")
    return [gzip.decompress(book.read_bytes()).decode() for book in books]


def words_of(texts: Sequence[str], word: re.Pattern[str] = WORD, ends: bool = True) -> Rows:
    """A row for each word. Without `ends`, no feature tells where a sentence begins or ends."""
    return Rows.of(
        ([name for name in around if ends or "." not in name.split()], [true])
        for text in texts
        for sentence in sentences(text, word)
        for around, true in instances(sentence)
    ).without_singletons()


# --- texts --------------------------------------------------------------------------------------


def newsgroups(data: Path) -> Rows:
    """20 Newsgroups, both splits: words and how often each stands in subject and body."""
    return Rows.of((word_counts(post), classes) for post, classes in posts(data))


def posts(data: Path) -> Iterator[tuple[str, list[str]]]:
    """The posts of 20 Newsgroups, without headers, and their group."""
    for row in json_lines(data / "newsgroups.jsonl.gz"):
        yield without_headers(row["text"]), row["classes"]


def without_headers(post: str) -> str:
    """A post's subject and body."""
    head, _, body = post.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    return f"{subject[1] if subject else ''}\n{body}"


def word_counts(text: str) -> dict[str, int]:
    return Counter(TOKEN.findall(text.lower()))


def clinc(data: Path) -> Rows:
    return labelled_texts(data / "clinc150.jsonl.gz")


def banking(data: Path) -> Rows:
    return labelled_texts(data / "banking77.jsonl.gz")


def cpv(data: Path) -> Rows:
    return labelled_texts(data / "cpv_it.jsonl.gz")


def labelled_texts(path: Path) -> Rows:
    """Short texts with the features the service makes of a text, out-of-scope ones left out."""
    return Rows.of(
        (Counter(features_of(row["text"])), row["classes"])
        for row in json_lines(path)
        if not row["split"].startswith("oos")
    )


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        raise DataMissing(path)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


SETS = {
    "words": jane_austen,
    "newsgroups": newsgroups,
    "clinc": clinc,
    "banking": banking,
    "cpv": cpv,
}

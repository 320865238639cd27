"""Readers of the public data sets, as labelled instances or rows.

The sets are not part of the repository. They are looked for in `../shared/data` beside the
checkout, or where the environment's BENCHMARK_DATA or a command's --data says.
"""

import gzip
import json
import os
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from manyclass.core.text import features_of
from manyclass.core.words import WORD, instances, sentences
from manyclass.training.formats import xmc as xmc_format
from manyclass.training.formats.given import Given
from manyclass.training.lines import Source
from manyclass.training.rows import Rows

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
TOKEN = re.compile(r"[a-z]{2,}")

Labelled = tuple[Mapping[str, float], list[str]]


class DataMissing(SystemExit):
    """A data set is not where it was looked for: the command ends and says which and where."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"missing: {path}\n"
            "Say where the data sets are with --data FOLDER or BENCHMARK_DATA=FOLDER."
        )


def data_folder() -> Path:
    """Where the data sets are looked for when nothing else is said."""
    return Path(os.environ.get("BENCHMARK_DATA", BESIDE_THE_CHECKOUT))


def add_data_option(parser: ArgumentParser) -> None:
    """--data FOLDER, for a command that reads data sets."""
    parser.add_argument("--data", type=Path, default=data_folder(), help="folder of the data sets")


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
    """How often each run of two or more letters a to z stands in a text, in lower case."""
    return Counter(TOKEN.findall(text.lower()))


def word_and_pair_counts(text: str) -> dict[str, int]:
    """The features the service makes of a text, and how often each is there."""
    return Counter(features_of(text))


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped file with one in each line."""
    if not path.exists():
        raise DataMissing(path)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def json_object(path: Path) -> dict[str, Any]:
    """The one object of a file."""
    if not path.exists():
        raise DataMissing(path)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# --- numbers --------------------------------------------------------------------------------------


def satimage(path: Path) -> Iterator[Labelled]:
    """Statlog's satellite image: 36 numbers of 0 to 255 and, last, the class."""
    if not path.exists():
        raise DataMissing(path)
    with path.open(encoding="ascii") as lines:
        for line in lines:
            *numbers, true = line.split()
            yield {f"band {at}": float(each) for at, each in enumerate(numbers)}, [true]


def xmc(path: Path) -> Iterator[Labelled]:
    """The instances of a file of the XMC repository that have a class."""
    if not path.exists():
        raise DataMissing(path)
    for each in xmc_format.read(Source(str(path))):
        if isinstance(each, Given) and isinstance(each.features, Mapping):
            yield each.features, [str(name) for name in each.classes]


def of_largest_classes(labelled: Iterable[Labelled], most: int) -> Iterator[Labelled]:
    """The instances of the `most` largest classes (ties by name), without their other classes."""
    rows = list(labelled)
    sizes = Counter(name for _, classes in rows for name in classes)
    largest = {*sorted(sizes, key=lambda name: (-sizes[name], name))[:most]}
    for instance, classes in rows:
        if kept := [name for name in classes if name in largest]:
            yield instance, kept

"""Readers of the public data sets, as labelled instances or rows.

The data sets are not part of the repository. Their folder is `../shared/data` beside the checkout,
or the environment's BENCHMARK_DATA, or a command's --data.
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

from manyclass.core.text import TextAnalysis
from manyclass.core.words import WORD, instances, sentences
from manyclass.training.formats import xmc as xmc_format
from manyclass.training.formats.given import Given
from manyclass.training.lines import Source
from manyclass.training.rows import Rows

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
TOKEN = re.compile(r"[a-z]{2,}")

Labelled = tuple[Mapping[str, float], list[str]]


class DataMissing(SystemExit):
    """A data set is missing; the command ends with the missing file and the option to set."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"missing: {path}\n"
            "Say where the data sets are with --data FOLDER or BENCHMARK_DATA=FOLDER."
        )


def data_folder() -> Path:
    """Return the default folder of the data sets."""
    return Path(os.environ.get("BENCHMARK_DATA", BESIDE_THE_CHECKOUT))


def add_data_option(parser: ArgumentParser) -> None:
    """Add --data FOLDER to a command that reads data sets."""
    parser.add_argument("--data", type=Path, default=data_folder(), help="folder of the data sets")


def existing(path: Path) -> Path:
    """Return the path if the file exists; DataMissing otherwise."""
    if not path.exists():
        raise DataMissing(path)
    return path


# --- Jane Austen: predict a word by its neighbours ------------------------------------------------


def jane_austen(data: Path) -> Rows:
    """Return the words of the six novels, with 15 features each, without features seen once."""
    return words_of(novels(data))


def novels(data: Path) -> list[str]:
    """Return the texts of Jane Austen's six novels."""
    books = sorted((data / "jane_austen").glob("*.txt.gz"))
    if not books:
        raise DataMissing(data / "jane_austen" / "*.txt.gz")
    return [gzip.decompress(book.read_bytes()).decode() for book in books]


def words_of(texts: Sequence[str], word: re.Pattern[str] = WORD, ends: bool = True) -> Rows:
    """Return a row for each word. Without `ends`, no feature marks the ends of a sentence."""
    return Rows.of(
        ([name for name in around if ends or "." not in name.split()], [true])
        for text in texts
        for sentence in sentences(text, word)
        for around, true in instances(sentence)
    ).without_singletons()


# --- texts --------------------------------------------------------------------------------------


def newsgroups(data: Path) -> Rows:
    """Return 20 Newsgroups, both splits: word counts of subject and body."""
    return Rows.of((word_counts(post), classes) for post, classes in posts(data))


def posts(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (subject and body, groups) of each post of 20 Newsgroups."""
    for row in json_lines(data / "newsgroups.jsonl.gz"):
        yield without_headers(row["text"]), row["classes"]


def without_headers(post: str) -> str:
    """Return a post's subject and body."""
    head, _, body = post.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    return f"{subject[1] if subject else ''}\n{body}"


def word_counts(text: str) -> dict[str, int]:
    """Return the count of each lower-cased run of two or more letters a to z."""
    return Counter(TOKEN.findall(text.lower()))


def feature_values(text: str, analysis: TextAnalysis) -> Mapping[str, float]:
    """Return the features of a text by an analysis of the service: name -> value."""
    return analysis.features_of(text)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a gzipped file of JSON lines."""
    with gzip.open(existing(path), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file."""
    found: dict[str, Any] = json.loads(existing(path).read_text(encoding="utf-8"))
    return found


# --- numbers --------------------------------------------------------------------------------------


def satimage(path: Path) -> Iterator[Labelled]:
    """Yield rows of Statlog's satellite image: 36 numbers of 0 to 255, then the class."""
    with existing(path).open(encoding="ascii") as lines:
        for line in lines:
            *numbers, true = line.split()
            yield {f"band {at}": float(each) for at, each in enumerate(numbers)}, [true]


def xmc(path: Path) -> Iterator[Labelled]:
    """Yield the labelled instances of a file of the XMC repository."""
    for each in xmc_format.read(Source(str(existing(path)))):
        if isinstance(each, Given) and isinstance(each.features, Mapping):
            yield each.features, [str(name) for name in each.classes]


def of_largest_classes(labelled: Iterable[Labelled], most: int) -> Iterator[Labelled]:
    """Yield the instances of the `most` largest classes (ties by name), with these classes only."""
    rows = list(labelled)
    sizes = Counter(name for _, classes in rows for name in classes)
    largest = {*sorted(sizes, key=lambda name: (-sizes[name], name))[:most]}
    for instance, classes in rows:
        if kept := [name for name in classes if name in largest]:
            yield instance, kept

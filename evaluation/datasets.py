"""The public data sets by name, each with its split into training and test rows."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.text import TextAnalysis
from manyclass.evaluation import readers
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.lines import FileFault
from manyclass.training.rows import Ids, Rows

Part = tuple[str, Mapping[str, float], list[str]]  # published split, instance, classes

TRAINING: Final = ("train",)
TESTING: Final = ("test",)
WORDS_AND_PAIRS: Final = TextAnalysis(pairs=True)  # of the results in docs/


class UnknownDataset(LookupError):
    """No data set has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no data set is called {name!r}; there are {', '.join(DATASETS)}")
        self.name = name


class SplitError(ValueError):
    """A data set has no training rows or no test rows."""

    def __init__(self, name: str, training: int, test: int) -> None:
        super().__init__(
            f"{name}: {training} rows to train on and {test} to test on; there must be some of both"
        )


@dataclass(frozen=True)
class Dataset:
    """Labelled rows with one or more true classes each, and their split.

    With a published split, the first `published` rows are for training; else a random `share` of
    all rows.
    """

    name: str
    rows: Rows
    published: int | None = None
    share: float = 0.9
    taxonomy: Taxonomy | None = None

    def split(self, seed: int, shuffle: bool = True) -> tuple[Rows, Rows]:
        """Return (training rows, test rows); the seed shuffles the training rows.

        Without `shuffle` the order is that of the source, and a share is its first rows. Raise
        SplitError if either part is empty.
        """
        if self.published is None:
            training, test = self.stream(seed, shuffle).split(self.share)
        else:
            training = self.rows.take(np.arange(self.published))
            training = training.shuffled(seed) if shuffle else training
            test = self.rows.take(np.arange(self.published, len(self.rows)))
        if not len(training) or not len(test):
            raise SplitError(self.name, len(training), len(test))
        return training, test

    def stream(self, seed: int, shuffle: bool = True) -> Rows:
        """Return all rows as one stream, shuffled by the seed or in the order of the source."""
        return self.rows.shuffled(seed) if shuffle else self.rows

    @classmethod
    def of_parts(cls, name: str, parts: Iterable[Part], taxonomy: Taxonomy | None = None) -> Self:
        """Return a data set with a published split, without unlabelled rows and other splits."""
        training, test = list[readers.Labelled](), list[readers.Labelled]()
        for part, instance, classes in parts:
            if classes and part in TRAINING:
                training.append((instance, classes))
            elif classes and part in TESTING:
                test.append((instance, classes))
        return cls(name, Rows.of(chain(training, test)), published=len(training), taxonomy=taxonomy)

    @classmethod
    def of_rows(
        cls, name: str, training: Rows, test: Rows, taxonomy: Taxonomy | None = None
    ) -> Self:
        """Return a data set of training and test rows, whose columns are merged."""
        rows = joined(training, test)
        return cls(name, rows, published=len(training), taxonomy=taxonomy)


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both; columns found only in the second come last."""
    features, feature_columns = _merged(first.features, second.features)
    classes, class_columns = _merged(first.classes, second.classes)
    return Rows(
        features,
        np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]]),
        np.concatenate([first.indices, feature_columns[second.indices]]),
        np.concatenate([first.values, second.values]),
        classes,
        np.concatenate([first.class_indptr, second.class_indptr[1:] + first.class_indptr[-1]]),
        np.concatenate([first.class_indices, class_columns[second.class_indices]]),
    )


def _merged(first: list[str], second: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the names of both lists, and the new column of each name of the second."""
    column_of = Ids({name: column for column, name in enumerate(first)})
    columns = np.array([column_of[name] for name in second], np.int32)
    return list(column_of), columns


def read(name: str, data: Path, analysis: TextAnalysis = WORDS_AND_PAIRS) -> Dataset:
    """Return the data set of this name; `analysis` applies to the sets in BY_ANALYSIS.

    Raise UnknownDataset; DataMissing if its files are not in the folder; FileFault if they cannot
    be read or are incomplete, as after an interrupted download.
    """
    if name not in DATASETS:
        raise UnknownDataset(name)
    try:
        if name in BY_ANALYSIS:
            return BY_ANALYSIS[name](data, analysis)
        return DATASETS[name](data)
    except (OSError, EOFError, zlib.error, ValueError, LookupError) as error:
        reason = str(error) or type(error).__name__
        raise FileFault(name, f"its files in {data} are damaged: {reason}") from error


def _texts(path: Path, features: Callable[[str], Mapping[str, float]]) -> Iterator[Part]:
    for row in readers.json_lines(path):
        yield row["split"], features(row["text"]), list(dict.fromkeys(row["classes"]))


def _analysed(path: Path, analysis: TextAnalysis) -> Iterator[Part]:
    return _texts(path, partial(readers.feature_values, analysis=analysis))


# --- the papers' own sets -------------------------------------------------------------------------


def newsgroups(data: Path) -> Dataset:
    """Return 20 Newsgroups, split 80/20 at random as in the paper; words of 2 or more letters."""
    return Dataset("newsgroups", readers.newsgroups(data), share=0.8)


def newsgroups_by_date(data: Path) -> Dataset:
    """Return 20 Newsgroups by date, as published: later posts are for testing; Subject and body."""

    def post(text: str) -> dict[str, int]:
        return readers.word_counts(readers.without_headers(text))

    return Dataset.of_parts("newsgroups-bydate", _texts(data / "newsgroups.jsonl.gz", post))


def reuters10(data: Path) -> Dataset:
    """Return Reuters-21578, 10 largest topics, 90/10 at random; the first topic of a document."""
    documents = _texts(data / "reuters21578.jsonl.gz", readers.word_counts)
    labelled = ((instance, classes) for _, instance, classes in documents)
    largest = readers.of_largest_classes(labelled, 10)
    return Dataset("reuters10", Rows.of((instance, classes[:1]) for instance, classes in largest))


def words(data: Path) -> Dataset:
    """Return Jane Austen's novels: a word by 3 words on each side and conjunctions, 90/10."""
    return Dataset("words", readers.jane_austen(data))


# --- others ---------------------------------------------------------------------------------------


def reuters(data: Path) -> Dataset:
    """Return Reuters-21578 with all topics, split ModApte."""
    return Dataset.of_parts("reuters", _texts(data / "reuters21578.jsonl.gz", readers.word_counts))


def clinc(data: Path, analysis: TextAnalysis = WORDS_AND_PAIRS) -> Dataset:
    """Return CLINC150: 150 intents of short requests."""
    return Dataset.of_parts("clinc", _analysed(data / "clinc150.jsonl.gz", analysis))


def banking(data: Path, analysis: TextAnalysis = WORDS_AND_PAIRS) -> Dataset:
    """Return BANKING77: 77 intents of short requests to a bank."""
    return Dataset.of_parts("banking", _analysed(data / "banking77.jsonl.gz", analysis))


def cpv(data: Path, analysis: TextAnalysis = WORDS_AND_PAIRS) -> Dataset:
    """Return Italian tenders and their procurement codes, whose digits form a tree."""
    rows = list(_analysed(data / "cpv_it.jsonl.gz", analysis))
    codes = readers.json_object(data / "cpv_it.taxonomy.json").keys()
    taxonomy = Taxonomy.of_codes({*codes, *chain.from_iterable(row[2] for row in rows)})
    return Dataset.of_parts("cpv", rows, taxonomy)


def eurlex(data: Path) -> Dataset:
    """Return EURLEX57K: laws of the EU and their EUROVOC concepts, about 5 to a law."""
    concepts = readers.json_object(data / "eurlex57k.taxonomy.json")
    taxonomy = Taxonomy({name: concept["parents"] for name, concept in concepts.items()})
    texts = _texts(data / "eurlex57k.jsonl.gz", readers.word_counts)
    return Dataset.of_parts("eurlex", texts, taxonomy)


def yso(data: Path, analysis: TextAnalysis = WORDS_AND_PAIRS) -> Dataset:
    """Return titles of a library and their subjects in the thesaurus YSO, 2.7 to a title."""
    return Dataset.of_parts("yso", _analysed(data / "yso_finna_en.jsonl.gz", analysis))


def bibtex(data: Path) -> Dataset:
    """Return BibTeX entries and their tags, a small set of the XMC repository."""
    return _xmc("bibtex", data)


def delicious(data: Path) -> Dataset:
    """Return web pages and their tags, 19 to a page, a small set of the XMC repository."""
    return _xmc("delicious", data)


def _xmc(name: str, data: Path) -> Dataset:
    files = {part: data / f"{name}_{part}.xmc.gz" for part in ("train", "test")}
    return Dataset.of_parts(name, _of_files(files, readers.xmc))


def satimage(data: Path) -> Dataset:
    """Return Statlog's satellite image: 36 numbers, 6 kinds of ground."""
    files = {"train": data / "satimage" / "sat.trn", "test": data / "satimage" / "sat.tst"}
    return Dataset.of_parts("satimage", _of_files(files, readers.satimage))


def _of_files(
    files: Mapping[str, Path], read: Callable[[Path], Iterator[readers.Labelled]]
) -> Iterator[Part]:
    for part, path in files.items():
        for instance, classes in read(path):
            yield part, instance, classes


BY_ANALYSIS: Final[dict[str, Callable[[Path, TextAnalysis], Dataset]]] = {
    "clinc": clinc,
    "banking": banking,
    "cpv": cpv,
    "yso": yso,
}
"""Data sets whose texts are analysed as the service does."""

DATASETS: Final[dict[str, Callable[[Path], Dataset]]] = {
    "newsgroups": newsgroups,
    "newsgroups-bydate": newsgroups_by_date,
    "reuters10": reuters10,
    "reuters": reuters,
    "words": words,
    "clinc": clinc,
    "banking": banking,
    "cpv": cpv,
    "eurlex": eurlex,
    "yso": yso,
    "bibtex": bibtex,
    "delicious": delicious,
    "satimage": satimage,
}

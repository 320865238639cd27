"""The analyses of texts: what words, pairs, characters and other parts gain, and their price.

`text-choice` compares them on held-out training rows, others in each split, with 5, 20 and all
labels a class, to choose the analysis of new stores; `text` shows the choice on the published test
rows. Both learn once, by the default learner. Of sets with long texts or many classes a random
sample of rows is learned. No data set here is of a script without spaces.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Final

import numpy as np

from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.text import TextAnalysis
from manyclass.evaluation import readers
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import by_ranks, hits_in
from manyclass.training.accuracy import best_ranks
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Record, Study, Trial
from studies.samples import published_part
from studies.text_forms import LONGEST, SHORTEST, Form, Runs, few


@dataclass(frozen=True)
class Texts:
    """A set of texts, and how many of its rows are used."""

    file: str
    training: int = 1_000_000  # most rows
    held_out: float = 0.1  # share of them that is not learned, to choose by
    splits: int = 3


SETS: Final = {
    "banking": Texts("banking77"),
    "clinc": Texts("clinc150"),
    "cpv": Texts("cpv_it", 6_000, 1 / 3),
    "reuters": Texts("reuters21578", 2_400, 1 / 2),
    "newsgroups": Texts("newsgroups", 2_400, 1 / 2),
    "eurlex": Texts("eurlex57k", 2_400, 1 / 2),
    "yso": Texts("yso_finna_en", 12_000, 1 / 2),
}
MOST_TEST: Final = 3_000
LABELS: Final = {"5": 5, "20": 20, "all": 1_000_000_000}  # of a class
TIMED: Final = 500  # instances ranked, and learned, one by one
ROUNDS: Final = 3

PAIRS: Final = "words+pairs"
CHARACTERS: Final = f"{PAIRS}+characters"
EVERY: Final = f"{CHARACTERS}+unmarked+symbols"
USUAL: Final = Runs()  # as they were chosen first
CHOSEN: Final = Runs(4, 4, worth=1, first_words=64)
CHEAPEST: Final = Runs(4, 5, worth=1, ends="<")
BESIDE: Final = (
    *(Runs(worth=0.7), Runs(3, 4, worth=0.7), Runs(4, 4, worth=0.7), Runs(5, 5, worth=1)),
    Runs(5, 5, worth=1, ends="<"),
    Runs(4, 5, worth=1, ends="<>"),
    Runs(4, 4, worth=1, most_words=30),
    *(Runs(4, 4, worth=1, first_words=words) for words in (0, 32, 100)),
)

Forms = dict[str, dict[str, Form]]  # by analysis: its features have those of all of its forms


def with_runs(runs: Runs) -> dict[str, Form]:
    """Return words, pairs and these runs by the name of the form."""
    return {f"{CHARACTERS}, {runs}": Form(runs=runs)}


ALONE: Final[Forms] = {
    CHARACTERS: {
        "words": Form(pairs=False),
        PAIRS: Form(),
        **with_runs(USUAL),
        **with_runs(CHOSEN),
        **with_runs(CHEAPEST),
    },
    f"{PAIRS}+unmarked": {f"{PAIRS}+unmarked": Form()},
    f"{PAIRS}+symbols": {f"{PAIRS}+symbols": Form()},
}
CHOICES: Final[Forms] = {
    **ALONE,
    CHARACTERS: {
        **ALONE[CHARACTERS],
        **{k: v for each in BESIDE for k, v in with_runs(each).items()},
    },
}
SHOWN: Final[Forms] = {
    **ALONE,
    CHARACTERS: {
        **ALONE[CHARACTERS],
        f"words+characters, {CHOSEN}": Form(pairs=False, runs=CHOSEN),
    },
    EVERY: {f"{EVERY}, {CHOSEN}": Form(runs=CHOSEN)},
}
FORMS: Final = {
    name: form for forms in (*CHOICES.values(), *SHOWN.values()) for name, form in forms.items()
}


@lru_cache(1)
def texts_of(name: str, data: Path) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the rows in use of a set: published split, text, classes."""
    change = readers.without_headers if name == "newsgroups" else str
    rows = [
        (row["split"], row["text"], tuple(dict.fromkeys(row["classes"])))
        for row in readers.json_lines(data / f"{SETS[name].file}.jsonl.gz")
        if row["classes"]
    ]
    draw = np.random.default_rng(0)
    chosen = list[tuple[str, str, tuple[str, ...]]]()
    for part, most in (("train", SETS[name].training), ("test", MOST_TEST)):
        of_part = [each for each in rows if each[0] == part]
        positions = np.arange(len(of_part))
        if len(positions) > most:
            positions = np.sort(draw.choice(positions, most, replace=False))
        chosen += [(part, change(of_part[at][1]), of_part[at][2]) for at in positions]
    return tuple(chosen)


def read(name: str, data: Path) -> Dataset:
    """Return the data set of a name as `clinc words+pairs`, its runs worth 1."""
    of, _, parts = name.partition(" ")
    analysis = TextAnalysis.parse(parts)._with_runs(SHORTEST, LONGEST, 1)
    rows = (
        (split, analysis.features_of(text), [*classes])
        for split, text, classes in texts_of(of, data)
    )
    return Dataset.of_parts(name, rows)


def training_only(data: Dataset, rows: int | None) -> Dataset:
    """Return the training rows, of which a share is held out for testing."""
    part = whole(data, rows)
    held_out = SETS[data.name.partition(" ")[0]].held_out
    kept = part.rows.take(np.arange(part.published or 0))
    return Dataset(part.name, kept, share=1 - held_out)


def whole(data: Dataset, rows: int | None) -> Dataset:
    """Return all rows in use, or at most so many training rows."""
    return data if rows is None else published_part(data, rows, MOST_TEST)


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the accuracy of the default learner by a form, with few labels and all; and its price.

    R1, R5: of the best true class. Times are CPU microseconds of one call in this thread.
    """
    training, test = data.split(seed)
    training, test = FORMS[name].of(training), FORMS[name].of(test)
    for labels, most in LABELS.items():
        some = few(training, most)
        learner = LearnerEstimator(training, Options.parse(DEFAULT_LEARNER), passes, seed)
        first = max(len(some) - TIMED, 0)
        learner.learn(some.take(np.arange(first)))
        learned = _microseconds(_learning(learner, some.take(np.arange(first, len(some)))))
        ranks = best_ranks(hits_in(learner.rank(test, 5), test))
        found = by_ranks(ranks)
        record: Record = {"labels": labels, "R1": found["R1"], "R5": found["R5"]}
        if labels == "all":
            record |= _price(learner, training, test)
            record["learn µs"] = learned
        yield record


def _price(learner: LearnerEstimator, training: Rows, test: Rows) -> Record:
    few_tests = [Instance(features) for features, _ in test.take(np.arange(min(TIMED, len(test))))]
    ranking = [partial(learner.learner.rank, each, 5) for each in few_tests]
    return {
        "features a text": len(training.indices) / len(training),
        "bytes": learner.bytes(),
        "rank µs": median(_microseconds(ranking) for _ in range(ROUNDS)),
    }


def _learning(learner: LearnerEstimator, rows: Rows) -> list[Callable[[], object]]:
    return [partial(learner.learner.learn, Instance(each), true) for each, true in rows]


def _microseconds(calls: Sequence[Callable[[], object]]) -> float:
    """Return the CPU time of a call; the calls are made in their order."""
    begin = thread_time()
    for call in calls:
        call()
    return 1e6 * (thread_time() - begin) / max(len(calls), 1)


def declared(forms: Forms) -> list[Trial]:
    """Return the trials of forms on every set."""
    return [
        Trial(f"{name} {parts}", form, texts.splits, tags={"set": name})
        for name, texts in SETS.items()
        for parts, of_parts in forms.items()
        for form in of_parts
    ]


TABLES: Final = [
    *(
        Pivot(f"{measure} by labels a class", [measure], across="set", each="labels", mean=True)
        for measure in ("R1", "R5")
    ),
    *(
        Pivot(measure, [measure], across="set", each="", digits=digits)
        for measure, digits in (
            ("features a text", 0),
            ("bytes", 0),
            ("rank µs", 1),
            ("learn µs", 1),
        )
    ),
]
CHOICE: Final = Study(
    "The analysis of texts, chosen on held-out training rows",
    declared(CHOICES),
    measured,
    TABLES,
    prepare=training_only,
    read=read,
)
STUDY: Final = Study(
    "The analyses of texts on test rows",
    declared(SHOWN),
    measured,
    TABLES,
    prepare=whole,
    read=read,
)

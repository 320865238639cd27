"""Kernel logistic regression over the CPV and EURLEX57K, as in section 6.2 of Seeger (2006).

A task is a division with its training and test rows. Classes are the codes with a training row;
a test row of another code is an error. F1, F2: independent classes; H1, H2: a tree. As in the
paper, taxo-loss and parent accuracy are of predictions of least expected loss; [0-1]: of the
likeliest class; prec: the mean of 1 / rank of the true class. Of several true classes of a row the
first in the ranking counts, and the nearest in the taxonomy. Variances of the whole CPV and of a
random part of EURLEX57K are found with a part of the rows and few evaluations. LinearSVC and
Parabel rank without probabilities; the learners `svm` and `path` learn the rows once, in a random
order. The paper's figures are those of WIPO-alpha, sections A to H, another data set.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation import datasets
from manyclass.evaluation.cost import timed
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.estimator import Estimator
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import Ranking, decoded_measures, measures, taxonomic
from manyclass.evaluation.run import RETRIEVED
from manyclass.evaluation.taxonomy import Taxonomy, digits_of
from manyclass.training.klr.decoding import Decoder
from manyclass.training.klr.fit import (
    Fitting,
    OnProgress,
    Plan,
    Progress,
    classes_with_rows,
)
from manyclass.training.klr.model import Model
from manyclass.training.klr.tree import SHARINGS, tree_of
from manyclass.training.parents import ROOT
from manyclass.training.rows import Rows
from studies.declaration import Bounds, Measure, Pivot, Record, Study, trials
from studies.fit_file import FitFile
from studies.peers import PEERS
from studies.samples import published_part

DIVISIONS: Final = ("71", "33", "45")
WHOLE: Final = "cpv"
EURLEX: Final = "eurlex"
EURLEX_ROWS: Final = 6_000  # all 45,000 would take days
TEST_ROWS: Final = 5_000  # of a part, at most
SHORT: Final = Bounds(evaluations=3, rows=3_000)  # for rows and classes that take hours
PUBLISHED: Final = {  # WIPO-alpha, table 1: sections A to H
    "F1": {
        "acc %": (40.6, 32.0, 33.7, 40.0, 33.0, 31.4, 40.1, 39.3),
        "prec %": (51.6, 41.8, 45.2, 52.4, 45.1, 42.8, 51.2, 52.4),
        "taxo": (1.27, 1.52, 1.34, 1.19, 1.39, 1.43, 1.32, 1.17),
        "taxo[0-1]": (1.28, 1.54, 1.33, 1.20, 1.43, 1.43, 1.32, 1.19),
        "pacc %": (58.9, 53.6, 58.9, 64.6, 56.0, 56.8, 58.0, 61.6),
        "pacc[0-1] %": (57.2, 51.9, 58.6, 63.5, 54.0, 54.9, 56.8, 59.9),
    },
    "H1": {
        "acc %": (41.9, 32.9, 34.7, 40.6, 34.2, 32.4, 40.7, 39.6),
        "prec %": (53.4, 43.8, 46.6, 54.1, 47.1, 44.9, 52.5, 53.3),
        "taxo": (1.19, 1.44, 1.26, 1.11, 1.31, 1.34, 1.26, 1.15),
        "taxo[0-1]": (1.19, 1.44, 1.26, 1.12, 1.33, 1.34, 1.26, 1.16),
        "pacc %": (61.6, 56.4, 62.6, 67.0, 59.1, 59.7, 59.7, 62.5),
        "pacc[0-1] %": (61.3, 55.9, 61.8, 67.1, 58.2, 58.7, 59.2, 61.6),
    },
    "F2": {
        "acc %": (40.5, 31.7, 34.1, 39.7, 32.8, 31.4, 40.2, 39.4),
        "prec %": (51.4, 41.6, 46.4, 52.2, 45.0, 42.8, 51.3, 52.5),
        "taxo": (1.29, 1.55, 1.35, 1.18, 1.38, 1.43, 1.32, 1.17),
        "taxo[0-1]": (1.29, 1.56, 1.32, 1.22, 1.44, 1.44, 1.32, 1.19),
        "pacc %": (58.2, 52.7, 58.5, 64.4, 56.2, 56.8, 57.6, 61.8),
        "pacc[0-1] %": (56.9, 51.4, 58.9, 62.6, 53.5, 54.6, 56.6, 60.0),
    },
    "H2": {
        "acc %": (41.9, 32.7, 34.5, 40.8, 34.1, 32.5, 40.7, 39.7),
        "prec %": (53.4, 43.7, 46.4, 54.3, 47.1, 45.0, 52.5, 53.4),
        "taxo": (1.19, 1.44, 1.27, 1.11, 1.31, 1.34, 1.26, 1.14),
        "taxo[0-1]": (1.18, 1.44, 1.26, 1.12, 1.34, 1.34, 1.26, 1.15),
        "pacc %": (61.5, 56.6, 62.0, 67.1, 59.2, 59.8, 59.6, 62.5),
        "pacc[0-1] %": (61.4, 55.9, 61.6, 67.0, 57.9, 58.9, 58.9, 61.8),
    },
}
PAPER: Final = "WIPO-alpha (paper), mean of 8"
MEASURES: Final = ("acc %", "prec %", "R5 %", "taxo", "taxo[0-1]", "pacc %", "pacc[0-1] %")
BESIDE: Final = ("linearsvc+tfidf", "omikuji+tfidf")  # omikuji: Parabel
LEARNERS: Final = ("svm", "path")


def read(name: str, data: Path) -> Dataset:
    """Return the rows of a division, `cpv-45`, or all of a data set."""
    if name in (WHOLE, EURLEX):
        return datasets.read(name, data)
    whole = datasets.read(WHOLE, data)
    division = name.removeprefix("cpv-")
    is_in = np.array([digits_of(code).startswith(division) for code in whole.rows.classes])
    first = whole.rows.class_indices[whole.rows.class_indptr[:-1]]  # one class to a row
    kept = np.flatnonzero(is_in[first])
    published = int((kept < (whole.published or 0)).sum())
    return Dataset(name, whole.rows.take(kept), published, taxonomy=whole.taxonomy)


def prepared(data: Dataset, rows: int | None) -> Dataset:
    """Return the data set, or random parts of its training and test rows."""
    if rows is None and data.name == EURLEX:
        rows = EURLEX_ROWS
    return data if rows is None else published_part(data, rows, TEST_ROWS)


def root_of(name: str, taxonomy: Taxonomy, classes: list[str]) -> str:
    """Return the code of a division, an ancestor of its classes; the root for a whole data set."""
    if name in (WHOLE, EURLEX):
        return ROOT
    above = classes[0]
    while taxonomy.parents(above) != {ROOT}:
        above = min(taxonomy.parents(above))
    return above


def bounded(bounds: Bounds) -> Measure:
    """Return the measure whose searches have these bounds, where they are given."""

    def measure(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
        usual = SHORT if data.name in (WHOLE, EURLEX) else Bounds()
        return measured(data, name, seed, bounds.over(usual))

    return measure


def measured(data: Dataset, name: str, seed: int, bounds: Bounds) -> Iterator[Record]:
    """Yield the measures of a kernel, a peer or a learner; the seed draws folds and orders."""
    taxonomy = data.taxonomy
    if taxonomy is None:
        raise ValueError(f"{data.name} has no taxonomy")
    training, test = data.split(seed, shuffle=False)
    if name in PEERS:
        yield _of_peer(PEERS[name](seed), training, test, taxonomy)
        return
    if name not in SHARINGS:
        yield _of_learner(Options.parse(name), *data.split(seed), taxonomy, seed)
        return
    sharing = next(each for each in SHARINGS if each == name)
    classes = classes_with_rows(training)
    root = root_of(data.name, taxonomy, classes)
    tree = tree_of(classes, taxonomy.parents, sharing, root)
    states = bounds.states
    file = FitFile(states / f"{data.name}-{name}-{seed}.npz" if states else None)
    plan = Plan(
        seed=seed,
        evaluations=bounds.evaluations or Plan.evaluations,
        search_rows=bounds.rows or 0,
    )
    fitting = Fitting(training, classes, tree, plan, file.course)
    fitted = fitting.run(_said_once(), file.save)
    file.save(fitted.course)
    seconds = file.seconds
    best, evaluations = fitted.search.best, fitted.search.evaluations
    made: Record = {
        **_accuracy(fitted.model, classes, test, taxonomy),
        "Psi / n": best.psi / fitted.searched,
        "rows": len(training),
        "classes": len(classes),
        "variances": " ".join(
            f"{group}: {variance:.3g}"
            for group, variance in zip(
                fitted.model.tree.groups, np.exp(best.logs).tolist(), strict=True
            )
        ),
        "evaluations": len(evaluations),
        "unfinished": best.unfinished + int((~fitted.last.converged).sum()),
        "CPU s": seconds,
        "MiB": _peak(),
        "MiB estimated": fitting.size.bytes / 2**20,
    }
    print(f"    {data.name} {name}: {made}", file=sys.stderr, flush=True)
    yield made


def _said_once() -> OnProgress:
    """Return a function that prints each evaluation when it begins, with the last Psi."""
    said = set[tuple[str, int]]()

    def on_progress(progress: Progress) -> None:
        at = progress.stage, progress.evaluation
        if at not in said:
            said.add(at)
            seconds, psi = time.process_time(), progress.psi
            print(f"    {seconds:.0f} s: {at[0]} {at[1]}, Psi {psi}", file=sys.stderr, flush=True)

    return on_progress


def _of_peer(peer: Estimator, training: Rows, test: Rows, taxonomy: Taxonomy) -> Record:
    _, seconds = timed(lambda: peer.fit(training))
    return _of_ranking(peer.rank(test, RETRIEVED), training, test, taxonomy, seconds)


def _of_learner(
    options: Options, training: Rows, test: Rows, taxonomy: Taxonomy, seed: int
) -> Record:
    learner, other = (LearnerEstimator(training, options, seed=seed) for _ in range(2))
    for each in (learner, other):
        each.use(taxonomy)
    losses = other.fit_losses(training)
    _, seconds = timed(lambda: learner.learn(training))
    decoded = decoded_measures(learner.decode(test, losses), test, taxonomy)
    return {
        **_of_ranking(learner.rank(test, RETRIEVED), training, test, taxonomy, seconds),
        "taxo": decoded["taxo-loss decoded"],
    }


def _of_ranking(
    ranking: Ranking, training: Rows, test: Rows, taxonomy: Taxonomy, seconds: float
) -> Record:
    found = measures(ranking, test, training, taxonomy)
    return {
        "acc %": 100 * found["R1"],
        "prec %": 100 * found["MRR"],
        "R5 %": 100 * found["R5"],
        "taxo[0-1]": found["taxo-loss"],
        "pacc[0-1] %": 100 * found["parent"],
        "CPU s": seconds,
        "MiB": _peak(),
    }


def _peak() -> float:
    """Return the most memory of this process so far, its rows included."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 2**10


def _accuracy(model: Model, classes: list[str], test: Rows, taxonomy: Taxonomy) -> Record:
    p = np.concatenate([*model.probabilities(test)]).astype(float)
    number = {name: column for column, name in enumerate(test.classes)}
    columns = np.array([number[name] for name in classes], np.int32)
    position = np.full(len(test.classes), -1)
    position[columns] = np.arange(len(classes))
    true = position[test.class_indices]  # of each row and true class
    row = np.repeat(np.arange(len(p)), np.diff(test.class_indptr))
    row, true = row[true >= 0], true[true >= 0]
    of_true = p[row, true]
    best = np.full(len(p), -1.0)  # also without a true class that was fitted
    np.maximum.at(best, row, of_true)
    seen = best >= 0
    ranks = 1 + (p > best[:, None]).sum(1)
    counts = np.bincount(row, minlength=len(p))
    losses = np.bincount(row, -np.log(np.maximum(of_true, 1e-30)), len(p))
    decoder = Decoder.of(classes, taxonomy.parents)
    likeliest = p.argmax(1)

    def lost(chosen: NDArray[np.int64]) -> dict[str, float]:
        return taxonomic(columns[chosen][:, None], test, taxonomy)

    plain = lost(likeliest)
    return {
        "acc %": 100 * float((seen & (ranks == 1)).mean()),
        "prec %": 100 * float(np.where(seen, 1 / ranks, 0.0).mean()),
        "R5 %": 100 * float((seen & (ranks <= 5)).mean()),
        "taxo": lost(decoder.least_taxo_loss(p))["taxo-loss"],
        "taxo[0-1]": plain["taxo-loss"],
        "pacc %": 100 * lost(decoder.best_parent(p))["parent"],
        "pacc[0-1] %": 100 * plain["parent"],
        "log loss (seen)": float((losses / np.maximum(counts, 1))[seen].mean()),
    }


STUDY: Final = Study(
    about="Kernel logistic regression over the CPV and EURLEX57K, flat and hierarchical",
    trials=[
        *trials([f"cpv-{division}" for division in DIVISIONS], (*SHARINGS, *BESIDE)),
        *trials([WHOLE, EURLEX], (*SHARINGS, *BESIDE, *LEARNERS)),
    ],
    measure=bounded(Bounds()),
    bounded=bounded,
    tables=[
        Pivot("test rows", MEASURES),
        Pivot("fit", ("Psi / n", "log loss (seen)", "evaluations", "unfinished", "CPU s", "MiB")),
    ],
    printed=[
        {
            "dataset": f"cpv-{DIVISIONS[0]}",
            "estimator": f"{name}, {PAPER}",
            "split": 0,
            **{measure: float(np.mean(values)) for measure, values in figures.items()},
        }
        for name, figures in PUBLISHED.items()
    ],
    read=read,
    prepare=prepared,
)

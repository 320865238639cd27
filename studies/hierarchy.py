"""Learners with a taxonomy, by costs of wrong classes and by families, beside learners without.

All classes that occur, and those above them, are placed before the first row is learned. A class
with several parents goes below the first of them by name. Learners without costs ignore them.

R10 unseen: of test rows whose classes have no training row. R5 progressive: of the training rows,
each ranked right before it was learned for the first time.

Decoded: of the ranking by expected taxonomic loss. Its temperature is fitted in a first pass by
another learner of the same options, whose time does not count.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from manyclass.core.learners.options import Options
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import Ranking, decoded_measures, hits_in, measures
from manyclass.evaluation.run import ANSWERED, RETRIEVED
from manyclass.training.rows import Rows
from studies.declaration import At, Beside, Pivot, Record, Study, trials

DATASETS: Final = ("cpv", "eurlex")
LEARNERS: Final = ("svm", "svm(cost=sqrt)", "svm(cost=linear)", "path", "path(cost=none)")
PA: Final = ("pa(sublinear=yes,tfidf=yes)", "pa(sublinear=yes,tfidf=yes,cost=sqrt)", "hieron")

SHOWN: Final[tuple[tuple[str, At], ...]] = (
    ("after the first pass", "first"),
    ("after the last pass", "last"),
)


def by_taxonomy(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield accuracy, taxonomic measures and cost after each pass."""
    training, test = data.split(seed)
    if data.taxonomy is None:
        raise ValueError(f"{data.name} has no taxonomy")
    learner, other = (LearnerEstimator(training, Options.parse(name), seed=seed) for _ in range(2))
    for each in (learner, other):
        each.use(data.taxonomy)
    losses = other.fit_losses(training)
    seconds = 0.0
    for number in range(1, passes + 1):
        ranks, spent = timed(lambda: learner.learn(training))
        seconds += spent
        if number == 1:
            progressive = float(((ranks > 0) & (ranks <= 5)).mean())
        ranking = learner.rank(test, RETRIEVED)
        yield {
            "pass": number,
            **measures(ranking, test, training, data.taxonomy),
            **_unseen(ranking, test, training),
            "R5 progressive": progressive,
            **decoded_measures(learner.decode(test, losses), test, data.taxonomy),
            "temperature": losses.temperature,
            "T_train s": seconds,
            "ranks/s": len(test) / mean_seconds_of(lambda: learner.rank(test, ANSWERED)),
        }


def _unseen(ranking: Ranking, test: Rows, training: Rows) -> dict[str, float]:
    seen = np.zeros(len(test.classes), bool)
    seen[training.class_indices] = True
    unseen = [row for row, true in enumerate(test.true_columns()) if not seen[true].any()]
    if not unseen:
        return {}
    hits = hits_in(ranking[unseen, :10], test.take(np.array(unseen)))
    return {"R10 unseen": float(hits.any(1).mean())}


STUDY: Final = Study(
    "Costs of wrong classes, and families, by the taxonomy",
    [
        *trials(DATASETS, LEARNERS, splits=3, passes=3),
        *trials(DATASETS, PA, splits=3, passes=3),
    ],
    by_taxonomy,
    [
        *(
            Pivot(
                title,
                [
                    *("taxo-loss", "taxo-loss decoded", "parent", "R1", "R1 decoded", "R5", "P5"),
                    *("R10 unseen", "R5 progressive", "MRR", "T_train s", "ranks/s"),
                ],
                at=at,
                digits=4,
            )
            for title, at in SHOWN
        ),
        Beside(
            "Beside the learner without the taxonomy, after the last pass",
            [
                *((each, LEARNERS[0]) for each in LEARNERS[1:]),
                *((each, PA[0]) for each in PA[1:]),
            ],
            ["R1", "R1 decoded", "R5", "P5"],
            ["taxo-loss", "taxo-loss decoded", "T_train s", "ranks/s"],
        ),
    ],
)

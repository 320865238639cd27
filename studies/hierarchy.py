"""Costs of wrong classes by their distance in the taxonomy: accuracy beside learners without.

All classes that occur, and those above them, are placed before the first row is learned. A class
with several parents goes below the first of them by name. Learners without costs ignore them.

Decoded: of the ranking by expected taxonomic loss. Its temperature is fitted in a first pass by
another learner of the same options, whose time does not count.
"""

from collections.abc import Iterator
from typing import Final

from manyclass.core.learners.options import Options
from manyclass.evaluation.cost import mean_seconds_of, timed
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import decoded_measures, measures
from manyclass.evaluation.run import ANSWERED, RETRIEVED
from studies.declaration import At, Beside, Pivot, Record, Study, trials

DATASETS: Final = ("cpv", "eurlex")
LEARNERS: Final = ("svm", "svm(cost=sqrt)", "svm(cost=linear)")
PA: Final = ("pa(sublinear=yes,tfidf=yes)", "pa(sublinear=yes,tfidf=yes,cost=sqrt)")

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
        _, spent = timed(lambda: learner.learn(training))
        seconds += spent
        yield {
            "pass": number,
            **measures(learner.rank(test, RETRIEVED), test, training, data.taxonomy),
            **decoded_measures(learner.decode(test, losses), test, data.taxonomy),
            "temperature": losses.temperature,
            "T_train s": seconds,
            "ranks/s": len(test) / mean_seconds_of(lambda: learner.rank(test, ANSWERED)),
        }


STUDY: Final = Study(
    "Costs of wrong classes by the taxonomy",
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
                    *("MRR", "T_train s", "ranks/s"),
                ],
                at=at,
                digits=4,
            )
            for title, at in SHOWN
        ),
        Beside(
            "With costs beside the learner without, after the last pass",
            [*((each, LEARNERS[0]) for each in LEARNERS[1:]), PA[::-1]],
            ["R1", "R1 decoded", "R5", "P5"],
            ["taxo-loss", "taxo-loss decoded", "T_train s", "ranks/s"],
        ),
    ],
)

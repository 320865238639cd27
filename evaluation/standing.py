"""What a contender comes to that learns some rows and is tested on others."""

from collections.abc import Iterable
from dataclasses import dataclass

from manyclass.evaluation.contender import Contender
from manyclass.evaluation.cost import timed, timed_on_average
from manyclass.evaluation.measures import Truth, measures
from manyclass.evaluation.run import ANSWERED
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Standing:
    """How accurate it was, and what that took."""

    accuracy: dict[str, float]  # by measure
    train_seconds: float  # CPU
    ranks_per_second: float  # test rows in a CPU second, their best 5 classes
    bytes: int

    @classmethod
    def of(
        cls, contender: Contender, training: Rows, test: Rows, wanted: Iterable[str]
    ) -> "Standing":
        """Train the contender and test it by the measures wanted, of 5 places at most."""
        _, seconds = timed(lambda: contender.fit(training))
        ranking, spent = timed_on_average(lambda: contender.rank(test, ANSWERED))
        found = measures(ranking, Truth.of(test, training))
        accuracy = {name: found[name] for name in wanted}
        return cls(accuracy, seconds, len(test) / spent, contender.bytes())

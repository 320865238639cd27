from typing import final

from manyclass.core.calibration import Calibration
from manyclass.core.learners.learner import Learner

@final
class PublishedLearner:
    """The learner of a model that answers, as threads without the interpreter reach it."""

    def __new__(cls) -> PublishedLearner: ...
    def use(self, learner: Learner, calibration: Calibration) -> None:
        """Let this learner answer, once no thread ranks with the one before."""

    seq: int
    """The number of the last event that the model has applied, or passed over."""

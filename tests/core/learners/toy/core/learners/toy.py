"""The toy: an example of a new learner, and its option."""

from manyclass.core.learners.common import LIMITS, STREAM, preparing
from manyclass.core.learners.spec import LearnerSpec, Option

MEMORY = Option("memory", 4, "[1, 16]", "Classes that a feature remembers.")

LEARNERS = (
    LearnerSpec(
        "toy", "the last classes | always | an example", (MEMORY, *preparing(), *STREAM, *LIMITS)
    ),
)

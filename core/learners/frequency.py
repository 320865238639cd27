"""The baseline: classes by how often they were learned."""

from manyclass.core.learners.common import LIMITS, RETRIEVAL_WINDOW, STREAM
from manyclass.core.learners.spec import Learner

LEARNERS = (
    Learner(
        "frequency",
        (RETRIEVAL_WINDOW, *STREAM, *LIMITS),
        rows="nothing",
        learns="always",
        source="the baseline",
        needs_features=False,
    ),
)

"""The baseline: ranks classes by how often they were learned."""

from manyclass.core.learners.common import LIMITS, STREAM, WINDOW
from manyclass.core.learners.spec import LearnerSpec

OPTIONS = (WINDOW, *STREAM, *LIMITS)
LEARNERS = (
    LearnerSpec(
        "frequency",
        "nothing | always | the baseline",
        OPTIONS,
        needs_features=False,
        takes_signs=True,
    ),
)

"""A member of a committee by itself."""

from typing import TYPE_CHECKING, NamedTuple

from manyclass.core.progressive_validation import ProgressiveValidation

if TYPE_CHECKING:
    from manyclass.core.learner import Learner
    from manyclass.core.learners.options import Options


class Member(NamedTuple):
    """A member, for reading only: its learner, its progressive accuracy over the committee's
    events, and the events in its shuffle buffer with their bytes as counted.
    """

    learner: "Learner"
    progress: ProgressiveValidation
    waiting: int
    waiting_bytes: int

    @property
    def options(self) -> "Options":
        """The options in force."""
        return self.learner.options

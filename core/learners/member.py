"""A member of a committee."""

from typing import TYPE_CHECKING, NamedTuple

from manyclass.core.progressive_validation import ProgressiveValidation

if TYPE_CHECKING:
    from manyclass.core.learner import Learner
    from manyclass.core.learners.options import Options


class Member(NamedTuple):
    """A member, for reading only: its learner, and its progressive accuracy over the committee's
    events. `waiting` is the number of events in its shuffle buffer, `waiting_bytes` their size.
    """

    learner: "Learner"
    progress: ProgressiveValidation
    waiting: int
    waiting_bytes: int

    @property
    def options(self) -> "Options":
        """The options of the member's learner."""
        return self.learner.options

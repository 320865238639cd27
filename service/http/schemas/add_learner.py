"""The bodies of the call that adds a learner."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from manyclass.core.instance import LONGEST_NAME
from manyclass.service.history.rebuild import RebuildReport

_LEARNER = "The specification of the shadow: svm(C=0.3)."
_HISTORY = "True if the shadow learns the whole history, by a rebuild; else it begins empty."


class AddLearnerRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A shadow to add. Limits that it does not name are those of the primary learner."""

    takes: ClassVar = {"history": "true or false"}

    learner: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, description=_LEARNER)]
    history: Annotated[bool | None, Meta(description=_HISTORY)] = None


class LearnerAdded(msgspec.Struct, gc=False):
    """The number of the last event after the addition, and the name of the shadow.

    `rebuild` is null without `history`.
    """

    seq: int
    learner: str
    rebuild: RebuildReport | None

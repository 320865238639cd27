"""The body of the call that rebuilds the state."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from manyclass.core.instance import LONGEST_NAME
from manyclass.core.text import PARTS

_SHADOW = "A shadow that learns the whole history: svm(replay=4)."
_TEXT = "The analysis of texts for the rebuilt state; without it, the present one."
# The service accepts the parts in any order.
_PARTS = {"pattern": "^words" + "".join(rf"(\+{part})?" for part in PARTS) + "$"}
_Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


class RebuildRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The learner or the analysis of texts to change by a rebuild; both may be omitted."""

    takes: ClassVar = {"text": 'the parts of an analysis of texts: "words+pairs"'}

    learner: Annotated[_Name | None, Meta(description=_SHADOW)] = None
    text: Annotated[str | None, Meta(description=_TEXT, extra_json_schema=_PARTS)] = None

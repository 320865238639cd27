"""The body of the call that learns the history again."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from manyclass.core.instance import LONGEST_NAME
from manyclass.core.text import PARTS

_SHADOW = "A shadow that learns the whole history: svm(replay=4)."
_TEXT = "The analysis of texts by which the history is learned; without it, the present one."
# Parts in another order are read, too.
_PARTS = {"pattern": "^words" + "".join(rf"(\+{part})?" for part in PARTS) + "$"}
_Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


class RebuildRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A learner or an analysis of texts with which the history is learned again."""

    takes: ClassVar = {"text": 'the parts of an analysis of texts: "words+pairs"'}

    learner: Annotated[_Name | None, Meta(description=_SHADOW)] = None
    text: Annotated[str | None, Meta(description=_TEXT, extra_json_schema=_PARTS)] = None

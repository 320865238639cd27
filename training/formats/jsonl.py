"""JSON lines: an event as POST /learn takes it, one to a line.

    {"features": {"ice": 1.5, "puck": 2}, "classes": ["hockey"]}
    {"features": ["ice", "puck", "puck"], "classes": ["hockey", "sports"]}
    {"text": "The goalie stopped the puck", "classes": ["hockey"]}
    {"text": {"title": "Ice hockey", "body": "The goalie stopped it"}, "classes": ["hockey"]}

Exactly one of `features` and `text` is required. `weight` is that of the
event. A line with `not` is rejected, since only a service learns that classes are wrong. A
`vector` beside them is left out and counted, since only a service learns vectors. Other
keys, as the `source` and `event_id` of an exported event, are ignored: data sets have many.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET, UnsetType

from manyclass.core.text_fields import without_nulls
from manyclass.training.encodings import not_utf8
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.lines import Line, LineFault


class _Event(msgspec.Struct):
    classes: list[str | int] | UnsetType = UNSET
    features: dict[str, float] | list[str | int] | UnsetType = UNSET
    text: str | dict[str, str | None] | UnsetType = UNSET
    vector: msgspec.Raw | UnsetType = UNSET
    weight: float = 1.0
    rejected: msgspec.Raw | UnsetType = msgspec.field(name="not", default=UNSET)


_FIELD = re.compile(r"Expected `str \| null`, got `(.+)` - at `\$\.text\[\.\.\.\]`")
_OUT_OF_RANGE = ("Number out of range", "a number is not a finite float, as 1e400")
_EVENT = msgspec.json.Decoder(_Event)


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line."""
    for line in lines:
        try:
            event = _EVENT.decode(line.data)
        except UnicodeDecodeError as error:
            yield Rejected(line, not_utf8(error))
        except (LineFault, msgspec.DecodeError, RecursionError) as error:
            reason = _FIELD.sub(r"a field of `text` must be a string (got \1)", str(error))
            yield Rejected(line, reason.replace(*_OUT_OF_RANGE))
        else:
            yield _given(line, event)


def _given(line: Line, event: _Event) -> Given | Rejected:
    features, text, classes = event.features, event.text, event.classes
    if event.rejected is not UNSET:
        return Rejected(line, "`not` is learned by a service only: use `manyclass learn`")
    if classes is UNSET:
        return Rejected(line, "it has no `classes`")
    has_vector = event.vector is not UNSET and bytes(event.vector) != b"null"
    if text is UNSET and features is not UNSET:
        return Given(line, features, classes, event.weight, has_vector=has_vector)
    if text is not UNSET and features is UNSET:
        return Given(line, [], classes, event.weight, without_nulls(text), has_vector)
    if text is UNSET and has_vector:
        return Rejected(
            line, "a `vector` alone is learned by a service only: use `manyclass learn`"
        )
    return Rejected(line, "an instance has either `features` or `text`")

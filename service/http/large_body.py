"""Bodies that are too large to be decoded in one piece: limits first, then element by element."""

from typing import Generic, TypeVar

import msgspec
from msgspec import UNSET

from manyclass.core.event import Instance
from manyclass.core.outline import Outline
from manyclass.core.text import SLICE_CHARACTERS
from manyclass.service.http.problems import Problem, invalid
from manyclass.service.http.schemas import (
    MOST_CLASSES,
    LearnEvent,
    LearnRequest,
    RankInstance,
    RankRequest,
    decode,
    instance_of,
    instance_of_long_text,
    too_many,
)
from manyclass.service.http.turn import Turn, in_thread

LARGE_BYTES = 65_536  # takes a millisecond or two, whatever it holds
# Members of an object of any request, and its true classes; `features` is counted by itself.
MOST_VALUES = MOST_CLASSES + 16

Request = TypeVar("Request", RankRequest, LearnRequest)
Form = TypeVar("Form", RankInstance, LearnEvent)


def is_large(form: RankInstance | LearnEvent | LearnRequest) -> bool:
    """Return whether the instance of a form has to be made in slices."""
    if form.text is not UNSET and len(form.text) > SLICE_CHARACTERS:
        return True
    return form.features is not UNSET and len(memoryview(form.features)) > LARGE_BYTES


async def large_instance_of(
    form: RankInstance | LearnEvent | LearnRequest, most_features: int
) -> Instance:
    """Return the same as `instance_of`, made in slices or with the GIL released."""
    if form.features is UNSET and form.text is not UNSET:
        return await Turn().run(instance_of_long_text(form.text, most_features))
    return await in_thread(instance_of, form, most_features)


class LargeBodies(Generic[Request, Form]):
    """Decodes large bodies in slices. `place` is the list of forms in a request."""

    def __init__(self, request: type[Request], form: type[Form], place: str, most: int) -> None:
        self._requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(request)
        self._forms: msgspec.json.Decoder[Form] = msgspec.json.Decoder(form)
        self._place = place
        self._most = most

    async def request(self, body: bytes) -> Request:
        """Return the request a body describes; a Problem or msgspec's error when it is not one.

        Limits are checked before any object is made. An element with a fault is named.
        """
        turn = Turn()
        outline = await self._outline(body)
        request = decode(self._requests, outline.rest)
        if outline.elements is not None:
            forms = []
            for position, element in enumerate(outline.elements):
                if turn.is_over:
                    await turn.pass_on()
                forms.append(decode(self._forms, element, (self._place, position)))
            setattr(request, self._place, forms)
        await turn.pass_on()
        return request

    async def form(self, body: bytes) -> Form:
        """Return the form that a whole body, or a line of a stream, describes."""
        outline = await self._outline(body)
        return decode(self._forms, outline.rest)

    async def _outline(self, body: bytes) -> Outline:
        outline = await in_thread(Outline, body, self._place.encode(), self._most, MOST_VALUES)
        if outline.fault is not None:
            raise self._problem(outline)
        return outline

    def _problem(self, outline: Outline) -> Problem:
        place = () if outline.position is None else (self._place, outline.position)
        match outline.fault:
            case "malformed":
                return Problem(
                    400, f"The body is not JSON: malformed at byte {outline.bytes_read}."
                )
            case "repeated":
                return invalid(f"`{self._place}` may come once only.", self._place)
            case "elements":
                return too_many(self._place, self._most)
            case "classes":
                detail = f"Expected `array` of length <= {MOST_CLASSES}"
                return invalid(detail, *place, "classes")
        return invalid("The object holds more values than a request can have.", *place)

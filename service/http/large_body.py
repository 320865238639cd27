"""The decoding of large bodies in slices: first the limits are checked, then elements decoded."""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from manyclass.core.outline import Outline
from manyclass.service.http.decoding import decode, too_many
from manyclass.service.http.problems import Problem, invalid
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import MOST_CLASSES
from manyclass.service.http.schemas.rank import RankInstance, RankRequest
from manyclass.service.http.schemas.review import GiveRequest
from manyclass.service.http.time_slice import TimeSlice, run_in_thread

# Largest number of members of an object with its lists of classes; `features` counts separately.
MOST_VALUES = 2 * MOST_CLASSES + 16
NAME_LISTS = frozenset({b"classes", b"not", b"among"})

Request = TypeVar("Request", RankRequest, LearnRequest, GiveRequest)
Form = TypeVar("Form", RankInstance, LearnEvent)


class LargeBodies(Generic[Request, Form]):
    """A decoder of large bodies in slices. `place` is the member with the list of forms."""

    def __init__(self, request: type[Request], form: type[Form], place: str, most: int) -> None:
        self._requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(request)
        self._forms: msgspec.json.Decoder[Form] = msgspec.json.Decoder(form)
        self._place = place
        self._most = most

    async def request(
        self, body: bytes, count: Callable[[Request | Form], None] = lambda _: None
    ) -> Request:
        """Return the request in a body; `count` is called with the request and each of its forms.

        Limits are checked before any object is made. Raises Problem, which points to the element at
        fault, or msgspec's error.
        """
        time_slice = TimeSlice()
        outline = await self._outline(body)
        request = decode(self._requests, outline.rest)
        count(request)
        if outline.elements is not None:
            forms = []
            for position, element in enumerate(outline.elements):
                if time_slice.is_over:
                    await time_slice.renew()
                forms.append(decode(self._forms, element, (self._place, position)))
                count(forms[-1])
            setattr(request, self._place, forms)
        await time_slice.renew()
        return request

    async def form(self, body: bytes) -> Form:
        """Return the form in a whole body, or in a line of a stream."""
        outline = await self._outline(body)
        return decode(self._forms, outline.rest)

    async def _outline(self, body: bytes) -> Outline:
        outline = await run_in_thread(Outline, body, self._place.encode(), self._most, MOST_VALUES)
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
                return invalid(f"`{self._place}` must occur only once.", self._place)
            case "elements":
                return too_many(self._place, self._most)
            case "values" if outline.key in NAME_LISTS:
                detail = f"Expected `array` of length <= {MOST_CLASSES}"
                return invalid(detail, *place, outline.key.decode())
        return invalid("The object has more values than a request can have.", *place)

"""PUT /classes/{name} and POST /classes: place classes in the taxonomy."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from manyclass.core.errors import InstanceError, RequestConflict
from manyclass.core.event import Event
from manyclass.core.event_parts import class_names
from manyclass.service.http.auth import Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode, name_of, parents_of
from manyclass.service.http.problems import Fault, Problem, pointer, problem_of
from manyclass.service.http.schemas.place import PlaceClassesRequest, PlaceClassRequest, Placed

_one = msgspec.json.Decoder(PlaceClassRequest)
_many = msgspec.json.Decoder(PlaceClassesRequest)


class _Place(ChangeCall):
    tag = "names"
    scope = Scope.LEARN
    statuses = (409,)
    writes: ClassVar = {"application/json": ["Placed"]}

    async def _place(self, parents: Mapping[str, str | int | None], moves: bool) -> bytes:
        event = Event.place(parents, moves)
        [result] = await self._engine.submit([event])
        return msgspec.json.encode(Placed(result.seq))


class PlaceClass(_Place):
    """Places one class."""

    method = "PUT"
    path = "/classes/{name:name}"
    title = "place_class"
    reads: ClassVar = {"application/json": ["PlaceClassRequest"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Place a class below its parent in the taxonomy, or at the top. This is a durable event.

        The class need not be learned yet. A parent that is not in the taxonomy is added at the top;
        it need not be a class. If the class has another parent, the answer is 409 unless `move` is
        true; its children move with it. If this would make a cycle or a path of more than 32
        classes, the answer is 422.
        """
        form = decode(_one, await self.body(request))
        try:
            class_names([request.name])
        except InstanceError as error:
            raise Problem(422, str(error), [Fault(str(error), parameter="name")]) from error
        try:
            parent = name_of(form.parent, "parent")
            return await self._place({request.name: parent}, bool(form.move))
        except (InstanceError, RequestConflict) as error:
            problem = problem_of(error)
            fault = Fault(problem.detail, pointer(("parent",)))
            raise Problem(problem.status, problem.detail, [fault]) from error


class PlaceClasses(_Place):
    """Places many classes."""

    path = "/classes"
    title = "place_classes"
    reads: ClassVar = {"application/json": ["PlaceClassesRequest"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Place up to 1,000 classes in this order, each below its parent in the taxonomy or at the
        top. Either all are placed or none. This is one durable event.

        The rules are those of `PUT /classes/{name}`; `errors` names the first class at fault.
        """
        form = decode(_many, await self.body(request))
        return await self._place(parents_of(form.parents), bool(form.move))

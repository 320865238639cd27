"""PUT /classes/{name} and POST /classes: place classes in the taxonomy, and describe them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec
from msgspec import UNSET

from manyclass.core.descriptions import PARTS
from manyclass.core.errors import DimensionConflict, InstanceError, RequestConflict
from manyclass.core.event import Event
from manyclass.core.event_parts import class_names
from manyclass.core.instance import Instance
from manyclass.service.http.auth import Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import NULL, decode, name_of, names_of, parents_of
from manyclass.service.http.problems import Fault, Place, Problem, invalid, pointer, problem_of
from manyclass.service.http.schemas.put_class import (
    ClassesPut,
    DescribedClass,
    PutClassesRequest,
    PutClassRequest,
)
from manyclass.service.http.time_slice import TimeSlice

_one = msgspec.json.Decoder(PutClassRequest)
_many = msgspec.json.Decoder(PutClassesRequest)
_NOTHING = "Give one of `parent`, `title`, `description`, `alt_labels` and `vector`."


class _Put(ChangeCall):
    tag = "names"
    scope = Scope.LEARN
    statuses = (409,)
    writes: ClassVar = {"application/json": ["ClassesPut"]}

    async def _submit(
        self, parents: Mapping[str, str | int | None], moves: bool, described: Sequence[Event]
    ) -> bytes:
        """Place classes and describe classes: all or none."""
        events = [Event.place(parents, moves), *described] if parents else described
        return msgspec.json.encode(ClassesPut((await self._engine.submit(events))[-1].seq))


class PutClass(_Put):
    """Places one class, describes it, or both."""

    method = "PUT"
    path = "/classes/{name:name}"
    title = "put_class"
    reads: ClassVar = {"application/json": ["PutClassRequest"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Place a class below its parent in the taxonomy, or at the top; describe it; or do both.
        This is one durable event, or two of which both or none take effect.

        The class need not be learned yet. A parent that is not in the taxonomy is added at the top;
        it need not be a class. If the class has another parent, the answer is 409 unless `move` is
        true; its children move with it. If this would make a cycle or a path of more than 32
        classes, the answer is 422.

        `title`, `description`, `alt_labels` and `vector` describe the class. Parts that are absent
        stay as they are, and null removes a part. Answers show the `title` beside the name, and the
        search of `GET /classes` finds the class by its title and other names.
        """
        form = decode(_one, await self.body(request))
        try:
            class_names([request.name])
        except InstanceError as error:
            raise Problem(422, str(error), [Fault(str(error), parameter="name")]) from error
        described = _described(request.name, form)
        parents = {} if form.parent is UNSET else {request.name: name_of(form.parent, "parent")}
        if not parents and not described:
            raise invalid(_NOTHING)
        try:
            return await self._submit(parents, bool(form.move), described)
        except DimensionConflict:
            raise
        except (InstanceError, RequestConflict) as error:
            problem = problem_of(error)
            fault = Fault(problem.detail, pointer(("parent",)))
            raise Problem(problem.status, problem.detail, [fault]) from error


class PutClasses(_Put):
    """Places and describes many classes."""

    path = "/classes"
    title = "put_classes"
    reads: ClassVar = {"application/json": ["PutClassesRequest"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Place up to 1,000 classes in this order, each below its parent in the taxonomy or at the
        top, and describe up to 1,000 `classes`. Either all of it is done or nothing.

        All placements are one durable event, and each description is one. The rules are those of
        `PUT /classes/{name}`; `errors` names the first class at fault.
        """
        form = decode(_many, await self.body(request))
        parents = parents_of(form.parents or {})
        described: list[Event] = []
        positions: list[int] = []  # of the classes that are described
        time_slice = TimeSlice()
        for position, each in enumerate(form.classes or ()):
            try:
                events = _put(each, parents)
            except (InstanceError, Problem) as error:
                raise problem_of(error).within("classes", position) from error
            described += events
            positions += [position] * len(events)
            if time_slice.is_over:
                await time_slice.renew()
        if not parents and not described:
            raise invalid("Give `parents`, `classes`, or both.", "classes")
        try:
            return await self._submit(parents, bool(form.move), described)
        except DimensionConflict as conflict:
            position = positions[conflict.position - bool(parents)]
            raise problem_of(conflict).within("classes", position) from conflict
        except RequestConflict as conflict:
            problem = problem_of(conflict)
            place = _place_of(conflict.where[-1], form)
            raise Problem.at(problem.status, problem.detail, *place) from conflict


def _place_of(name: str, form: PutClassesRequest) -> Place:
    """Return the place in a request of the parent that it gives a class."""
    for position, each in enumerate(form.classes or ()):
        if each.parent is not UNSET and str(each.name) == name:
            return "classes", position, "parent"
    return "parents", name


def _put(form: DescribedClass, parents: dict[str, str | int | None]) -> list[Event]:
    """Return the events that describe a class; note its parent if it has one."""
    try:
        [name] = class_names(names_of([form.name], "class"))
    except InstanceError as error:
        raise invalid(str(error), "class") from error
    described = _described(name, form)
    if form.parent is not UNSET:
        parent = name_of(form.parent, "parent")
        if parents.setdefault(name, parent) != parent:
            raise invalid(f"The class {name!r} has two parents in this request.", "parent")
    elif not described:
        raise invalid(_NOTHING)
    return described


def _described(name: str, form: PutClassRequest | DescribedClass) -> list[Event]:
    """Return the event that describes a class, or none. Raises InstanceError."""
    given = {part: getattr(form, part) for part in PARTS}
    changes = {part: value for part, value in given.items() if value is not UNSET}
    if form.vector is not UNSET:
        is_null = form.vector == NULL
        changes["vector"] = None if is_null else Instance({}).with_vector_of_json(form.vector)
    return [Event.describe(name, changes)] if changes else []

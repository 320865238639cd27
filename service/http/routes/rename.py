"""POST /classes/{name}: rename a class, merge it into another, or release a former name."""

from typing import ClassVar

import msgspec

from manyclass.core.errors import RenameConflict
from manyclass.core.event import Event
from manyclass.service.http.auth import Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode, name_of
from manyclass.service.http.problems import invalid
from manyclass.service.http.schemas.rename import Renamed, RenameRequest

_decoder = msgspec.json.Decoder(RenameRequest)


class RenameClass(ChangeCall):
    """Renames one class."""

    path = "/classes/{name:name}"
    title = "rename_class"
    tag = "names"
    scope = Scope.ADMIN
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["RenameRequest"]}
    writes: ClassVar = {"application/json": ["Renamed"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Rename a class, merge it into another, or release a former name. This is a durable event.

        From now on, events that name the former class are learned under its present name. A renamed
        class is ranked under its new name at once. A merged class is no longer ranked; its events
        count for the other class after a rebuild, which begins within a second. Until its end,
        rankings lack them; the answer has `rebuilds`, and `GET /rebuild` has `merged`. Events that
        are not in the history are lost for the merged class.

        `{"release": true}` makes a former name a class of its own again: events sent under this
        name count for it after a rebuild, which begins within a second.

        The node of the class in the taxonomy gets the new name too. If both of two merged classes
        have nodes, the children of the merged class move below the other class.

        The answer is 409 if a class has the new name already (merge into it instead), or if the
        children of a merged class would be too deep in the taxonomy.
        """
        form = decode(_decoder, await self.body(request))
        given = [each for each in (form.rename, form.merge_into, form.release) if each is not None]
        if len(given) != 1:
            raise invalid("Give one of `rename`, `merge_into` and `release`.")
        if form.release is not None:
            [result] = await self._engine.submit([Event.release(request.name)])
            return msgspec.json.encode(Renamed(result.seq, self._engine.keeps_history))
        merges = form.rename is None
        next_name = form.merge_into if merges else form.rename
        to = name_of(next_name, "rename")
        if str(to) == request.name:
            raise RenameConflict("the class has this name already", "choose another name")
        if merges:
            events = self._engine.model.merge(request.name, str(to))
        else:
            events = [Event.rename(request.name, str(to))]
        results = await self._engine.submit(events)
        rebuilds = merges and self._engine.keeps_history
        return msgspec.json.encode(Renamed(results[0].seq, rebuilds))

"""POST /classes/{name}: rename a class, or merge it into another."""

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

        From then on the former name stands for the present one in everything that is taught. A
        renamed class ranks under its next name at once. A merged one is ranked no more; what was
        taught of it counts for the other class once the history was learned again, which begins
        within a second. Without a history, and for events older than it, that part is lost.

        `{"release": true}` lets a former name be that of a class of its own again: what was taught
        under it counts for it once the history was learned again, which begins within a second.

        409 to rename to a class that exists (merge into it), and for a class in the taxonomy.
        """
        form = decode(_decoder, await self.body(request))
        given = [each for each in (form.rename, form.merge_into, form.release) if each is not None]
        if len(given) != 1:
            raise invalid("Give one of `rename`, `merge_into` and `release`.")
        if form.release is not None:
            [result] = await self._engine.submit([Event.release(request.name)])
            return msgspec.json.encode(Renamed(result.seq))
        merges = form.rename is None
        next_name = form.merge_into if merges else form.rename
        to = name_of(next_name, "rename")
        if str(to) == request.name:
            raise RenameConflict("the class has this name already", "give another one")
        [result] = await self._engine.submit([Event.rename(request.name, str(to), merges)])
        return msgspec.json.encode(Renamed(result.seq))

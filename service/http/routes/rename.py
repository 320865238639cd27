"""POST /classes/{name}: rename a class, or merge it into another."""

from typing import ClassVar

import msgspec
from msgspec import UNSET

from manyclass.core.errors import RenameConflict
from manyclass.core.event import Event
from manyclass.service.http.auth import Scope
from manyclass.service.http.decoding import decode, name_of
from manyclass.service.http.hot_call import ChangeCall, HotRequest
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

    async def answer(self, request: HotRequest) -> bytes:
        """Rename a class, or merge it into another. This is a durable event.

        From then on the former name stands for the present one in everything that is taught. A
        renamed class ranks under its next name at once. A merged one is ranked no more; what was
        taught of it counts for the other class once the history was learned again, which begins
        within a second. Without a history, and for events older than it, that part is lost.

        409 to rename to a class that exists (merge into it), and for a class in the taxonomy.
        """
        form = decode(_decoder, await self.body(request))
        if (form.rename is UNSET) == (form.merge_into is UNSET):
            raise invalid("Give one of `rename` and `merge_into`.")
        merges = form.rename is UNSET
        given = form.merge_into if merges else form.rename
        to = name_of(None if isinstance(given, msgspec.UnsetType) else given, "rename")
        if str(to) == request.name:
            raise RenameConflict("the class has this name already", "give another one")
        [result] = await self._engine.submit([Event.rename(request.name, str(to), merges)])
        return msgspec.json.encode(Renamed(result.seq))

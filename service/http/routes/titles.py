"""POST /titles: the titles of some classes."""

from typing import ClassVar

import msgspec

from manyclass.core.descriptions import Description
from manyclass.core.event_parts import class_names
from manyclass.service.http.auth import Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode, names_of
from manyclass.service.http.schemas.titles import Title, TitlesAnswer, TitlesRequest

_decoder = msgspec.json.Decoder(TitlesRequest)


class GiveTitles(ChangeCall):
    """Gives the titles of some classes."""

    path = "/titles"
    title = "titles"
    tag = "names"
    scope = Scope.RANK
    statuses = ()
    reads: ClassVar = {"application/json": ["TitlesRequest"]}
    writes: ClassVar = {"application/json": ["TitlesAnswer"]}

    async def answer(self, request: CallRequest) -> bytes:
        """Return the titles of up to 1,000 classes. Nothing changes.

        It is for answers that have the names of classes only, such as `GET /events` and
        `GET /review`; rankings and lists of classes have the titles themselves. A class without a
        title is left out. A former name has the title of its class.
        """
        form = decode(_decoder, await self.body(request))
        model = self._engine.model
        titles = []
        for name in class_names(names_of(form.classes, "classes")):
            described = model.descriptions.get(model.aliases.get(name, name), Description())
            if described.title is not None:
                titles.append(Title(name, described.title))
        return msgspec.json.encode(TitlesAnswer(titles))

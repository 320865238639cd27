"""POST /learners: add a shadow."""

from typing import ClassVar

import msgspec

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.history.peer_rebuild import PeerRebuild
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.problems import Fault, Problem
from manyclass.service.http.schemas.add_learner import AddLearnerRequest, LearnerAdded

_decoder = msgspec.json.Decoder(AddLearnerRequest)


class AddLearner(ChangeCall):
    """Adds a shadow."""

    path = "/learners"
    title = "add_learner"
    tag = "learners"
    scope = Scope.ADMIN
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["AddLearnerRequest"]}
    writes: ClassVar = {"application/json": ["LearnerAdded"]}

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        rebuilds: PeerRebuild,
    ) -> None:
        super().__init__(settings, engine, keys, budget)
        self._rebuilds = rebuilds

    async def answer(self, request: CallRequest) -> bytes:
        """Add a shadow, without a restart. It ranks and learns every event from now on.

        The addition is a durable event and holds for every process on the store and after a
        restart, also if the settings do not name it. With `history`, the shadow also learns the
        whole history, by a rebuild as in `POST /rebuild`; the answer then comes when the rebuild is
        done.
        A shadow that is there already stays as it is.

        The answer is 404 for a text that is not a learner; 409 for the primary learner, for
        more than 15 shadows, or while a rebuild is in progress with `history`; 503 if memory is
        short.
        """
        form = decode(_decoder, await self.body(request))
        try:
            name = Options.parse(form.learner).specification
        except OptionError as error:
            raise Problem(404, str(error), [Fault(str(error), "#/learner")]) from error
        if not form.history:
            seq, name = await self._engine.add_shadow(name)
            return msgspec.json.encode(LearnerAdded(seq, name, None))
        report = await self._rebuilds.run(self._engine.rebuild_state, name)
        return msgspec.json.encode(LearnerAdded(report.seq, name, report))

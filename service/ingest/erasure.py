"""Erases instances that wait for a label, from the queue of review and from memory, on every
process of a store."""

import asyncio
import logging
from collections.abc import Collection
from typing import Final

from manyclass.service.errors import with_hint
from manyclass.service.ingest.peer_lookup import PeerLookup
from manyclass.service.ingest.peer_messages import Erased
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.store.errors import StoreError

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 10.0


class Erasure:
    """Erases waiting instances here, and tells the other processes to do it too.

    Belongs to the event loop.
    """

    def __init__(self, queue: ReviewQueue, pending: PendingLabels, peers: PeerLookup) -> None:
        self._queue = queue
        self._pending = pending
        self._peers = peers

    async def run(self) -> None:
        """Erase the instances that other processes have erased, until the task is cancelled."""
        while True:
            await self._follow(await self._peers.erased.get())

    async def of_origin(self, source: str | None, batch: str | None) -> int:
        """Erase the instances of a source, of a batch, or of both; return how many waited in the
        queue. Raises StoreError.
        """
        erased = Erased(source, batch)
        waiting = await asyncio.to_thread(self._queue.erase, source, batch)
        await asyncio.to_thread(self._erase_in_memory, erased)
        await self._peers.tell_erased([erased])
        return waiting

    async def of_ids(self, ids: Collection[str]) -> None:
        """Erase the instances of these ids, which a label by id could teach. Raises StoreError."""
        if ids:
            erased = Erased.of_ids(ids)
            for each in erased:
                await asyncio.to_thread(self._queue.remove, each.ids)
                self._erase_in_memory(each)
            await self._peers.tell_erased(erased)

    async def _follow(self, erased: Erased) -> None:
        """Erase what another process has erased. Its instances leave the store there already."""
        await asyncio.to_thread(self._erase_in_memory, erased)
        while True:
            try:
                if erased.ids:
                    await asyncio.to_thread(self._queue.remove, erased.ids)
                else:
                    await asyncio.to_thread(self._queue.erase, erased.source, erased.batch)
                return
            except StoreError as error:
                log.error("erased instances may be in the review queue: %s", with_hint(error))
            await asyncio.sleep(RETRY_SECONDS)

    def _erase_in_memory(self, erased: Erased) -> None:
        # A ranked instance has no batch.
        self._pending.erase(erased.source if erased.batch is None else None, erased.ids)

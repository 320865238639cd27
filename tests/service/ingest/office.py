"""Processes as their peers see them: stand-ins for their clusters, stores and messages."""

import asyncio
import threading

from manyclass.core.instance import Instance
from manyclass.service.ingest.peer_lookup import PeerLookup
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.stored_instance import StoredInstance
from manyclass.service.observability.metrics import Metrics
from manyclass.service.store.protocol import Heartbeat, PeerMessage, Process
from tests.service.faulty import PATIENCE, Clock, Gate


class Office:
    """Delivers messages from process to process, and keeps a copy of each."""

    def __init__(self):
        self.desks = {}
        self.sent = []
        self.error = None
        self.gate = Gate()
        self.deaf = set()  # receive no messages

    def process(self, name):
        desk = self.desks[name] = Desk(self, name)
        return desk

    def post(self, sender, messages):
        self.gate.pass_through()
        if self.error is not None:
            raise self.error
        for name, body in messages:
            self.sent.append((sender, name, body))
            if name in self.desks and name not in self.deaf:
                desk = self.desks[name]
                desk.loop.call_soon_threadsafe(
                    desk.peer_lookup.on_message, PeerMessage(sender, body)
                )

    async def has_sent(self, messages):
        """Return when this number of messages was sent and all were received."""
        while len(self.sent) < messages:
            await asyncio.to_thread(int)
        await asyncio.sleep(0)


class Desk:
    """A process as its peers see it; stands in for its cluster and its store."""

    def __init__(self, office, name):
        self.office = office
        self.name = name
        self.shared = self
        self.clock = Clock()
        self.pending = PendingLabels(60.0, 10**8, self.clock)
        self.metrics = Metrics()
        self.peer_lookup = PeerLookup(self, self.pending, self.metrics, lambda *_: None)
        self.loop = asyncio.get_running_loop()

        self.heartbeat = None
        self.polls = 0

    async def poll(self):
        self.polls += 1
        if self.office.error is not None:
            return None
        alive = [Process(each.name, 7, False, 0.0, 1) for each in self.office.desks.values()]
        self.heartbeat = Heartbeat(7, False, [], alive)
        return self.heartbeat

    def peers(self):
        processes = [] if self.heartbeat is None else self.heartbeat.processes
        return [process.name for process in processes if process.name != self.name]

    def post(self, messages):
        assert threading.current_thread() is not threading.main_thread()
        self.office.post(self.name, messages)

    async def find(self, *ids):
        """Return the peers' answers without letting the time pass."""
        return await asyncio.wait_for(self._answers(ids), PATIENCE)

    def ask(self, *ids):
        return asyncio.create_task(self._answers(ids))

    async def _answers(self, ids):
        """Return the instance of each id with its age, or the reason for its absence."""
        found = await self.peer_lookup.find(list(ids))
        return {
            name: (Instance.from_bytes(each.data), each.age)
            if isinstance(each, StoredInstance)
            else each
            for name, each in found.items()
        }


async def processes(*names):
    """Return a process of each name; they all know of each other."""
    office = Office()
    desks = [office.process(name) for name in names]
    for desk in desks:
        await desk.poll()
    return desks

"""No acknowledged event is lost or learned twice, however often the process is killed."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.store import open_store
from manyclass.service.store.errors import LogTrimmed
from tests.service.store.waiting import until
from tests.system.process import PATIENCE, Service, learned

CLIENTS = 4
WHOLE_LOG = 100_000  # snapshots kept: so many that the log is never trimmed


class Client:
    """Sends events one after the other, each with an id and a class of its own.

    Unacknowledged events are sent again, as a careful client does. Now and then the client
    has one of its classes forgotten.
    """

    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)
        self.acknowledged = []
        self.waiting = []
        self.leaving = None  # the class that is being forgotten, and may already be
        self.forgotten = set()
        self.made = 0

    def present(self):
        """Return the classes that must be there."""
        return set(self.acknowledged) - self.forgotten - {self.leaving}

    def send_until(self, url, stopped):
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            while not stopped.is_set():
                try:
                    self.send(http)
                except httpx.TransportError:
                    return

    def send(self, http):
        if self.leaving is None and self.random.random() < 0.1 and self.present():
            self.leaving = self.random.choice(sorted(self.present()))
        if self.leaving is not None:
            self.forget(http)
        if not self.waiting:
            self.waiting = [self.event() for _ in range(self.random.choice([1, 1, 1, 20]))]
        if len(self.waiting) == 1:
            answer = http.post("/learn", json=self.waiting[0])
        else:
            answer = http.post("/learn", json={"events": self.waiting})
        assert answer.status_code == 200, answer.text
        counts = answer.json()
        assert counts["accepted"] + counts["duplicates"] == len(self.waiting)
        self.acknowledged += [event["event_id"] for event in self.waiting]
        self.waiting = []

    def forget(self, http):
        answer = http.delete(f"/classes/{self.leaving}")
        assert answer.status_code in (200, 404), answer.text  # 404: done before the kill
        self.forgotten.add(self.leaving)
        self.leaving = None

    def event(self):
        self.made += 1
        name = f"{self.number}-{self.made}"
        features = {f"f{self.random.randrange(50)}": self.random.random() + 0.1 for _ in range(8)}
        vector = [self.random.random() - 0.5 for _ in range(8)]
        return {"features": features, "vector": vector, "classes": [name], "event_id": name}


class Photographer:
    """Takes one snapshot after the other: kills come too fast for the schedule."""

    def __init__(self):
        self.taken = 0

    def send_until(self, url, stopped):
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            while not stopped.is_set():
                try:
                    answer = http.post("/snapshots")
                except httpx.TransportError:
                    return
                assert answer.is_success, answer.text
                self.taken += 1


def acknowledged_by(clients):
    """Return the number of events that are acknowledged."""
    return sum(len(client.acknowledged) for client in clients)


def often(snapshots, keep, name):
    """Return a case of many kills."""
    return pytest.param(20, snapshots, keep, id=name, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("kills", "snapshots", "keep"),
    [
        pytest.param(3, False, WHOLE_LOG, id="a few times"),
        often(False, WHOLE_LOG, "log only"),
        often(True, WHOLE_LOG, "with snapshots"),
        often(True, 2, "with a trimmed log"),
    ],
)
def test_killed_again_and_again(tmp_path, kills, snapshots, keep):
    service = Service(tmp_path, snapshot_events=40 if snapshots else 0, snapshot_keep=keep)
    photographers = [Photographer()] if snapshots else []
    clients, moments = [Client(number) for number in range(CLIENTS)], random.Random(7)
    for _ in range(kills):
        service.start()
        counts = learned(service.url)
        for client in clients:
            assert client.present() <= set(counts)
            assert client.forgotten.isdisjoint(counts)
        assert set(counts.values()) <= {1}
        stopped = threading.Event()
        senders = [*clients, *photographers]
        with ThreadPoolExecutor(len(senders)) as pool:
            done = [pool.submit(sender.send_until, service.url, stopped) for sender in senders]
            # The kill comes after some more events, and mostly amid a snapshot.
            enough = acknowledged_by(clients) + moments.randrange(60)
            until(lambda least=enough: acknowledged_by(clients) >= least)
            if photographers:
                enough = photographers[0].taken + moments.randrange(2)
                until(lambda least=enough: photographers[0].taken >= least)
            service.kill()
            stopped.set()
            for each in done:
                each.result(PATIENCE)
    service.start()
    with httpx.Client(base_url=service.url) as http:
        for client in clients:
            if client.waiting or client.leaving:
                client.send(http)
    acknowledged = [name for client in clients for name in client.acknowledged]
    assert len(acknowledged) > kills
    present = set().union(*(client.present() for client in clients))
    assert learned(service.url) == dict.fromkeys(present, 1)
    assert all(photographer.taken > 0 for photographer in photographers)
    service.stop()
    if keep == WHOLE_LOG:
        assert digest_left_by(service) == digest_of_a_clean_run(service, acknowledged)
    else:
        assert digest_left_by(service) == digest_from_the_snapshot_before(service, keep)


def store_of(service):
    """Return the store of a stopped service, to be closed."""
    return closing(open_store(f"sqlite:{service.store}", time.time))


def digest_left_by(service):
    """Return the digest of the state in the snapshot that the clean stop took."""
    with store_of(service) as store:
        newest = store.snapshots()[0]
        assert newest.seq == store.last_seq
        return Model.load(store.open_snapshot(newest.seq)).digest()


def digest_of_a_clean_run(service, acknowledged):
    """Return the digest of a model that applies the log from its first event."""
    with store_of(service) as store:
        model = Model(Options.of(DEFAULT_LEARNER), text=DEFAULT_TEXT)
        ids = []
        for seq, data in store.read(0):
            event = Event.from_bytes(data)
            if event.kind == "learn":
                ids.append(event.event_id)
            model.apply(seq, event)
        assert sorted(ids) == sorted(acknowledged)
        return model.digest()


def digest_from_the_snapshot_before(service, keep):
    """Return the digest of the last but one snapshot plus the events after it."""
    with store_of(service) as store:
        *kept, base = store.snapshots()
        assert len(kept) == keep
        assert base.seq == 0  # of the history
        with pytest.raises(LogTrimmed):  # the log behind them is gone
            next(store.read(0))
        model = Model.load(store.open_snapshot(kept[1].seq))
        for seq, data in store.read(model.seq):
            model.apply(seq, Event.from_bytes(data))
        return model.digest()

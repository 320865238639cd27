"""Nothing acknowledged is lost, nothing learned twice, however often the process is killed."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from core.event import Event
from core.model import Model
from core.options import Options
from service.store import open_store
from tests.system.process import PATIENCE, Service, learned

KILLS = 20
CLIENTS = 4


class Client:
    """Sends events one after the other, each with an id and a class of its own.

    What was sent and not acknowledged is sent again, as a careful client does.
    """

    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)
        self.acknowledged = []
        self.waiting = []
        self.made = 0

    def send_until(self, url, stopped):
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            while not stopped.is_set():
                try:
                    self.send(http)
                except httpx.TransportError:
                    return

    def send(self, http):
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

    def event(self):
        self.made += 1
        name = f"{self.number}-{self.made}"
        features = {f"f{self.random.randrange(50)}": self.random.random() + 0.1 for _ in range(8)}
        return {"features": features, "classes": [name], "event_id": name}


@pytest.mark.parametrize("snapshot_events", [0, 40], ids=["log only", "with snapshots"])
def test_killed_again_and_again(tmp_path, snapshot_events):
    # so many are kept that the log is whole to its first event, and can be replayed at the end
    service = Service(tmp_path, snapshot_events=snapshot_events, snapshot_keep=100_000)
    clients, moments = [Client(number) for number in range(CLIENTS)], random.Random(7)
    for _ in range(KILLS):
        service.start()
        counts = learned(service.url)
        for client in clients:
            assert all(counts.get(name) == 1 for name in client.acknowledged)
        assert set(counts.values()) <= {1}
        stopped = threading.Event()
        with ThreadPoolExecutor(CLIENTS) as pool:
            done = [pool.submit(client.send_until, service.url, stopped) for client in clients]
            stopped.wait(moments.uniform(0.02, 0.4))  # the moment of the kill
            service.kill()
            stopped.set()
            for each in done:
                each.result(PATIENCE)
    service.start()
    with httpx.Client(base_url=service.url) as http:
        for client in clients:
            if client.waiting:
                client.send(http)
    acknowledged = [name for client in clients for name in client.acknowledged]
    assert len(acknowledged) > KILLS
    assert learned(service.url) == dict.fromkeys(acknowledged, 1)
    service.stop()
    assert digest_left_by(service) == digest_of_a_clean_run(service, acknowledged)


def digest_left_by(service):
    """The digest of the state in the snapshot that the clean stop took."""
    store = open_store(f"sqlite:{service.store}", time.time)
    try:
        newest = store.snapshots()[0]
        assert newest.seq == store.last_seq
        return Model.load(store.open_snapshot(newest.seq)).digest()
    finally:
        store.close()


def digest_of_a_clean_run(service, acknowledged):
    """The digest of a model that applies the log from its first event."""
    store = open_store(f"sqlite:{service.store}", time.time)
    try:
        model = Model(Options())
        ids = []
        for seq, data in store.read(0):
            event = Event.from_bytes(data)
            ids.append(event.event_id)
            model.apply(seq, event)
        assert sorted(ids) == sorted(acknowledged)
        return model.digest()
    finally:
        store.close()

"""Sends every kind of request, good and bad, to two processes on one Redis until stopped.

The tests read the metrics of the processes, not these answers.
"""

import random
import threading

import httpx

from deploy.tests.programs import PATIENCE
from tests.service.serving import NDJSON

FEATURES = 5000  # more than the processes are told to keep
CLASSES = 60


class Load:
    """Callers of these processes, from the begin to the end of the `with` it is used in."""

    def __init__(self, urls):
        self._urls = urls
        self._ending = threading.Event()
        self._callers = [
            threading.Thread(target=self._call, args=(number,)) for number in range(len(urls) * 2)
        ]

    def __enter__(self):
        for caller in self._callers:
            caller.start()
        return self

    def __exit__(self, *_):
        self._ending.set()
        for caller in self._callers:
            caller.join(PATIENCE)

    def _call(self, number):
        chance = random.Random(number)
        own, other = self._urls[number % 2], self._urls[(number + 1) % 2]
        with httpx.Client(timeout=PATIENCE) as client:
            while not self._ending.is_set():
                self._round(client, chance, own, other)

    def _round(self, client, chance, own, other):
        def instance():
            return {"features": [f"f{chance.randrange(FEATURES)}" for _ in range(10)]}

        def event():
            return {**instance(), "classes": [f"c{chance.randrange(CLASSES)}"]}

        for url in (own, other):
            name = f"q-{chance.getrandbits(60)}"
            least = {"min_confidence": 0.1} if url == own else {}  # some abstain, some do not
            client.post(f"{own}/rank", json={**instance(), "id": name, **least})
            client.post(f"{url}/learn", json={"id": name, "classes": ["late"]})
        client.post(f"{own}/learn", json={"id": "never ranked", "classes": ["x"]})
        client.put(f"{own}/classes/late", json={"parent": "placed"})
        client.post(f"{own}/learn", json={"events": [event() for _ in range(20)]})
        twice = {**event(), "event_id": f"e-{chance.getrandbits(60)}"}
        for sent in (twice, twice, {**twice, "classes": ["in conflict"]}, {"of no": "kind"}):
            client.post(f"{own}/learn", json=sent)
        lines = '{"features": ["a"], "classes": ["x"]}\nnot JSON\n'
        client.post(f"{own}/learn", content=lines, headers=NDJSON)
        client.post(f"{own}/rank", json={**instance(), "min_seq": 10**15})
        client.get(f"{own}/stats")

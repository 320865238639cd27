"""Load on a running service: named scenarios, instances drawn from real text.

    locust -f load_tests/locustfile.py --host http://127.0.0.1:8000 Mixed

A key, if the service wants one, is taken from MANYCLASS_KEY.
"""

import os
from itertools import count, cycle, islice

import msgspec
import numpy as np
from locust import FastHttpUser, constant, events, stats, task

from manyclass.cli.demo.novel import text
from manyclass.core.words import instances, sentences
from manyclass.training.accuracy import Accuracy

PREPARED = 20_000  # bodies made before the start, so that the load does not include making them

INSTANCES = list(
    islice(
        ((made, word) for words in sentences(text()) for made, word in instances(words)), PREPARED
    )
)
RANK = [msgspec.json.encode({"features": made}) for made, _ in INSTANCES]
LEARN = [msgspec.json.encode({"features": made, "classes": [word]}) for made, word in INSTANCES]
USERS = count()

stats.STATS_NAME_WIDTH = 30  # the tables fit a page also where there is no terminal to measure


RANKS = []  # of the true classes before learning: proof that the service really learns


class Mixed(FastHttpUser):
    """Ten to rank, two to learn at once, one to learn later by its id. Asks again at once."""

    wait_time = constant(0)

    def on_start(self):
        start = next(USERS) * 997 % PREPARED  # every reader begins at another page
        self.positions = cycle([*range(start, PREPARED), *range(start)])
        self.headers = {"Content-Type": "application/json"}
        if key := os.environ.get("MANYCLASS_KEY"):
            self.headers["Authorization"] = f"Bearer {key}"

    @task(10)
    def rank(self):
        self.ask("/rank", RANK[next(self.positions)])

    @task(2)
    def learn(self):
        answer = self.ask("/learn", LEARN[next(self.positions)])
        if answer:
            RANKS.append(answer["rank_before"] or 0)

    @task(1)
    def learn_late(self):
        position = next(self.positions)
        ranked = self.ask("/rank", RANK[position], "/rank, for a late label")
        if ranked:
            label = {"id": ranked["id"], "classes": [INSTANCES[position][1]]}
            self.ask("/learn", msgspec.json.encode(label), "/learn, a late label")

    def ask(self, path, body, name=None):
        """Return the answer to a request; None, with a failure in the results, if it is wrong."""
        with self.client.post(
            path, data=body, headers=self.headers, name=name or path, catch_response=True
        ) as response:
            try:
                answer = msgspec.json.decode(response.content or b"")
            except msgspec.DecodeError:
                answer = None
            if response.status_code == 200 and isinstance(answer, dict) and "seq" in answer:
                response.success()
                return answer
            response.failure(f"{response.status_code}: {str(answer)[:200]}")
            return None


@events.quitting.add_listener
def say_what_was_learned(environment, **_):
    if RANKS:
        found = Accuracy.of(np.array(RANKS, np.int32))
        print(
            f"learned at once: {found.rows:,} events,"
            f" progressive R1 {found.r1:.3f}, R5 {found.r5:.3f}"
        )

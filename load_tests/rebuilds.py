"""Rebuilds of a service on SQLite, killed at random moments of them.

python -m load_tests.rebuilds [--kills 50] [--seed 1] [--events 3000]

Events are taught in rounds while others are corrected and deleted. In each round a rebuild is
asked for and the service is killed by SIGKILL at a random moment. In the end one rebuild may end:
the state then has to be, byte for byte but for its place in the log, that of a service that was
taught the amended events from the start; no acknowledged event may be lost, and the files may hold
no trace of a deleted event.

Ends with status 1 otherwise.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from deploy.ports import free_port
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT

READY_SECONDS = 60.0
SECRET = "zzdeleted"  # in each deleted event, and in no other


class Service:
    """The service as a process of its own, started anew after each kill."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._port = free_port()
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "manyclass", "serve", "--port", str(self._port)]
        self._process = subprocess.Popen(
            [*command, "--store", f"sqlite:{self._store}", "--snapshot-keep", "1"],
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            with suppress(OSError):
                self.call("GET", "/readyz")
                return
            time.sleep(0.05)
        raise SystemExit("the service is not ready")

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            content = answer.read()
        return content if path == "/state" else json.loads(content)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def content_of(model: Model) -> tuple[object, object]:
    """Return the state without its place in the log: number, marks, ids of events."""
    frozen = model.freeze()
    facts = {name: frozen.facts[name] for name in frozen.facts if name not in ("seq", "restores")}
    arrays = {name: each.tobytes() for name, each in frozen.arrays.items()}
    arrays.pop("recent_events")
    return facts, arrays


class Story:
    """Teaches and amends; keeps the amended events, by number."""

    def __init__(self, service: Service, random: Random) -> None:
        self._service = service
        self._random = random
        self._made = 0
        self.effective: dict[int, tuple[list[str], str]] = {}

    def teach(self, events: int) -> None:
        """Teach events in batches; each is acknowledged, or the program ends."""
        for _ in range(0, events, 100):
            batch = [self._event() for _ in range(100)]
            answer = self._service.call("POST", "/learn", {"events": list(map(_form, batch))})
            first = answer["seq"] - len(batch) + 1
            self.effective |= dict(enumerate(batch, first))

    def amend(self, events: int) -> None:
        """Correct half of so many events, and delete others, which hold the secret."""
        for _ in range(events // 2):
            seq = self._random.choice(list(self.effective))
            other = f"c{self._random.randrange(20)}"
            self._service.call("PUT", f"/events/seq:{seq}", {"classes": [other]})
            self.effective[seq] = (self.effective[seq][0], other)
            secret = {"features": [SECRET, "f1"], "classes": [SECRET], "source": SECRET}
            deleted = self._service.call("POST", "/learn", secret)["seq"]
            self._service.call("DELETE", f"/events/seq:{deleted}")

    def rebuild_and_kill(self) -> bool:
        """Ask for a rebuild and kill the service; return whether the rebuild had ended before."""
        ended = threading.Event()

        def ask() -> None:
            with suppress(OSError):
                self._service.call("POST", "/rebuild")
                ended.set()

        asking = threading.Thread(target=ask)
        asking.start()
        ended.wait(self._random.uniform(0, 0.6))
        self._service.kill()
        asking.join()
        self._service.start()
        return ended.is_set()

    def expected(self) -> Model:
        """Return the state of a service that was taught the amended events and no others."""
        model = Model(Options.parse("svm"), text=DEFAULT_TEXT)
        for number, seq in enumerate(sorted(self.effective), 1):
            features, name = self.effective[seq]
            model.apply(number, Event.learn(Instance(features), [name]))
        return model

    def _event(self) -> tuple[list[str], str]:
        self._made += 1
        drawn = self._random.sample(range(200), 5)
        return [f"f{each}" for each in drawn], f"c{drawn[0] % 20}"


def _form(event: tuple[list[str], str]) -> dict[str, object]:
    return {"features": event[0], "classes": [event[1]]}


def run(kills: int, seed: int, events: int, folder: Path) -> str:
    """Return a line on the run; SystemExit for a state that differs, or a trace of a deletion."""
    service = Service(folder / "store.db")
    try:
        story = Story(service, Random(seed))
        ended = 0
        for _ in range(kills):
            story.teach(events // kills)
            story.amend(6)
            ended += story.rebuild_and_kill()
        report = service.call("POST", "/rebuild")
        state = Model.load([service.call("GET", "/state")])
        left = [each.name for each in folder.iterdir() if SECRET.encode() in each.read_bytes()]
    finally:
        service.kill()
    if content_of(state) != content_of(story.expected()):
        raise SystemExit("the rebuilt state is not that of the amended events")
    if left:
        raise SystemExit(f"a deleted event is left in {left}")
    return f"{kills} kills, {ended} behind the end of a rebuild; the last one: {report}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(run(options.kills, options.seed, options.events, Path(folder)))


if __name__ == "__main__":
    main()

"""Rebuilds of a service on SQLite or Redis, killed at random moments of them.

python -m load_tests.rebuilds [--kills 50] [--seed 1] [--events 3000] [--redis] [--no-archive]

Events are taught in rounds, of features and of texts, half of them by the id of a ranked instance,
while others are corrected and deleted, by the ids of their texts. In each round a rebuild is asked
for, most under another analysis of texts, and the service is killed by SIGKILL at a random moment:
it then has the former analysis or that one. In the end one rebuild may end: the state then has to
be, byte for byte except its log position, that of a service that was begun with the analysis
and taught the amended events; no acknowledged event may be lost, and the files may hold no trace of
a deleted event.

With `--redis` there are three processes on one Redis server, with an archive in a folder. Killed
is the process that leads, another one, all of them, or the server. All states have to be equal.

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
from manyclass.core.text import TextAnalysis
from tests.redis_server import RedisServer

READY_SECONDS = 180.0
ANSWER_SECONDS = 600.0
SECRET = "zzdeleted"  # in each deleted event, and in no other
ANALYSES = ("words", "words+pairs", "words+pairs+characters", "words+unmarked+symbols")
Taught = tuple[dict[str, Any], str]  # the instance of an event as it was sent, and its class


class Process:
    """A process of the service, started anew after each kill."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._port = free_port()
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "manyclass", "serve", "--port", str(self._port)]
        self._process = subprocess.Popen([*command, *self._options], stderr=subprocess.DEVNULL)

    def await_ready(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            with suppress(OSError):
                self.call("GET", "/readyz")
                return
            if self._process.poll() is not None:  # as a supervisor does
                self.start()
            time.sleep(0.05)
        raise SystemExit("the service is not ready")

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            content = answer.read()
        return content if path == "/state" else json.loads(content)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class OnAStore:
    """A service on a store, of one process or more."""

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer of a process."""
        raise NotImplementedError

    def analysis(self) -> str:
        """Return the analysis of texts by which the state has learned."""
        return str(self.call("GET", "/stats")["settings"]["MANYCLASS_TEXT"])


class OnSqlite(OnAStore):
    """One process on a SQLite file."""

    longest_wait = 0.6  # seconds from asking for a rebuild to the kill
    has_archive = True  # or keeps the history itself

    def __init__(self, folder: Path, random: Random) -> None:
        del random  # there is one thing to kill
        self._process = Process("--store", f"sqlite:{folder}/store.db", "--snapshot-keep", "1")
        self._process.await_ready()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer of the process."""
        return self._process.call(method, path, body)

    def kill_and_start(self) -> None:
        self.end()
        self._process.start()
        self._process.await_ready()

    def states(self) -> list[bytes]:
        return [self.call("GET", "/state")]

    def end(self) -> None:
        self._process.kill()


class OnRedis(OnAStore):
    """Three processes on one Redis server that loses no acknowledged write."""

    longest_wait = 3.0
    has_archive = True

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self._server = RedisServer(folder / "redis")
        self._server.start()
        options = ["--store", self._server.url, "--snapshot-keep", "1", "--store-seconds", "2"]
        if self.has_archive:
            options += ["--archive", f"file://{folder}/archive"]
        self._processes = [Process(*options) for _ in range(3)]
        self._await_ready()

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer of a process; ask others while the store or a process is away."""
        until = time.monotonic() + READY_SECONDS
        while True:
            try:
                return self._random.choice(self._processes).call(method, path, body)
            except urllib.error.HTTPError as error:
                if path == "/rebuild" or error.code != 503 or time.monotonic() > until:
                    raise
            except OSError:
                if path == "/rebuild" or time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def kill_and_start(self) -> None:
        what = self._random.choice(["leader", "other", "all", "server"])
        if what == "server":
            self._server.kill()
            self._server.start()
        else:
            leads = [self._leads(each) for each in self._processes]
            for process, is_leader in zip(self._processes, leads, strict=True):
                if what == "all" or is_leader == (what == "leader"):
                    process.kill()
                    process.start()
        self._await_ready()

    def states(self) -> list[bytes]:
        return [each.call("GET", "/state") for each in self._processes]

    def end(self) -> None:
        for each in self._processes:
            each.kill()
        self._server.stop()

    def _leads(self, process: Process) -> bool:
        try:
            stats = process.call("GET", "/stats")
        except OSError:
            return False
        return bool(stats["leads"])

    def _await_ready(self) -> None:
        for each in self._processes:
            each.await_ready()


class OnRedisWithoutArchive(OnRedis):
    """The same without an archive: the history is what the log holds."""

    has_archive = False


Service = OnSqlite | OnRedis


def content_of(model: Model) -> tuple[object, object]:
    """Return the state without its position in the log: number, marks, ids of events."""
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
        self.effective: dict[int, Taught] = {}

    def teach(self, events: int) -> None:
        """Teach events; each is acknowledged, or the program ends."""
        for _ in range(events):
            event = self._event()
            instance = event[0]
            if self._made % 2:
                self._service.call("POST", "/rank", instance | {"id": f"q{self._made}"})
                instance = {"id": f"q{self._made}"}
            form = instance | {"classes": [event[1]], "event_id": f"e{self._made}"}
            self.effective[self._service.call("POST", "/learn", form)["seq"]] = event

    def amend(self, events: int) -> None:
        """Correct half of so many events, and delete others, which hold the secret."""
        for _ in range(events // 2):
            seq = self._random.choice(list(self.effective))
            other = f"c{self._random.randrange(20)}"
            try:
                self._service.call("PUT", f"/events/seq:{seq}", {"classes": [other]})
                self.effective[seq] = (self.effective[seq][0], other)
            except urllib.error.HTTPError as error:
                if error.code != 404 or self._service.has_archive:
                    raise  # without an archive a rebuild trims the history with the log
            self._made += 1
            name = f"{SECRET}{self._made}"
            secret = {"text": f"{SECRET} f1", "id": name, "source": SECRET}
            self._service.call("POST", "/rank", secret)
            label = {"id": name, "classes": [SECRET], "event_id": f"e{self._made}"}
            self._service.call("POST", "/learn", label)
            with suppress(urllib.error.HTTPError):  # 404: a first answer was lost
                self._service.call("DELETE", f"/events/{name}")

    def rebuild_and_kill(self) -> bool:
        """Ask for a rebuild and kill the service; return whether the rebuild had ended before."""
        ended = threading.Event()
        former = self._service.analysis()
        text = self._random.choice([former, *ANALYSES])

        def ask() -> None:
            with suppress(OSError):
                self._service.call("POST", "/rebuild", {"text": text})
                ended.set()

        asking = threading.Thread(target=ask)
        asking.start()
        ended.wait(self._random.uniform(0, self._service.longest_wait))
        self._service.kill_and_start()
        asking.join()
        if (now := self._service.analysis()) not in (former, text):
            raise SystemExit(f"the analysis is {now}; it was {former}, and {text} was asked for")
        return ended.is_set()

    def expected(self) -> Model:
        """Return the state of a service that was taught the amended events and no others."""
        text = TextAnalysis.parse(self._service.analysis())
        model = Model(Options.parse("svm"), text=text)
        for number, seq in enumerate(sorted(self.effective), 1):
            given, name = self.effective[seq]
            if "text" in given:
                instance = text.instance_of(given["text"]).instance
            else:
                instance = Instance(given["features"])
            model.apply(number, Event.learn(instance, [name]))
        return model

    def _event(self) -> Taught:
        self._made += 1
        drawn = self._random.sample(range(200), 5)
        names = [f"f{each}" for each in drawn]
        sent = {"text": " ".join(names) + " café c++"} if self._made % 3 else {"features": names}
        return sent, f"c{drawn[0] % 20}"


def run(kills: int, seed: int, events: int, folder: Path, kind: type[Service] = OnSqlite) -> str:
    """Return a line on the run; SystemExit for a state that differs, or a trace of a deletion."""
    random = Random(seed)
    service = kind(folder, random)
    try:
        story = Story(service, random)
        ended = 0
        for _ in range(kills):
            story.teach(events // kills)
            story.amend(6)
            ended += story.rebuild_and_kill()
            if not service.has_archive:
                _rebuilt(service)  # an event amended before that is beyond its reach
        report = _rebuilt(service)
        states = [Model.load([each]) for each in service.states()]
        expected = content_of(story.expected())
        time.sleep(1)  # Redis removes a file that it has rewritten in a thread
        left = [
            each.name
            for each in folder.rglob("*")
            if each.is_file() and SECRET.encode() in each.read_bytes()
        ]
    finally:
        service.end()
    if any(content_of(each) != expected for each in states):
        raise SystemExit("the rebuilt state is not that of the amended events")
    if left:
        raise SystemExit(f"a deleted event is left in {left}")
    return f"{kills} kills, {ended} behind the end of a rebuild; the last one: {report}"


def _rebuilt(service: Service) -> Any:
    """Return the report of a rebuild, as soon as one can end."""
    until = time.monotonic() + READY_SECONDS
    while True:
        try:
            return service.call("POST", "/rebuild")
        except OSError:  # the lease of a killed leader lasts for some seconds
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--no-archive", action="store_true", help="of --redis")
    options = parser.parse_args()
    on_redis = OnRedisWithoutArchive if options.no_archive else OnRedis
    kind = on_redis if options.redis else OnSqlite
    with tempfile.TemporaryDirectory() as folder:
        print(run(options.kills, options.seed, options.events, Path(folder), kind))


if __name__ == "__main__":
    main()

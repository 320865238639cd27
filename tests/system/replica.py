"""One of several processes on one Redis, its own network to Redis, and faults of both."""

import threading
import time
from contextlib import contextmanager

import httpx

from tests.system.process import PATIENCE, Service, get, post
from tests.system.proxy import PASS, Proxy, Settings, Way

HOLD, SWALLOW = Way(hold=True), Way(swallow=True)
FAULTS = {  # by name: the new state of the network, and an action on the open connections
    "cut": (PASS, Proxy.cut),
    "refuse": (Settings(accept=False), Proxy.cut),
    "refuse new": (Settings(accept=False), None),
    "delay requests": (Settings(requests=Way(delay=300)), None),
    "delay replies": (Settings(replies=Way(delay=300)), None),
    "delay beyond patience": (Settings(replies=Way(delay=10_000)), None),
    "hold": (Settings(HOLD, HOLD), None),
    "hold requests": (Settings(requests=HOLD), None),
    "hold replies": (Settings(replies=HOLD), None),
    "swallow": (Settings(SWALLOW, SWALLOW), None),
    "swallow requests": (Settings(requests=SWALLOW), None),
    "swallow replies": (Settings(replies=SWALLOW), None),
    "forget": (PASS, Proxy.forget),
    "half-close requests": (PASS, lambda proxy: proxy.half_close("requests")),
    "half-close replies": (PASS, lambda proxy: proxy.half_close("replies")),
}


def event(name, **more):
    """Return an event with a class, an event id and a feature of this name."""
    return {"features": {"g": 1, f"only-{name}": 1}, "classes": [name], "event_id": name, **more}


class Replica:
    """One process of the service, and its own connection to Redis."""

    def __init__(self, number, folder, redis, record, **settings):
        folder = folder / f"process-{number}"
        folder.mkdir()
        self.number = number
        self.proxy = Proxy(redis.port)
        store = redis.url_through(self.proxy.port)
        self.service = Service(folder, store=store, **settings)
        self.record = record
        self.serving = False  # restored, and undisturbed since
        self.epoch = 0  # grows with every disturbance of the process
        self.lock = threading.RLock()  # held by the disturbing thread
        self.network = threading.Lock()  # held by the thread that breaks the network
        self.ending = threading.Event()  # set to start no more

    def get(self, path, **params):
        answer = get(f"{self.service.url}{path}", **params)
        assert answer.status_code == 200, f"{path} at process {self.number}: {answer.text}"
        return answer.json()

    def post(self, path, body=None):
        return post(f"{self.service.url}{path}", body)

    def accepted(self, path, body):
        """Return the answer to a request that must be accepted."""
        answer = self.post(path, body)
        assert answer.status_code == 200, f"{path} at process {self.number}: {answer.text}"
        return answer.json()

    def learn(self, name):
        """Learn the event of this name; return its seq."""
        seq = self.record.acknowledged[name] = self.accepted("/learn", event(name))["seq"]
        return seq

    def learns(self):
        """Return true if the process is ready to learn; it ranks a little earlier."""
        return get(f"{self.service.url}/readyz").status_code == 200

    def bring_up(self):
        """Start the process, repeatedly as a supervisor does, until it ranks with its state."""
        gives_up = time.monotonic() + PATIENCE
        with self.lock:
            while not self.ending.is_set():
                self.service.launch()
                if self._comes_up(gives_up):
                    self._disturb(serving=True)
                    return
                if time.monotonic() > gives_up:
                    self.record.break_promise(f"no start of process {self.last_words()}")
                    return
                if not self.ending.is_set():
                    self.record.trouble("start failed", self.last_words())
                    self.ending.wait(0.5)

    def kill(self):
        self._break("kill", self.service.kill)

    def terminate(self):
        """Send SIGTERM, and wait for the end."""
        self._break("terminate", self.service.stop)

    def freeze(self):
        self._break("freeze", self.service.freeze)

    def _break(self, kind, act):
        with self.lock:
            self._disturb()
            self.record.trouble(kind, self.number)
            act()

    def thaw(self):
        with self.lock:
            self.service.thaw()
            self.record.trouble("thaw", self.number)
            self._disturb(serving=True)

    @contextmanager
    def fault(self, name):
        """Make the network between the process and Redis fail in this context."""
        settings, act = FAULTS[name]
        self.record.trouble(f"fault: {name}", self.number)
        self.proxy.settings = settings
        if act is not None:
            act(self.proxy)
        try:
            yield
        finally:
            self.proxy.settings = PASS
            self.record.trouble("fault healed", self.number)

    def look_after(self):
        """Start the process again if it has ended by itself, and note a broken promise."""
        if self.serving and self.lock.acquire(blocking=False):
            try:
                if self.serving and self.service.has_ended() and not self.ending.is_set():
                    self._disturb()
                    self.record.break_promise(
                        f"process {self.number} ended by itself: {self.last_words()}"
                    )
                    self.bring_up()
            finally:
                self.lock.release()

    def close(self):
        """End the process in any state, and its network."""
        self.ending.set()
        self.serving = False
        self.service.close()
        self.proxy.close()

    def last_words(self):
        """Return number, exit code and the end of the log."""
        lines = self.service.log.read_text().splitlines()[-3:]
        return f"{self.number}, exit code {self.service.process.poll()}: {' / '.join(lines)}"

    def _disturb(self, serving=False):
        self.serving = serving
        self.epoch += 1

    def _comes_up(self, gives_up):
        while not self.ending.is_set() and not self.service.has_ended():
            if time.monotonic() > gives_up:
                self.service.kill()
                return False
            if self.service.has_address() and self._is_restored():
                return True
            time.sleep(0.02)
        return False

    def _is_restored(self):
        try:
            answer = get(f"{self.service.url}/readyz", to="rank")
        except httpx.TransportError:
            return False
        return answer.status_code == 200

"""Callers of several processes of a service, and the record of all requests and answers."""

import random
import threading
import time
from collections import Counter, defaultdict, deque
from contextlib import contextmanager

import httpx

HANGS = 120  # seconds after which a caller gives up: far more than any limit that is checked
MOST_TOLD = 50  # broken promises reported in full
RECENT = 1000  # acknowledged events that rankers choose from
# Idle connections are dropped before the service does it, which might be amid a request.
CONNECTIONS = httpx.Limits(keepalive_expiry=2)

# Answers of a process that is up, with or without Redis and the way there.
ALLOWED = {
    "learn": {200, 503},
    "learn by id": {200, 503, 404, 410},  # the process that ranked it may be gone
    "rank": {200},
    "rank min_seq": {200, 503},
}
DIMENSION = 3  # of the vectors of every second event; few, as each class keeps a sum of them


class Record:
    """Requests, their answers, troubles of the service, and broken promises.

    `limits` has the seconds that a request of each kind may take.
    """

    def __init__(self, limits):
        self.limits = limits
        self.began = time.monotonic()
        self.answers = Counter()  # by (kind, status or error)
        self.seconds = defaultdict(list)  # by kind, of requests to undisturbed processes
        self.troubles = []  # (seconds since the begin, action)
        self.done = Counter()  # the number of times by action
        self.broken = []  # (seconds since the begin, broken promise)
        self.broken_more = 0
        self.acknowledged = {}  # event -> seq
        self.unacknowledged = set()  # sent, perhaps learned, and not sent again
        self.refused = set()  # of these, events that the service certainly has not learned
        self.repeated = 0  # answers that reported an earlier update by the event
        self.recent = deque(maxlen=RECENT)  # (event, seq), acknowledged
        self._lock = threading.Lock()

    def now(self):
        return round(time.monotonic() - self.began, 2)

    def trouble(self, kind, detail=""):
        with self._lock:
            self.troubles.append((self.now(), f"{kind} {detail}".strip()))
            self.done[kind] += 1

    def break_promise(self, what):
        with self._lock:
            if len(self.broken) < MOST_TOLD:
                self.broken.append((self.now(), what))
            else:
                self.broken_more += 1

    def asked(self, kind, replica, answer, status, seconds, undisturbed):
        """Note a request, and check that the answer is allowed and came in time."""
        what = f"{kind} at process {replica.number}: {status} after {seconds:.2f} s"
        with self._lock:
            self.answers[kind, status] += 1
            if undisturbed:
                self.seconds[kind].append(seconds)
        if undisturbed and seconds > self.limits[kind]:
            self.break_promise(f"{what}, the limit is {self.limits[kind]} s")
        allowed = ALLOWED[kind] if undisturbed else ALLOWED[kind] | {503}
        if answer is None:
            if undisturbed:
                self.break_promise(what)
        elif status not in allowed:
            self.break_promise(f"{what}: {answer.text[:500]}")
        elif status == 503 and int(answer.headers.get("retry-after", 0)) < 1:
            self.break_promise(f"{what} without Retry-After")

    def learned(self, events, answer):
        """Note acknowledged events."""
        with self._lock:
            self.repeated += answer["duplicates"]
            for event in events:
                name = event["classes"][0]
                self.acknowledged[name] = answer["seq"]
                self.recent.append((name, answer["seq"]))
        if answer["accepted"] + answer["duplicates"] != len(events):
            self.break_promise(f"{len(events)} events were sent, the answer counts {answer}")

    def given_up(self, name, answer):
        """Note an event without further retries after this answer, which may be None."""
        with self._lock:
            self.unacknowledged.add(name)
            if answer is not None and "may be learned" not in answer.json()["detail"]:
                self.refused.add(name)


class Caller:
    """Takes one turn after the other, in a thread, until it has ended."""

    def __init__(self, name, replicas, record, pause=0.0):
        self.name = name
        self.replicas = replicas
        self.record = record
        self.random = random.Random(name)
        self.turn_lock = threading.Lock()  # held while it takes a turn
        self._pause = pause
        self._ended = threading.Event()
        self._may = threading.Event()
        self._may.set()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._made = 0

    def start(self):
        self._thread.start()

    def end(self, seconds):
        """Return true if the caller came to its end."""
        self._ended.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @contextmanager
    def resting(self):
        """Pause the caller: it begins no other turn in this context."""
        self._may.clear()
        try:
            yield
        finally:
            self._may.set()

    def _work(self):
        try:
            with httpx.Client(timeout=HANGS, limits=CONNECTIONS) as self.http:
                while not self._ended.is_set() or self.has_more():
                    self._may.wait()
                    with self.turn_lock:
                        replica = self.some_replica()
                        wait = 0.05 if replica is None else self.turn(replica)
                    if wait or self._pause:
                        self._ended.wait(wait or self._pause)
                        time.sleep(0.01)  # also when it has ended and there is more to do
        except Exception as error:
            self.record.break_promise(f"{self.name} broke: {error!r}")
            raise

    def has_more(self):
        """Return true if work is left to do before the end."""
        return False

    def turn(self, replica):
        """Take a turn at a process; return the seconds to wait before the next one."""
        raise NotImplementedError

    def some_replica(self):
        """Return a random replica: usually a serving one, now and then any that runs."""
        up = [replica for replica in self.replicas if replica.serving]
        if not up or self.random.random() < 0.02:
            up = [replica for replica in self.replicas if replica.service.url]
        return self.random.choice(up) if up else None

    def ask(self, kind, replica, path, body):
        """Return the answer, or None without one."""
        epoch, serving = replica.epoch, replica.serving
        began = time.monotonic()
        try:
            answer = self.http.post(f"{replica.service.url}{path}", json=body)
            status = answer.status_code
        except httpx.TransportError as error:
            answer, status = None, type(error).__name__
        seconds = time.monotonic() - began
        undisturbed = serving and replica.epoch == epoch
        self.record.asked(kind, replica, answer, status, seconds, undisturbed)
        return answer

    def event(self, with_id=True):
        """Return an event with a class and a feature that no other event has."""
        self._made += 1
        name = f"{self.name}-{self._made}"
        features = {f"f{self.random.randrange(50)}": self.random.random() + 0.1 for _ in range(8)}
        event = {"features": features | {private(name): 1.0}, "classes": [name]}
        if self._made % 2:
            event["vector"] = [self.random.random() - 0.5 for _ in range(DIMENSION)]
        return event | {"event_id": name} if with_id else event

    def rank_first(self, kind, replica, event, min_seq=None):
        """Rank this event's private feature, and check that its class comes first."""
        body = {"features": {private(event): 1}}
        if min_seq is not None:
            body["min_seq"] = min_seq
        answer = self.ask(kind, replica, "/rank", body)
        if answer is None or answer.status_code != 200:
            return
        found = answer.json()
        if not found["ranked"] or found["ranked"][0]["class"] != event:
            self.record.break_promise(f"{kind} at process {replica.number}: no {event} in {found}")
        if min_seq is not None and found["seq"] < min_seq:
            self.record.break_promise(f"process {replica.number} is older than {min_seq}: {found}")


def private(event):
    """Return the name of the feature that only this event has."""
    return f"only-{event}"


def wait_after(answer):
    """Return the seconds of the service's Retry-After, at most 0.3."""
    return 0.1 if answer is None else min(0.3, float(answer.headers.get("retry-after", 0.1)))


class Learner(Caller):
    """Sends unacknowledged events again, under the same event id, to any process."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._waiting = []

    def has_more(self):
        return bool(self._waiting)

    def turn(self, replica):
        if not self._waiting:
            self._waiting = [self.event() for _ in range(self.random.choice([1, 1, 1, 10]))]
        many = {"events": self._waiting}
        body = many if len(self._waiting) > 1 else self._waiting[0]
        epoch = replica.epoch
        answer = self.ask("learn", replica, "/learn", body)
        if answer is None or answer.status_code != 200:
            return wait_after(answer)
        self.record.learned(self._waiting, answer.json())
        name = self._waiting[-1]["classes"][0]
        self._waiting = []
        if self.random.random() < 0.2 and replica.serving and replica.epoch == epoch:
            self.rank_first("rank", replica, name)
        return 0


class Careless(Caller):
    """Sends every event once, even after an error; half of them without an event id.

    A refused event must not be learned, an unanswered one at most once.
    """

    def turn(self, replica):
        event = self.event(with_id=self._made % 2 == 0)
        answer = self.ask("learn", replica, "/learn", event)
        if answer is None or answer.status_code != 200:
            self.record.given_up(event["classes"][0], answer)
            return wait_after(answer)
        self.record.learned([event], answer.json())
        return 0


class Late(Caller):
    """Ranks at one process and brings the label to any, by id."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._waiting = None  # the event, by id

    def has_more(self):
        return self._waiting is not None

    def turn(self, replica):
        if self._waiting is None:
            return self._rank(replica)
        answer = self.ask("learn by id", replica, "/learn", self._waiting)
        if answer is None or answer.status_code == 503:
            return wait_after(answer)
        if answer.status_code == 200:
            self.record.learned([self._waiting], answer.json())
        else:  # an earlier try may have been learned all the same
            self.record.given_up(self._waiting["classes"][0], None)
        self._waiting = None
        return 0

    def _rank(self, replica):
        event = self.event()
        body = {key: event[key] for key in ("features", "vector") if key in event}
        if self.random.random() < 0.5:
            body["id"] = f"given-{event['event_id']}"
        answer = self.ask("rank", replica, "/rank", body)
        if answer is None or answer.status_code != 200:
            return 0.05
        del event["features"]
        event.pop("vector", None)  # the ranked instance has it
        self._waiting = event | {"id": answer.json()["id"]}
        return 0


class Ranker(Caller):
    """Ranks at any process, partly for events that any process learned a moment ago."""

    def turn(self, replica):
        recent = self.record.recent
        if recent and self.random.random() < 0.5:
            event, seq = recent[-self.random.randint(1, min(len(recent), 20))]
            self.rank_first("rank min_seq", replica, event, min_seq=seq)
        else:
            features = {f"f{self.random.randrange(50)}": 1 for _ in range(5)}
            self.ask("rank", replica, "/rank", {"features": features})
        return 0

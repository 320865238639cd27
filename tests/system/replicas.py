"""Several processes on one Redis, their faults, and the promises that must hold."""

import random
import subprocess
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

import httpx

from manyclass.service.store import open_store
from tests.redis_server import RedisServer
from tests.system.callers import Careless, Late, Learner, Ranker, Record
from tests.system.process import PATIENCE, get, learned
from tests.system.replay import UpTo, differences, digest, recovered
from tests.system.replica import Replica
from tests.system.troubles import Troubles

WHOLE_LOG = 100_000  # snapshots kept: so many that the log is never trimmed
TOLD = {
    "states restored anew": "restoring the state from the store again:",
    "acknowledged events lost": "the store has lost acknowledged events:",
    "made room in a full store": "the store is full: taking a snapshot",
    "foreign entries skipped": "a foreign entry in the log was skipped",
}
FEATURES = [f"f{number}" for number in range(0, 50, 5)]  # compared one by one


@dataclass
class Result:
    """The result of a run. No promise was broken when `broken` is empty."""

    broken: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)


class Run(Troubles):
    """Redis, processes and callers; all of them end with the context.

    A request may take `margin` seconds beyond its limit, as times vary on a busy machine.
    """

    def __init__(
        self,
        folder,
        *,
        processes=3,
        store_seconds=2.0,
        rank_wait_seconds=0.5,
        margin=10.0,
        learners=3,
        careless=1,
        late=1,
        rankers=2,
        pause=0.0,
        appendfsync="always",
        seed=1,
        server=None,
        **settings,
    ):
        """`server` is used in place of a Redis of the run's own, such as a group with replicas."""
        self.record = Record(
            {
                "learn": store_seconds + margin,
                "learn by id": store_seconds + margin,
                "rank": margin,
                "rank min_seq": rank_wait_seconds + margin,
            }
        )
        self.random = random.Random(seed)
        self.redis = server or RedisServer(folder / "redis", appendfsync=appendfsync)
        self.ending = threading.Event()
        self._folder = folder
        self._settings = {
            "store_seconds": store_seconds,
            "rank_wait_seconds": rank_wait_seconds,
            **settings,
        }
        self._number = processes
        self._counts = {Learner: learners, Careless: careless, Late: late, Ranker: rankers}
        self._pause = pause
        self._threads = []
        self._compared = defaultdict(dict)  # seq -> process -> digest
        self._comparing = threading.Lock()
        self.replicas = []
        self.callers = []
        self.down = []  # (begin, end) of the times without Redis
        self.ranked_without_redis = 0

    # --- begin and end ---------------------------------------------------------------------------

    def __enter__(self):
        with ExitStack() as stack:
            stack.callback(self._end)
            self.redis.start()
            for _ in range(self._number):
                self.add_replica()
            with ThreadPoolExecutor() as pool:  # an empty store has to survive this
                list(pool.map(Replica.bring_up, self.replicas))
            assert all(replica.serving for replica in self.replicas), self.record.broken
            for replica in self.replicas:
                assert self.wait_for("ready to learn", replica.learns), self.record.broken
            self.in_background(self._supervise)
            stack.pop_all()
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        with ExitStack() as stack:  # everything, even after an error
            stack.callback(self.redis.stop)
            for replica in self.replicas:
                stack.callback(replica.close)
            for replica in self.replicas:
                replica.ending.set()
            self.ending.set()
            for caller in self.callers:
                caller.end(0)
        for thread in self._threads:
            thread.join(PATIENCE)

    def add_replica(self):
        """Add and return one more replica, not started."""
        replica = Replica(
            len(self.replicas), self._folder, self.redis, self.record, **self._settings
        )
        self.replicas.append(replica)
        return replica

    def start_callers(self):
        """Start the callers."""
        for kind, count in self._counts.items():
            for number in range(count):
                name = f"{kind.__name__.lower()}{number}"
                pause = 0 if kind is Ranker and not self._pause else self._pause
                caller = kind(name, self.replicas, self.record, pause=pause)
                self.callers.append(caller)
                caller.start()

    def in_background(self, work):
        """Do `work` in a thread; it has to end when `ending` is set."""

        def safely():
            try:
                work()
            except Exception as error:
                self.record.break_promise(f"the harness broke: {error!r}")
                raise

        thread = threading.Thread(target=safely, daemon=True)
        self._threads.append(thread)
        thread.start()

    def every(self, seconds, action):
        """Run the action in the background, once per interval."""
        began = time.monotonic()

        def work():
            turn = 1
            while not self.ending.wait(max(0, began + turn * seconds - time.monotonic())):
                action()
                turn += 1

        self.in_background(work)

    def _supervise(self):
        while not self.ending.wait(0.1):
            for replica in self.replicas:
                replica.look_after()

    # --- promises --------------------------------------------------------------------------------

    def wait_for(self, what, holds, seconds=PATIENCE):
        """Return the first true answer of `holds`; after the time, note a broken promise."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if answer := holds():
                    return answer
            except (httpx.TransportError, AssertionError):
                pass  # not yet
            time.sleep(0.02)
        self.record.break_promise(f"not within {seconds} s: {what}; {self._last_words()}")
        return None

    def _last_words(self):
        return "; ".join(replica.last_words() for replica in self.replicas)

    @contextmanager
    def quiet(self, seconds=PATIENCE):
        """Pause all callers; yield False if a caller's turn does not end in this time.

        A turn does not end while its process is frozen.
        """
        ends = time.monotonic() + seconds
        with ExitStack() as stack:
            for caller in self.callers:
                stack.enter_context(caller.resting())
            for caller in self.callers:
                if not caller.turn_lock.acquire(timeout=max(0, ends - time.monotonic())):
                    yield False
                    return
                stack.callback(caller.turn_lock.release)
            yield True

    def stats(self, replica):
        """Return /stats, with the digest of the state at `seq`."""
        stats = replica.get("/stats", digest="yes")
        with self._comparing:
            self._compared[stats["seq"]][replica.number] = stats["digest"]
        return stats

    def compare(self):
        """Wait until all serving processes have the same seq, and compare their states there."""
        with self.quiet() as quiet:
            if not quiet:
                self.record.break_promise("some caller waits for an answer")
            self.wait_for("all processes equally far and compared", self._compare_equally_far)

    def compare_if_equal(self, seconds=0.5):
        """Compare the states if the processes reach the same seq in this time; else go on."""
        ends = time.monotonic() + seconds
        with self.quiet(seconds) as quiet, suppress(httpx.TransportError, AssertionError):
            while quiet and not self._are_equally_far():  # errors: a process was disturbed
                if time.monotonic() > ends:
                    return
                time.sleep(0.02)
            if quiet:
                self.compare_now()

    def compare_now(self):
        for replica in self.replicas:
            if replica.serving:
                self.stats(replica)

    def _compare_equally_far(self):
        # A process that has not noticed a fault until now recovers between the two requests.
        if not self._are_equally_far():
            return False
        self.compare_now()
        return True

    def _are_equally_far(self):
        serving = [replica for replica in self.replicas if replica.serving]
        return len({replica.get("/stats")["seq"] for replica in serving}) <= 1

    def _check_digests(self):
        for seq, digests in sorted(self._compared.items()):
            if len(set(digests.values())) > 1:
                self.record.break_promise(f"digests differ at {seq}: {digests}")

    def _check_events(self, replica, counts):
        """Check that no acknowledged event is missing or doubled and no refused one is learned.

        No other event may be learned twice.
        """
        where = f"at process {replica.number}"
        missing = [name for name in self.record.acknowledged if counts.get(name, 0) == 0]
        doubled = [name for name, times in counts.items() if times > 1]
        known = self.record.acknowledged.keys() | self.record.unacknowledged
        unknown = counts.keys() - known
        refused = counts.keys() & self.record.refused
        for what, names in [
            ("missing", missing),
            ("doubled", doubled),
            ("unknown", unknown),
            ("refused and learned", refused),
        ]:
            if names:
                self.record.break_promise(f"{len(names)} {what} {where}: {sorted(names)[:10]}")

    def finish(self):
        """Heal, compare, stop and replay everything; return the Result."""
        for thread in self._stop_background():
            self.record.break_promise(f"{thread.name} of the harness hangs")
        for replica in self.replicas:
            self.wait_for(f"process {replica.number} up", lambda each=replica: each.serving)
        ends = time.monotonic() + PATIENCE
        for caller in self.callers:
            if not caller.end(max(0, ends - time.monotonic())):
                self.record.break_promise(f"{caller.name} could not come to its end")
        self.compare()
        states = {replica.number: self.state(replica) for replica in self.replicas}
        if len({digest(state) for state in states.values()}) > 1:
            self.record.break_promise(f"classes or features differ: {differences(states)}")
        for replica in self.replicas:
            self._check_events(replica, states[replica.number]["classes"])
        last = self.stats(self.replicas[0])
        for replica in self.replicas:
            try:
                replica.terminate()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                self.record.break_promise(f"process {replica.number} did not stop well: {error}")
        self.kill_redis(down=0)  # data it did not persist is gone now
        replayed = self._replay(last)
        self._check_digests()
        return self._result(last, replayed)

    def _stop_background(self):
        """Stop the background threads, after their repairs; return those still alive."""
        self.ending.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        return [thread for thread in self._threads if thread.is_alive()]

    def state(self, replica):
        """Return the classes with their counts, some features, and the seq; learning must rest."""
        seq = replica.get("/stats")["seq"]
        state = {"classes": learned(replica.service.url), "features": {}}
        for name in FEATURES:
            state["features"][name] = get(f"{replica.service.url}/features/{name}").json()
        after = replica.get("/stats")["seq"]
        return state | {"seq": [seq, after]}

    def _replay(self, last):
        """Return (base, seq, digest) of replays from the newest, a middle and the first state."""
        store = open_store(f"{self.redis.url}", time.time)
        try:
            recovered(store)
            bases = [info.seq for info in store.snapshots()]
            replayed = []
            for base in dict.fromkeys([bases[0], bases[len(bases) // 2], bases[-1]]):
                model = recovered(UpTo(store, base))
                replayed.append((base, model.seq, model.digest()))
                self._compared[model.seq][f"replayed from {base}"] = model.digest()
                if model.seq != last["seq"]:
                    self.record.break_promise(
                        f"replayed from {base} the log ends at {model.seq}, not at {last['seq']}"
                    )
        finally:
            store.close()
        return replayed

    def told(self):
        """Return the number of times the logs of the processes have each message."""
        logs = [replica.service.log.read_text() for replica in self.replicas]
        return {what: sum(log.count(words) for log in logs) for what, words in TOLD.items()}

    def _result(self, last, replayed):
        record = self.record
        several = [seq for seq, digests in self._compared.items() if len(digests) > 1]
        broken = [f"after {at} s: {what}" for at, what in record.broken]
        if record.broken_more:
            broken.append(f"and {record.broken_more} more")
        requests = {}
        for kind, seconds in sorted(record.seconds.items()):
            ordered = sorted(seconds)
            requests[kind] = {
                "answers": {
                    str(status): count
                    for (each, status), count in sorted(record.answers.items(), key=str)
                    if each == kind
                },
                "p50": round(ordered[len(ordered) // 2], 4),
                "p99": round(ordered[len(ordered) * 99 // 100], 4),
                "longest": round(ordered[-1], 3),
                "limit": record.limits[kind],
            }
        traffic = defaultdict(int)
        for replica in self.replicas:
            for what, count in replica.proxy.counts.items():
                traffic[what] += count
        return Result(
            broken,
            {
                "seconds": record.now(),
                "processes": len(self.replicas),
                "settings": self._settings,
                "done": dict(record.done),
                "redis away, seconds": round(sum(end - begin for begin, end in self.down), 1),
                "ranked without Redis": self.ranked_without_redis,
                "events acknowledged": len(record.acknowledged),
                "of these known by a retry": record.repeated,
                "events given up": len(record.unacknowledged),
                "of these refused": len(record.refused),
                "log": last["seq"],
                "told": self.told(),
                "requests": requests,
                "seqs compared": len(several),
                "digests compared": sum(len(self._compared[seq]) for seq in several),
                "replayed": [{"from": base, "to": seq} for base, seq, _ in replayed],
                "network": dict(traffic),
                "troubles": [f"{at} {what}" for at, what in record.troubles],
            },
        )

"""Two processes open one SQLite store under every name of its file, while appends fail.

python -m load_tests.interleavings [--count 200] [--seed 1] [--folder FOLDER]

Each interleaving is a random order of steps of two processes: open the store by its name, a
symbolic link, a linked folder, a hard link or a bind mount; remove the lock file; append; append
with a write that fails before or after it is done; close; be killed; open it twice in one process.
In the end the store is opened once more, and has to hold every acknowledged event under its number,
and nothing of an append that was said to have failed.

Ends with status 1 when an acknowledged event is lost, or two stores were open at once.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from random import Random

from manyclass.service.store.errors import StoreError
from manyclass.service.store.sqlite.store import SqliteStore

STEPS = 24


def clock():
    return 1.0


class FailingConnection:
    """A connection whose next insert of an event fails, before it is done or after."""

    def __init__(self, connection, when):
        self._connection = connection
        self._when = when

    def execute(self, statement, *values):
        fails = statement.startswith("INSERT INTO events")
        if fails and self._when == "before":
            self._fail()
        result = self._connection.execute(statement, *values)
        if fails:
            self._fail()
        return result

    def _fail(self):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error

    def close(self):
        self._connection.close()


def work(pipe):
    """Do what comes over the pipe, with one store."""
    store = None
    while True:
        command, argument = pipe.recv()
        try:
            if command == "open":
                opened = SqliteStore(Path(argument), clock)  # beside the one there is, if any
                if store is not None:
                    store.close()
                store = opened
                pipe.send(("done", store.last_seq))
            elif command in ("append", "before", "after"):
                if command != "append":
                    with store._file.writing() as connection:
                        pass
                    store._file._connection = FailingConnection(connection, command)
                pipe.send(("done", store.append(argument)))
            elif command == "read":
                pipe.send(("done", list(store.read(0))))
            elif command == "close":
                if store is not None:
                    store.close()
                store = None
                pipe.send(("done", None))
        except StoreError as error:
            pipe.send((type(error).__name__, str(error)))


class Worker:
    """A process with one store or none."""

    def __init__(self):
        self.has_store = False
        self._begin()

    def _begin(self):
        self._pipe, other = get_context("spawn").Pipe()
        self._process = get_context("spawn").Process(target=work, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def ask(self, command, argument=None):
        self._pipe.send((command, argument))
        return self._pipe.recv()

    def close(self):
        self.ask("close")
        self.has_store = False

    def kill(self):
        self._process.kill()
        self._process.join()
        self._pipe.close()
        self.has_store = False

    def restart(self):
        self.kill()
        self._begin()


class Names:
    """The names one file is reached by."""

    def __init__(self, folder):
        self.file = folder / "store.db"
        self._bind = folder / "bound.db"
        (folder / "elsewhere").mkdir()
        self.by_kind = {"its name": self.file}
        self._folder = folder

    def make(self):
        link = self._folder / "elsewhere" / "link.db"
        link.symlink_to(self.file)
        hard = self._folder / "elsewhere" / "hard.db"
        os.link(self.file, hard)
        linked = self._folder / "linked"
        linked.symlink_to(self._folder)
        self.by_kind |= {
            "symbolic link": link,
            "hard link": hard,
            "linked folder": linked / self.file.name,
        }
        self._bind.touch()
        bound = subprocess.run(["mount", "--bind", self.file, self._bind], capture_output=True)
        if bound.returncode == 0:
            self.by_kind["bind mount"] = self._bind

    def remove(self):
        if "bind mount" in self.by_kind:
            subprocess.run(["umount", self._bind], check=True)


class Interleaving:
    """One store, two workers, and what was acknowledged."""

    def __init__(self, folder, random, workers):
        self.random = random
        self.workers = workers
        self.names = Names(folder)
        self.acknowledged = {}
        self.failed = set()  # payloads of appends that were said to have failed
        self.excused = set()  # of these, those whose process ended before its next write
        self.pending = {}  # worker -> its last append that failed, until it writes again
        self.made = 0
        self.happened = Counter()
        self.broken = []

    def run(self):
        first = self.workers[0]
        self.open(first, "its name")
        self.append(first, "append")
        self.names.make()
        for _ in range(STEPS):
            self.step(self.random.choice(self.workers))
        for worker in self.workers:
            worker.close()
        self.excused.update(*self.pending.values())
        self.check(first)
        self.names.remove()

    def step(self, worker):
        kind = self.random.choice(list(self.names.by_kind))
        steps = {"open": 6, "append": 6, "before": 2, "after": 3, "close": 1, "kill": 1, "lock": 1}
        [what] = self.random.choices([*steps], steps.values())
        if what == "open":
            self.open(worker, kind)
        elif what == "lock":
            for each in self.names.by_kind.values():
                each.with_name(each.name + ".lock").unlink(missing_ok=True)
            self.happened["lock file removed"] += 1
        elif what == "kill":
            worker.restart()
            self.excused |= self.pending.pop(worker, set())
            self.happened["killed"] += 1
        elif worker.has_store and what == "close":
            worker.close()
            self.excused |= self.pending.pop(worker, set())
        elif worker.has_store:
            self.append(worker, what)

    def open(self, worker, kind):
        in_use = [each for each in self.workers if each.has_store]
        verdict, _ = worker.ask("open", str(self.names.by_kind[kind]))
        self.happened[f"open by {kind}: {verdict}"] += 1
        if verdict == "done":
            worker.has_store = True
            if in_use:
                self.broken.append(f"two stores were open at once, the second by {kind}")

    def append(self, worker, how):
        events = []
        for _ in range(self.random.randrange(1, 4)):
            self.made += 1
            events.append(b"event %d" % self.made)
        verdict, answer = worker.ask(how, events)
        if verdict == "done":
            first = answer - len(events) + 1
            self.acknowledged |= dict(enumerate(events, first))
            self.pending.pop(worker, None)
        else:
            self.failed |= set(events)
            self.pending[worker] = set(events)
        self.happened[f"{how}: {verdict}"] += 1

    def check(self, worker):
        verdict, answer = worker.ask("open", str(self.names.file))
        if verdict == "done":
            verdict, answer = worker.ask("read")
        worker.ask("close")
        if verdict != "done":
            lost = len(self.acknowledged)
            self.broken.append(f"{lost} acknowledged events lost: {answer}")
            self.happened["acknowledged events lost"] += lost
            return
        found = dict(answer)
        lost = [seq for seq, event in self.acknowledged.items() if found.get(seq) != event]
        self.happened["acknowledged events"] += len(self.acknowledged)
        if lost:
            self.broken.append(f"acknowledged events lost: {lost}")
            self.happened["acknowledged events lost"] += len(lost)
        if unwanted := set(found.values()) & self.failed - self.excused:
            self.broken.append(f"in the log though refused: {unwanted}")


def run(folder, seed, count):
    """Return what happened in all interleavings, and what was broken in which."""
    happened, broken = Counter(), []
    workers = [Worker(), Worker()]
    try:
        for number in range(count):
            place = folder / str(number)
            place.mkdir()
            interleaving = Interleaving(place, Random(f"{seed} {number}"), workers)
            try:
                interleaving.run()
            except BaseException:
                with suppress(subprocess.CalledProcessError):
                    interleaving.names.remove()
                raise
            happened += interleaving.happened
            broken += [(number, each) for each in interleaving.broken]
            shutil.rmtree(place)
    finally:
        for worker in workers:
            worker.kill()
    return happened, broken


def main():
    parser = argparse.ArgumentParser(description="Two processes on one SQLite store.")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the stores are made")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="manyclass-two-", dir=chosen.folder) as folder:
        happened, broken = run(Path(folder), chosen.seed, chosen.count)
    for what, count in sorted(happened.items()):
        print(f"{what:45} {count:7}")
    if not any(what.startswith("open by bind mount") for what in happened):
        print("no bind mounts: this user may not mount; they were left out")
    for number, what in broken[:20]:
        print(f"BROKEN {number}: {what}")
    print(
        f"{chosen.count} interleavings, {happened['acknowledged events lost']} acknowledged events"
        f" lost, {len({number for number, _ in broken})} interleavings broken"
    )
    print("verdict:", "broken" if broken else "kept")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

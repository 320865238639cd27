"""Damages the files of a SQLite store at random and checks each start on them.

python -m load_tests.damage [--count 5000] [--seed 1] [--folder /dev/shm]

Bits are flipped, ends cut, blocks of 512 and 4,096 bytes zeroed, doubled, and replaced by those of
another store or of the same one some time before: in the database after a clean stop, in the
database and the write-ahead log of a killed process, in snapshots, and in the mark. Each start has
to refuse with a reason and a hint, or bring back the very state that was acknowledged (by its
digest); a store that started then learns on and is started again.

Ends with status 1 when a start brought back another state.
"""

import argparse
import logging
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random

from benchmarks.report import Report, add_json_option
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.errors import RecoveryError
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store.errors import StoreError
from manyclass.service.store.snapshot_file import SnapshotFile
from manyclass.service.store.sqlite.store import SqliteStore

NAME = "store.db"
LARGEST_CUT = 8175
BLOCKS = (512, 4096)
OPTIONS = Options()


def example(random, seq):
    features = [f"f{random.randrange(300)}" for _ in range(12)]
    return Event.learn(Instance(features), [f"c{random.randrange(40)}"], f"id {seq}", seq)


def clock():
    return 1.0


def recovered(store):
    return recover(store, OPTIONS, clock, Recovery())


def learn(store, model, random, events):
    """Append events as the service does, several of them at a time, and apply them."""
    while events > 0:
        count = min(events, random.randrange(1, 6))
        batch = [example(random, model.seq + 1 + number) for number in range(count)]
        store.append([bytes(event) for event in batch])
        for event in batch:
            model.apply(model.seq + 1, event)
        events -= count


def take_snapshot(store, model):
    """Save one, keep three, and trim, as the service does."""
    store.save_snapshot(model.seq, model.dump())
    kept = [info.seq for info in store.snapshots()]
    for seq in kept[3:]:
        store.delete_snapshot(seq)
    store.trim(kept[:3][-1])


def build(folder, seed, stop):
    """Make a store in `folder`, with a copy of it as it was some time before in `folder`/earlier.

    `stop`: "clean", or "kill", which leaves a write-ahead log.
    """
    worker = get_context("fork").Process(target=_build, args=(folder, seed, stop))
    worker.start()
    worker.join()
    assert worker.exitcode == (0 if stop == "clean" else -signal.SIGKILL)
    return (folder / "digest").read_text()


def _build(folder, seed, stop):
    random = Random(seed)
    store = SqliteStore(folder / NAME, clock)
    model = recovered(store)
    for _ in range(5):
        learn(store, model, random, 120)
        take_snapshot(store, model)
    learn(store, model, random, 60)
    store.close()
    shutil.copytree(folder, folder / "earlier")
    store = SqliteStore(folder / NAME, clock)
    model = recovered(store)
    if stop == "kill":  # the database file then holds pages of several ages
        learn(store, model, random, 40)
        with closing(sqlite3.connect(folder / NAME)) as connection:
            connection.execute("PRAGMA wal_checkpoint")
    learn(store, model, random, 90)
    take_snapshot(store, model)
    learn(store, model, random, 70)
    (folder / "digest").write_text(model.digest())
    (folder / "state.snapshot").write_bytes(b"".join(model.dump()))
    if stop == "clean":
        take_snapshot(store, model)
        learn(store, model, random, 25)
        (folder / "digest").write_text(model.digest())
        store.close()
    else:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Subject:
    """A file to be damaged, beside the whole store it belongs to."""

    label: str
    folder: Path
    file: str  # in the folder
    digest: str
    ranges: list[tuple[int, int]]  # of the file, one of which a damage hits
    whole: bytes  # its content
    foreign: bytes  # the same file of another store
    earlier: bytes  # the same file some time before


def snapshot_ranges(path):
    """Return the ranges of a file with the bytes of its snapshots, in pieces of a page."""
    with closing(sqlite3.connect(path)) as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM chunks")]
    content = path.read_bytes()
    ranges = []
    for body in bodies:
        for begin in range(0, len(body) - 600, 4092):
            at = content.find(body[begin : begin + 500])
            if at >= 0:
                ranges.append((at, at + 500))
    assert ranges
    return ranges


def subjects(folder, seed):
    """Make the stores to damage: after a clean stop, and as a killed process leaves them."""
    for name in ("clean", "kill", "foreign"):
        (folder / name).mkdir()
    clean = build(folder / "clean", seed, "clean")
    build(folder / "foreign", seed + 1, "kill")
    killed = build(folder / "kill", seed, "kill")

    def subject(label, name, file, digest, ranges=None):
        whole, earlier, foreign = (
            each.read_bytes() if each.exists() else b""
            for each in (
                folder / name / file,
                folder / name / "earlier" / file,
                folder / "foreign" / file,
            )
        )
        ranges = ranges or [(0, len(whole))]
        return Subject(label, folder / name, file, digest, ranges, whole, foreign, earlier)

    log, mark = f"{NAME}-wal", f"{NAME}.mark"
    copy = folder / "copy.db"
    shutil.copy(folder / "clean" / NAME, copy)
    return [
        subject("database, clean stop", "clean", NAME, clean),
        subject("write-ahead log, killed", "kill", log, killed),
        subject("database, killed", "kill", NAME, killed),
        subject("snapshots in the database", "clean", NAME, clean, snapshot_ranges(copy)),
        subject("snapshot in a file", "kill", "state.snapshot", killed),
        subject("mark", "clean", mark, clean),
    ]


def damage(subject, random):
    """Return the kind of a damage, and the damaged bytes, which differ from those of the file."""
    while True:
        kind, content = _damage(subject, random)
        if content != subject.whole:
            return kind, content


def _damage(subject, random):
    content = bytearray(subject.whole)
    begin, end = random.choice(subject.ranges)
    position = random.randrange(begin, end)
    size = random.choice(BLOCKS)
    aligned = random.random() < 0.5 and end - begin > size
    position = position // size * size if aligned else position
    kind = random.choice(["flip", "flip", "cut", "cut", "zero", "double", "foreign", "earlier"])
    if kind == "flip":
        content[position] ^= 1 << random.randrange(8)
    elif kind == "cut":
        most = len(content) - 1 if random.random() < 0.2 else min(LARGEST_CUT, len(content) - 1)
        del content[len(content) - random.randint(1, most) :]
    elif kind == "zero":
        length = min(size, len(content) - position)
        content[position : position + length] = bytes(length)
    else:
        source = {"double": subject.whole, "foreign": subject.foreign, "earlier": subject.earlier}
        other = source[kind] or subject.whole
        at = random.randrange(max(1, len(other) - size))
        at = at // size * size if aligned else at
        if random.random() < 0.4 and position + size <= len(other):
            at = position  # a block that was written, or not written, at its own position
        block = other[at : at + size]
        if random.random() < 0.2:
            content[position:position] = block  # all behind it is moved
        else:
            content[position : position + len(block)] = block
    return kind, bytes(content)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a start after a damage."""

    verdict: str  # "equal", "refused", or what is wrong
    reason: str = ""
    later: str = ""  # the same, after the store went on learning

    @property
    def is_wrong(self):
        return self.verdict not in ("equal", "refused") or self.later not in ("", "equal")


@dataclass(frozen=True)
class Damage:
    """A damage, and its outcome."""

    number: int
    file: str
    kind: str
    outcome: Outcome


def start(subject, content, folder):
    """Start the store with this content instead of the subject's file; return the outcome."""
    if subject.file.endswith(".snapshot"):
        return _load(subject, content, folder)
    target = folder / "damaged"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for file in subject.folder.glob(f"{NAME}*"):
        if not file.name.endswith(("-shm", ".lock")):
            shutil.copy(file, target / file.name)
    (target / subject.file).write_bytes(content)
    try:
        with closing(SqliteStore(target / NAME, clock)) as store:
            model = recovered(store)
            if (digest := model.digest()) != subject.digest:
                return Outcome(f"wrong state at event {model.seq}")
            if store.last_seq != model.seq:
                return Outcome(f"the next number would be {store.last_seq + 1}")
            digest = _go_on(store, model)
    except (StoreError, RecoveryError) as error:
        return _refused(error)
    except Exception as error:
        return Outcome(f"crash: {error!r}")
    if digest is None:
        return Outcome("equal", later="refused to learn")
    try:
        with closing(SqliteStore(target / NAME, clock)) as store:
            is_equal = recovered(store).digest() == digest
    except (StoreError, RecoveryError) as error:
        return Outcome("equal", later=f"refused later: {error}")
    return Outcome("equal", later="equal" if is_equal else "wrong state later")


def _go_on(store, model):
    """Learn more, take a snapshot, return the digest; None if the store refuses to learn."""
    try:
        learn(store, model, Random(model.seq), 60)
    except StoreError:
        return None
    with suppress(StoreError):  # the service tells of it, and goes on
        take_snapshot(store, model)
    return model.digest()


def _load(subject, content, folder):
    file = folder / "damaged.snapshot"
    file.write_bytes(content)
    try:
        saved = SnapshotFile(file)
        model = Model.load(saved.open_snapshot(saved.snapshots()[0].seq))
    except StoreError as error:
        return _refused(error)
    return Outcome("equal" if model.digest() == subject.digest else "wrong state")


def _refused(error):
    hint = getattr(error, "hint", "")
    if not hint or not str(error):
        return Outcome(f"refused without a hint: {error!r}")
    return Outcome("refused", type(error).__name__)


def run(folder, seed, count):
    """Yield each of `count` damages to the stores; equal seeds give equal results."""
    chosen = subjects(folder, seed)
    for subject in chosen:
        if not subject.file.endswith(".snapshot"):
            assert start(subject, subject.whole, folder).verdict == "equal", subject.label
    for number in range(count):
        random = Random(f"{seed} {number}")
        subject = chosen[number % len(chosen)]
        kind, content = damage(subject, random)
        yield Damage(number, subject.label, kind, start(subject, content, folder))


def main():
    parser = argparse.ArgumentParser(description="Damage to the files of a SQLite store.")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the stores are made")
    add_json_option(parser)
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)  # recovery tells of each damaged snapshot
    began = time.monotonic()
    done = []
    with tempfile.TemporaryDirectory(prefix="manyclass-damage-", dir=chosen.folder) as folder:
        for each in run(Path(folder), chosen.seed, chosen.count):
            done.append(each)
            if len(done) % 500 == 0:
                wrong = sum(each.outcome.is_wrong for each in done)
                seconds = time.monotonic() - began
                print(f"{len(done)} damages, {wrong} wrong, {seconds:.0f} s", flush=True)
    report = Report(chosen)
    show(done, report)
    report.close()
    sys.exit(any(each.outcome.is_wrong for each in done))


def show(done, report):
    """Print the outcomes by file and kind of damage, then the wrong ones."""
    found = {("all", ""): Counter()}
    for each in sorted(done, key=lambda each: (each.file, each.kind)):
        verdict = each.outcome.verdict
        for key in ((each.file, each.kind), ("all", "")):
            counts = found.setdefault(key, Counter())
            counts[verdict if verdict in ("equal", "refused") else "wrong"] += 1
    rows = [
        {"file": file, "damage": kind, **{v: counts[v] for v in ("refused", "equal", "wrong")}}
        for (file, kind), counts in found.items()
    ]
    report.table(f"{len(done)} damages", [*rows[1:], rows[0]])
    outcomes = [each.outcome for each in done]
    later = Counter(each.later.partition(":")[0] for each in outcomes if each.later)
    reasons = Counter(each.reason for each in outcomes if each.reason)
    print("learned on and started again:", ", ".join(f"{k} {v}" for k, v in sorted(later.items())))
    print("refused by:", ", ".join(f"{k} {v}" for k, v in sorted(reasons.items())))
    wrong = [each for each in done if each.outcome.is_wrong]
    for each in wrong[:40]:
        print(f"WRONG {each.number}: {each.file}, {each.kind}: {each.outcome}")
    print("verdict:", "broken" if wrong else "kept")


if __name__ == "__main__":
    main()

"""Runs every learner over one log of 50,000 events and compares with recorded answers and states.

python load_tests/recorded.py [SPECIFICATION ...] [--events 50000] [--record]

The log has new and old features and classes, and forgotten names; limits make every learner evict,
and the model is dumped and loaded again ten times. Learners along the paths of a taxonomy have the
classes placed before. Digests are taken of the rankings, of the ranks
before learning and of the values in the arrays of the state, without their names, so that they stay
the same when code is moved and names change. Ends with status 1 when one differs from
`recorded.json`, to which `--record` writes the specifications that are named, or all.
"""

import argparse
import json
import struct
import sys
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.snapshot import Arrays
from tests.core.specifications import OF_MANY_EVENTS, SPECIFICATIONS

RECORDED_LEARNERS = [*SPECIFICATIONS, *OF_MANY_EVENTS]
MOST_FEATURES, MOST_CLASSES = 6000, 120
LEAST_BYTES, COMMITTEE_BYTES = 2**20, 2**23  # the least there can be
RECORDED = Path(__file__).with_name("recorded.json")
EVENTS = 50_000
CHECKPOINTS = 10
RANKED_EACH = 10  # events between two rankings
MOST_RANKED = 5

Digests = dict[str, str]


def weights_of(count: int) -> list[float]:
    """Return cumulative weights of Zipf's law for so many names."""
    return list(accumulate(1 / (position + 1) for position in range(count)))


COMMON = [f"word {number}" for number in range(800)]
LABELS = [f"label {number}" for number in range(60)]
PLACES = Event.place({LABELS[place]: LABELS[place // 3] for place in range(1, len(LABELS))})
ON_PATHS = ("path", "hieron")
COMMON_WEIGHTS, LABEL_WEIGHTS = weights_of(len(COMMON)), weights_of(len(LABELS))


def events(count: int) -> Iterator[Event]:
    """Yield the events of the log; a shorter log is the beginning of a longer one."""
    random = Random(2009)
    for number in range(count):
        if number % 97 == 96:
            kind = random.random()
            if kind < 0.5:
                yield Event.forget_class(random.choices(LABELS, cum_weights=LABEL_WEIGHTS)[0])
            else:
                yield Event.forget_feature(random.choices(COMMON, cum_weights=COMMON_WEIGHTS)[0])
            continue
        labels = random.choices(LABELS, cum_weights=LABEL_WEIGHTS, k=1 + (random.random() < 0.2))
        if random.random() < 0.05:
            labels = [f"rare label {number}"]
        words = random.choices(COMMON, cum_weights=COMMON_WEIGHTS, k=6)
        words += [f"{label} word {random.randrange(30)}" for label in labels]
        features = {word: float(1 + random.randrange(3)) for word in words}
        if random.random() < 0.4:
            features[f"rare word {number}"] = 0.5
        yield Event.learn(
            Instance(features), list(dict.fromkeys(labels)), f"event {number}", number
        )


class Record:
    """Digests of what one learner answers and holds."""

    def __init__(self, specification: str) -> None:
        """Begin with an empty model."""
        is_committee = specification.startswith("committee")
        options = Options.parse(specification).replace(
            max_features=MOST_FEATURES,
            max_classes=MOST_CLASSES,
            max_bytes=COMMITTEE_BYTES if is_committee else LEAST_BYTES,
        )
        self.model = Model(options)
        if any(name in specification for name in ON_PATHS):
            self.model.apply(1, PLACES)
        self.digests: list[Digests] = []
        self._rankings, self._ranks = blake2b(digest_size=8), blake2b(digest_size=8)

    def apply(self, number: int, event: Event) -> None:
        """Rank the instance of some events, and let the model have the event."""
        if event.kind == "learn" and number % RANKED_EACH == 0:
            for name, score in self.model.rank(event.instance, MOST_RANKED):
                self._rankings.update(name.encode() + struct.pack("<d", score))
            self._rankings.update(b"\0")
        outcome = self.model.apply(self.model.seq + 1, event)
        self._ranks.update(struct.pack("<i?", outcome.rank or 0, outcome.updated))

    def check(self) -> None:
        """Note the digests of now, and go on with the model loaded from its own dump."""
        self.digests.append(
            {
                "rankings": self._rankings.hexdigest(),
                "ranks": self._ranks.hexdigest(),
                "contents": contents(self.model.freeze().arrays),
            }
        )
        self.model = Model.load(self.model.dump())


def contents(arrays: Arrays) -> str:
    """Return a digest of the values in a state's arrays, which their names and order do not change.

    The header of a snapshot and empty arrays have no part in it.
    """
    each = sorted(
        blake2b(array.tobytes(), digest_size=8).digest() for array in arrays.values() if array.size
    )
    return blake2b(b"".join(each), digest_size=8).hexdigest()


def record(specification: str, count: int, every: int) -> list[Digests]:
    """Return the digests of a learner at every so many events."""
    kept = Record(specification)
    for number, event in enumerate(events(count), 1):
        kept.apply(number, event)
        if number % every == 0:
            kept.check()
    return kept.digests


def differences(specification: str, found: list[Digests], recorded: dict[str, Any]) -> list[str]:
    """Return a sentence for each digest that differs from the recorded one."""
    expected = recorded["digests"][specification][: len(found)]
    return [
        f"{specification}: {what} after {recorded['every'] * position} events"
        for position, (now, before) in enumerate(zip(found, expected, strict=True), 1)
        for what in now
        if now[what] != before[what]
    ]


def write(digests: dict[str, list[Digests]], every: int) -> None:
    """Write the recorded digests, a line for each learner of today's table."""
    lines = (f"{json.dumps(name)}: {json.dumps(digests[name])}" for name in RECORDED_LEARNERS)
    RECORDED.write_text(f'{{"every": {every}, "digests": {{\n' + ",\n".join(lines) + "\n}}\n")


def main() -> None:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("specifications", nargs="*", default=RECORDED_LEARNERS)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name}")
    chosen = parser.parse_args()
    every = EVENTS // CHECKPOINTS
    found = {}
    for specification in chosen.specifications:
        found[specification] = record(specification, chosen.events, every)
        print(f"{specification}: {found[specification][-1]['contents']}", flush=True)
    recorded = json.loads(RECORDED.read_text())
    if chosen.record:
        write(recorded["digests"] | found, every)
        return
    different = [
        each for name, digests in found.items() for each in differences(name, digests, recorded)
    ]
    print("\n".join(different) if different else "all as recorded")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()

"""Crafted snapshots: parts of real ones changed, with every checksum made right again.

python load_tests/crafted.py [--count 20000] [--seed 0] [--only N]

Each must be refused at load with a SnapshotError that names a section, or make a model that dumps
what was loaded and does everything a model does, without an error. The same seed makes the same
snapshots. Ends with status 1 at the first one that is neither.
"""

import argparse
import faulthandler
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core import rules, snapshot
from manyclass.core.errors import OptionError, RulesDiffer, SnapshotError, UnknownName
from manyclass.core.event import Event, Instance
from manyclass.core.index import Columns, Index
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet

Array = NDArray[Any]

SLOWEST_SECONDS = 120  # of one snapshot; beyond it the program ends and says where it was

LINEUPS = [
    ["ff(replay=2,replay_size=15)", "ind", "frequency"],
    ["svm(replay=2,replay_size=20)", "ff"],
    ["svm(demands=each,replay_size=9)", "mmp"],
    ["ema(rate=0.5)", "ooz(rate=0.1,margin_threshold=0.5)"],
    ["arow", "pa(max_outdegree=3)"],
    ["frequency", "ff(tfidf=yes,normalize=none)"],
    ["iplt(sample=30,arity=3,max_leaves=2)", "oplt(arity=2,max_leaves=1,policy=random)"],
    ["oplt(arity=3,max_leaves=2)", "frequency"],
    ["iplt(sample=500)", "ema"],  # its sample is not complete
    ["committee(members=ff+pa(shuffle=5)+arow(subsample=0.5,shuffle=3),seed=3)", "ind"],
    ["committee(members=oplt(arity=2,max_leaves=2)+iplt(sample=15),vote=probability)"],
    ["ff", "committee(members=frequency+svm(replay_size=5),vote=rarest)"],
]

FEATURES = [f"feature {number}" for number in range(24)] + ["größe", "x" * 300]
CLASSES = [f"class {number}" for number in range(9)] + ["klasse é"]
PROBES = [
    Instance({FEATURES[0]: 1.0, FEATURES[4]: 0.25, FEATURES[9]: 7.0}),
    Instance({FEATURES[1]: 1e30, FEATURES[24]: 1e-30, "unknown": 2.0}),
    Instance({}),
]


# --- real snapshots -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Original:
    """The parts of a real snapshot."""

    label: str
    facts: dict[str, Any]
    arrays: dict[str, Array]


@cache
def originals() -> list[Original]:
    """Snapshots of every learner, of committees and shadows, early and late."""
    made = []
    for specifications in LINEUPS:
        learners = [Options.parse(each) for each in specifications]
        model = Model(ModelSet(learners[0], tuple(learners[1:])))
        for number, event in enumerate(events(160), 1):
            model.apply(number, event)
            if number in (4, 45, 160):
                frozen = model.freeze()
                label = f"{' beside '.join(specifications)} after {number}"
                facts = json.loads(json.dumps(frozen.facts))
                made.append(Original(label, facts, dict(frozen.arrays)))
            if number == 90:
                model.restored(90, 50)
    return made


def events(count: int) -> Iterator[Event]:
    """Instances whose features hint at their classes; now and then something is forgotten."""
    drawn = random.Random(7)
    for number in range(count):
        if number in (40, 80):
            yield Event.forget_class(CLASSES[number // 40])
        elif number in (42, 85):
            yield Event.forget_feature(FEATURES[number // 40])
        else:
            true = drawn.sample(range(len(CLASSES)), drawn.choice([1, 1, 2, 3]))
            active = {*drawn.sample(range(len(FEATURES)), 3), *(2 * label for label in true)}
            instance = {FEATURES[at]: drawn.choice([1.0, 0.5, 3.0]) for at in sorted(active)}
            event_id = f"event {number}" if number % 2 else None
            yield Event.learn(Instance(instance), [CLASSES[at] for at in true], event_id, number)


# --- changes --------------------------------------------------------------------------------------


@dataclass
class Parts:
    """The parts of a snapshot to be written. A section: its entry in the header and its bytes."""

    header: dict[str, Any]
    sections: list[tuple[dict[str, Any], bytes]]
    changes: list[str]

    @classmethod
    def of(cls, original: Original) -> "Parts":
        """Split a real snapshot into parts that can be changed."""
        header = {"version": snapshot.VERSION, "facts": json.loads(json.dumps(original.facts))}
        sections = [
            (
                {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)},
                array.tobytes(),
            )
            for name, array in original.arrays.items()
        ]
        return cls(header, sections, [])

    def sealed(self) -> bytes:
        """Return the snapshot with right checksums."""
        described = [
            {"checksum": blake2b(data, digest_size=16).hexdigest(), **entry}
            for entry, data in self.sections
        ]
        header = json.dumps({"sections": described, **self.header}, sort_keys=True).encode()
        checksum = blake2b(header, digest_size=16).digest()
        prefix = snapshot._PREFIX.pack(snapshot.MAGIC, len(header), checksum)
        return b"".join([prefix, header, *(data for _, data in self.sections)])

    def array(self, place: int) -> Array:
        """Return a copy of the numbers of a section."""
        entry, data = self.sections[place]
        return np.frombuffer(data, entry["dtype"]).reshape(entry["shape"]).copy()

    def put(self, place: int, array: Array) -> None:
        """Replace a section, keeping its name."""
        entry = self.sections[place][0]
        described = {**entry, "dtype": array.dtype.str, "shape": list(array.shape)}
        self.sections[place] = (described, array.tobytes())


def crafted(seed: int, number: int, of: list[Original]) -> tuple[Original, Parts]:
    """Craft a snapshot; return its original and parts. Depends on seed and number only."""
    drawn = random.Random(f"{seed}:{number}")
    original = drawn.choice(of)
    parts = Parts.of(original)
    for _ in range(drawn.choice([1, 1, 1, 2, 3])):
        change = drawn.choices([change_section, change_layout, change_header], [16, 2, 2])[0]
        try:
            change(parts, drawn)
        except (ValueError, TypeError):  # an earlier change left nothing that this one applies to
            parts.changes.append("no change")
    return original, parts


def change_section(parts: Parts, drawn: random.Random) -> None:
    """Change the numbers of a section in one of many ways."""
    places = [at for at, (_, data) in enumerate(parts.sections) if data]
    place = drawn.choice(places)
    array = parts.array(place)
    flat = array.reshape(-1)
    way = drawn.choice(WAYS)
    changed = way(flat, drawn)
    if changed.size == array.size:
        changed = changed.reshape(array.shape)
    elif array.ndim == 2 and changed.size % array.shape[1] == 0:
        changed = changed.reshape(-1, array.shape[1])
    parts.put(place, changed)
    parts.changes.append(f"{parts.sections[place][0]['name']}: {way.__name__}")


def one_value(flat: Array, drawn: random.Random) -> Array:
    flat[drawn.randrange(flat.size)] = boundary(flat, drawn)
    return flat


def several_values(flat: Array, drawn: random.Random) -> Array:
    for _ in range(3):
        one_value(flat, drawn)
    return flat


def every_value(flat: Array, drawn: random.Random) -> Array:
    flat[:] = boundary(flat, drawn)
    return flat


def swap(flat: Array, drawn: random.Random) -> Array:
    one, other = drawn.randrange(flat.size), drawn.randrange(flat.size)
    flat[[one, other]] = flat[[other, one]]
    return flat


def transfer(flat: Array, drawn: random.Random) -> Array:
    """Add one to a number and subtract it from another, so that the sum stays right."""
    one, other = drawn.randrange(flat.size), drawn.randrange(flat.size)
    if flat[other] >= 1:
        with np.errstate(over="ignore"):
            flat[other] -= 1
            flat[one] += 1
    return flat


def move(flat: Array, drawn: random.Random) -> Array:
    one, other = drawn.randrange(flat.size), drawn.randrange(flat.size)
    return np.insert(np.delete(flat, one), other, flat[one])


def duplicate(flat: Array, drawn: random.Random) -> Array:
    flat[drawn.randrange(flat.size)] = flat[drawn.randrange(flat.size)]
    return flat


def truncate(flat: Array, drawn: random.Random) -> Array:
    return flat[: drawn.choice([0, flat.size // 2, flat.size - 1])]


def extend(flat: Array, drawn: random.Random) -> Array:
    more = drawn.choice([1, 2, 4, flat.size])
    return np.append(flat, np.resize(flat, more) if drawn.random() < 0.5 else flat[:1].repeat(more))


def reverse(flat: Array, drawn: random.Random) -> Array:
    return flat[::-1].copy()


def flip_bit(flat: Array, drawn: random.Random) -> Array:
    data = bytearray(flat.tobytes())
    data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
    return np.frombuffer(bytes(data), flat.dtype)


WAYS: list[Callable[[Array, random.Random], Array]] = [
    *(one_value, one_value, one_value, several_values, every_value, swap, transfer, transfer),
    *(move, duplicate, truncate, extend, reverse, flip_bit),
]


def boundary(flat: Array, drawn: random.Random) -> Any:
    """Return a number at a boundary of the type, or near an existing one."""
    own = flat[drawn.randrange(flat.size)]
    if flat.dtype.kind == "f":
        most = np.finfo(flat.dtype)
        with np.errstate(all="ignore"):
            own_ones = [own * 2, own / 2, -own, np.nextafter(own, np.inf, dtype=flat.dtype)]
        others = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, most.max, -most.max]
        others += [most.tiny, most.smallest_subnormal, 1e30, 1e-30, 2.0, 1e10, 1e36]
        return flat.dtype.type(drawn.choice([*own_ones, *others]))
    last = int(np.iinfo(flat.dtype).max)
    near = [int(own) + 1, int(own) - 1, int(own) ^ (1 << drawn.randrange(8 * flat.itemsize))]
    fixed = [0, 1, 2, 3, 7, 100, last, last - 1, last // 2, last // 2 + 1, 4096, 4097, 65535]
    fixed += [2**31, 2**32 - 1, 2**32 - 2, 2**32, 2**53, 2**63 - 1, 2**63, flat.size, flat.size - 1]
    return flat.dtype.type(drawn.choice([*near, *near, *fixed]) & last)


def change_layout(parts: Parts, drawn: random.Random) -> None:
    """Change which sections there are, or what the header says of one."""
    place = drawn.randrange(len(parts.sections))
    other = drawn.randrange(len(parts.sections))
    entry, data = parts.sections[place]
    way = drawn.randrange(9)
    if way == 0:
        del parts.sections[place]
    elif way == 1:
        parts.sections.append((entry, data))
    elif way == 2:
        name = drawn.choice(["shadow1.counts", "shadow9.counts", "unknown", "", "table_counts", 5])
        parts.sections.append(({**entry, "name": name}, data))
    elif way == 3:
        parts.sections[place] = ({**entry, "name": parts.sections[other][0]["name"]}, data)
    elif way == 4:  # the numbers of one under the name of the other
        theirs, numbers = parts.sections[other]
        parts.sections[place] = ({**theirs, "name": entry["name"]}, numbers)
        parts.sections[other] = ({**entry, "name": theirs["name"]}, data)
    elif way == 5:
        kinds = ["<u1", "|u1", "<u2", "<u4", ">u4", "<u8", "<f4", "<f8", "<i8", "|O", "|V4", "<U1"]
        dtype = drawn.choice([*kinds, "|S0", "u4,u4", "<m8[s]", "?", "", "(2,)u4", None, 7, []])
        parts.sections[place] = ({**entry, "dtype": dtype}, data)
    elif way == 6:
        size = int(np.prod(entry["shape"]))
        shapes = [[], [size, 1], [1, size], [-1], [size, 0], [2**63], [2**64], [-size], [0, 2**62]]
        shape = drawn.choice([*shapes, [float(size)], [str(size)], [True], None, size, [[size]]])
        parts.sections[place] = ({**entry, "shape": shape}, data)
    elif way == 7:
        parts.sections[place] = (
            {**entry, "checksum": drawn.choice(["", None, "00" * 16, 5])},
            data,
        )
    else:
        drawn.shuffle(parts.sections)
    parts.changes.append(f"{entry['name']}: layout {way}")


ODD: list[Any] = [
    *(None, True, False, -1, 0, 1, 1.5, -0.5, math.nan, math.inf, -math.inf, "", "x", "1", [], {}),
    *(2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**400, [1], [[1, 2]], {"a": 1}, "ff", "pa"),
    *("committee(members=ff)", "ff+pa", "ff(replay=4)", "(" * 50, [None], "svm", "iplt", "arow"),
]


def change_header(parts: Parts, drawn: random.Random) -> None:
    """Change, remove or add something in the header's JSON."""
    if drawn.random() < 0.1:
        parts.header[drawn.choice(["version", "facts", "sections", "more"])] = drawn.choice(ODD)
        parts.changes.append("header: top")
        return
    holder: Any = parts.header["facts"]
    path = ["facts"]
    while True:
        keys = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
        if not keys:
            raise ValueError("there is nothing to change")
        key = drawn.choice(keys)
        path.append(str(key))
        if isinstance(holder[key], (dict, list)) and holder[key] and drawn.random() < 0.85:
            holder = holder[key]
            continue
        break
    way = drawn.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[drawn.choice(["more", "learner", "vote", "replay", "cls"])] = drawn.choice(ODD)
    elif way == 1:
        holder.append(holder[key])
    elif way == 2 and isinstance(holder[key], int):
        holder[key] += drawn.choice([1, -1])
    else:
        holder[key] = drawn.choice(ODD)
    parts.changes.append(f"{'.'.join(path)}: header {way}")


# --- what a model does ----------------------------------------------------------------------------


class Broken(Exception):
    """A promise that a crafted snapshot broke."""


def outcome(original: Original, parts: Parts) -> str:
    """ "loaded", or the section that the snapshot was refused for; Broken."""
    data = parts.sealed()
    try:
        model = Model.load([data], hash_seed=3)
    except SnapshotError as refused:
        check_names_a_part(refused, original, parts)
        return refused.section
    except RulesDiffer:
        return "facts.rules"
    check_dumps_what_it_loaded(model, parts)
    model.use_rules(rules.RULES)  # a snapshot of older rules takes events after these are raised
    exercise(model)
    return "loaded"


def check_names_a_part(refused: SnapshotError, original: Original, parts: Parts) -> None:
    """Raise Broken unless the error names a section that is or should be there, or the header."""
    known = {"header", "facts", *original.arrays}
    known |= {str(entry["name"]) for entry, _ in parts.sections}
    missing = [section for section in known if section and refused.section.endswith(section)]
    if not missing or refused.section not in str(refused):
        raise Broken(f"refused without the name of a section ({refused.section!r}): {refused}")


def check_dumps_what_it_loaded(model: Model, parts: Parts) -> None:
    """Raise Broken unless the model holds what the snapshot says."""
    frozen = model.freeze()
    facts = parts.header["facts"]
    model_set = ModelSet.from_dict(facts["lineup"] if "lineup" in facts else facts["options"])
    restores = [list(pair) for pair in frozen.facts["restores"]]
    if (model_set, facts["seq"], facts["restores"]) != (model.model_set, model.seq, restores):
        raise Broken("it dumps other facts")
    loaded = {entry["name"]: (entry, data) for entry, data in parts.sections}
    for name, array in frozen.arrays.items():
        if name not in loaded:  # of a release that had no such section
            continue
        entry, data = loaded.pop(name)
        same = entry["dtype"] == array.dtype.str and entry["shape"] == list(array.shape)
        if not same or data != array.tobytes():
            raise Broken(f"it dumps other {name}")
    if loaded:
        raise Broken(f"it loaded and does not dump {sorted(loaded)}")


def exercise(model: Model) -> None:
    """Call every operation of a model; let undocumented exceptions through."""
    look(model)
    for event in (*lessons(6), *forgetting(model), *lessons(3)):
        apply(model, event)
    for label in [each.label for each in model.enrolled]:
        apply(model, Event.promote(label))
        apply(model, *lessons(1))
    model_set = model.model_set
    apply(model, Event.configure(ModelSet(model_set.primary, model_set.shadows[:1]).to_dict()))
    model.pass_over()
    model.restored(model.seq + 1, model.seq)
    apply(model, *lessons(2))
    look(model)
    digest = model.digest()
    again = Model.load(model.dump(), hash_seed=9)
    if again.digest() != digest:
        raise Broken("it is not what it dumps")
    for each in (model, again):
        apply(each, *lessons(3))
    if again.digest() != model.digest():
        raise Broken("it does not go on as its dump does")


def apply(model: Model, *several: Event) -> None:
    """Apply the events that pass their check, as a service does."""
    for event in several:
        try:
            model.check(event)
            repeated = model.repeats([event])
        except (UnknownName, OptionError):
            continue
        if not repeated:
            model.apply(model.seq + 1, event)


def lessons(count: int) -> list[Event]:
    """Instances of known and of new features and classes."""
    made = []
    for number in range(count):
        instance = {
            FEATURES[5 * number % 26]: 1.0,
            FEATURES[(number + 3) % 26]: 2.0,
            f"new{number}": 0.5,
        }
        classes = [CLASSES[number % len(CLASSES)], f"new class {number % 4}"]
        made.append(Event.learn(Instance(instance), classes[: 1 + number % 2]))
    return made


def forgetting(model: Model) -> list[Event]:
    """Events that forget some of what there is."""
    classes = [name for name, _ in model.learner.class_page("", "", 100)][::4]
    features = [name for name, _ in model.learner.feature_page("", "", 100)][::6]
    return [*map(Event.forget_class, classes), *map(Event.forget_feature, features)]


def look(model: Model) -> None:
    """Read everything that can be read."""
    for instance in PROBES:
        model.rank(instance, 0)
        model.explain(instance, CLASSES[:3], 3)
        model.paths(instance, CLASSES[:3], 3)
        for k, threshold in ((1, None), (5, 0.1), (1000, None)):
            answer = model.answer(instance, k, threshold)
            scores = [score for _, score in answer.ranked]
            if not np.isfinite(scores).all() or scores != sorted(scores, reverse=True):
                raise Broken(f"scores out of order: {scores}")
            if answer.confidence is not None and not 0 <= answer.confidence <= 1:
                raise Broken(f"a confidence of {answer.confidence}")
    model.seen("event 3")
    for each in model.enrolled:
        look_at(each.learner)
        for window in each.progress.windows().values():
            if not np.isfinite(list(window.values())).all():
                raise Broken(f"progress of {window}")
        brier, bins = each.calibration.brier, each.calibration.reliability
        if not math.isfinite(brier or 0) or not np.isfinite(bins).all():
            raise Broken(f"a calibration of {brier}, {bins}")


def look_at(learner: Any) -> None:
    """Read everything of one learner."""
    classes, features = learner.class_page("", "", 50), learner.feature_page("", "", 50)
    for name, _ in classes[:4]:
        learner.class_(name, 10)
    for name, _ in features[:6]:
        learner.feature(name)
    sizes = ("features", "classes", "edges", "bytes", "resident_bytes", "learned")
    for size in (*sizes, "evicted_features", "evicted_classes"):
        if not 0 <= getattr(learner, size) < 2**63:
            raise Broken(f"{size} of {getattr(learner, size)}")
    if learner.outdegrees().sum() < 0:
        raise Broken("outdegrees below 0")
    columns = Columns([name for name, _ in features] or ["none"])
    row = np.arange(min(len(columns), 8), dtype=np.int32)
    indptr = np.array([0, len(row)], np.int64)
    _, scores = learner.rank_csr(columns, indptr, row, np.ones(len(row), np.float32), 4)
    if not np.isfinite(scores).all():
        raise Broken(f"scores of {scores}")
    if isinstance(learner, Index):
        learner.probabilities(PROBES[0], [name for name, _ in classes[:4]])


# --- the command ----------------------------------------------------------------------------------


def run(count: int, seed: int, first: int = 0) -> Counter[str]:
    """Return the number of each outcome; raise Broken, with the command that repeats it."""
    of, outcomes = originals(), Counter[str]()
    for number in range(first, first + count):
        original, parts = crafted(seed, number, of)
        faulthandler.dump_traceback_later(SLOWEST_SECONDS, exit=True)
        try:
            outcomes[outcome(original, parts)] += 1
        except Exception as error:
            changes = "; ".join(parts.changes)
            repeat = f"--seed {seed} --only {number}: {original.label}: {changes}"
            raise Broken(f"{repeat}: {type(error).__name__}: {error}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
    return outcomes


def main() -> None:
    """Run as the arguments say and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the one snapshot of this number")
    parser.add_argument("--keep-going", action="store_true", help="print all that are broken")
    chosen = parser.parse_args()
    began, outcomes, broken = time.monotonic(), Counter[str](), 0
    numbers = range(chosen.count) if chosen.only is None else [chosen.only]
    if not chosen.keep_going:
        outcomes = run(len(numbers), chosen.seed, numbers[0])
    else:
        for number in numbers:
            try:
                outcomes += run(1, chosen.seed, number)
            except Broken as error:
                broken += 1
                print(error, flush=True)
    loaded = outcomes.pop("loaded", 0)
    total, seconds = sum(outcomes.values()), time.monotonic() - began
    print(f"{len(numbers)} crafted snapshots of seed {chosen.seed} in {seconds:.0f} s:")
    print(
        f"{loaded} loaded and worked, {total} refused by {len(outcomes)} sections, {broken} broken"
    )
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()

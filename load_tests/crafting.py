"""Parts of real snapshots, changed, with every checksum made right again."""

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core import snapshot
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT

Array = NDArray[Any]

MODEL_SETS = [
    ["ff(replay=2,replay_size=15)", "ind", "frequency"],
    ["svm(replay=2,replay_size=20)", "ff"],
    ["svm(constraints=each,replay_size=9)", "mmp"],
    ["svm(cost=sqrt,replay_size=9)", "pa(cost=linear)"],
    ["path(replay_size=9)", "hieron"],
    ["committee(members=path(neighbors=2,replay_size=9)+hieron(replay=1,replay_size=9))"],
    ["ema(rate=0.5)", "ooz(rate=0.1,margin_threshold=0.5)"],
    ["arow", "pa(max_outdegree=3)"],
    ["frequency", "ff(tfidf=yes,normalize=none)"],
    ["pa(neighbors=4,replay_size=20)", "svm(neighbors=3,replay_size=30)"],
    ["iplt(sample=30,arity=3,max_leaves=2)", "oplt(arity=2,max_leaves=1,policy=random)"],
    ["oplt(arity=3,max_leaves=2)", "frequency"],
    ["iplt(sample=500)", "ema"],  # its sample is not complete
    ["committee(members=ff+pa(shuffle=5)+arow(subsample=0.5,shuffle=3),seed=3)", "ind"],
    ["committee(members=oplt(arity=2,max_leaves=2)+iplt(sample=15),vote=probability)"],
    ["ff", "committee(members=frequency+svm(replay_size=5),vote=rarest)"],
]

FEATURES = [f"feature {number}" for number in range(24)] + ["größe", "x" * 300]
CLASSES = [f"class {number}" for number in range(9)] + ["klasse é"]


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
    for specifications in MODEL_SETS:
        learners = [Options.parse(each) for each in specifications]
        model = Model(ModelSet(learners[0], tuple(learners[1:])), text=DEFAULT_TEXT)
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
        elif number in (30, 70):
            yield Event.place({CLASSES[at]: CLASSES[at // 2] for at in range(number // 20, 10)})
        elif number in (42, 85):
            yield Event.forget_feature(FEATURES[number // 40])
        else:
            true = drawn.sample(range(len(CLASSES)), drawn.choice([1, 1, 2, 3]))
            active = {*drawn.sample(range(len(FEATURES)), 3), *(2 * label for label in true)}
            instance = {FEATURES[at]: drawn.choice([1.0, 0.5, -3.0]) for at in sorted(active)}
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
            ({"name": name, **described(array)}, array.tobytes())
            for name, array in original.arrays.items()
        ]
        return cls(header, sections, [])

    def sealed(self) -> bytes:
        """Return the snapshot with right checksums."""
        sections = [
            {"checksum": blake2b(data, digest_size=16).hexdigest(), **entry}
            for entry, data in self.sections
        ]
        header = json.dumps({"sections": sections, **self.header}, sort_keys=True).encode()
        checksum = blake2b(header, digest_size=16).digest()
        prefix = snapshot._PREFIX.pack(snapshot.MAGIC, len(header), checksum)
        return b"".join([prefix, header, *(data for _, data in self.sections)])

    def array(self, position: int) -> Array:
        """Return a copy of the numbers of a section."""
        entry, data = self.sections[position]
        return np.frombuffer(data, entry["dtype"]).reshape(entry["shape"]).copy()

    def put(self, position: int, array: Array) -> None:
        """Replace a section, keeping its name."""
        self.sections[position] = (self.sections[position][0] | described(array), array.tobytes())


def described(array: Array) -> dict[str, Any]:
    return {"dtype": array.dtype.str, "shape": list(array.shape)}


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
    positions = [at for at, (_, data) in enumerate(parts.sections) if data]
    position = drawn.choice(positions)
    array = parts.array(position)
    flat = array.reshape(-1)
    way = drawn.choice(WAYS)
    changed = way(flat, drawn)
    if changed.size == array.size:
        changed = changed.reshape(array.shape)
    elif array.ndim == 2 and changed.size % array.shape[1] == 0:
        changed = changed.reshape(-1, array.shape[1])
    parts.put(position, changed)
    parts.changes.append(f"{parts.sections[position][0]['name']}: {way.__name__}")


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
    position = drawn.randrange(len(parts.sections))
    other = drawn.randrange(len(parts.sections))
    entry, data = parts.sections[position]
    way = drawn.randrange(9)
    if way == 0:
        del parts.sections[position]
    elif way == 1:
        parts.sections.append((entry, data))
    elif way == 2:
        name = drawn.choice(["shadow1.counts", "shadow9.counts", "unknown", "", "table_counts", 5])
        parts.sections.append(({**entry, "name": name}, data))
    elif way == 3:
        parts.sections[position] = ({**entry, "name": parts.sections[other][0]["name"]}, data)
    elif way == 4:  # the numbers of one under the name of the other
        theirs, numbers = parts.sections[other]
        parts.sections[position] = ({**theirs, "name": entry["name"]}, numbers)
        parts.sections[other] = ({**entry, "name": theirs["name"]}, data)
    elif way == 5:
        kinds = ["<u1", "|u1", "<u2", "<u4", ">u4", "<u8", "<f4", "<f8", "<i8", "|O", "|V4", "<U1"]
        dtype = drawn.choice([*kinds, "|S0", "u4,u4", "<m8[s]", "?", "", "(2,)u4", None, 7, []])
        parts.sections[position] = ({**entry, "dtype": dtype}, data)
    elif way == 6:
        size = int(np.prod(entry["shape"]))
        shapes = [[], [size, 1], [1, size], [-1], [size, 0], [2**63], [2**64], [-size], [0, 2**62]]
        shape = drawn.choice([*shapes, [float(size)], [str(size)], [True], None, size, [[size]]])
        parts.sections[position] = ({**entry, "shape": shape}, data)
    elif way == 7:
        checksum = drawn.choice(["", None, "00" * 16, 5])
        parts.sections[position] = ({**entry, "checksum": checksum}, data)
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

"""Crafted snapshots: parts of real ones changed, with every checksum made right again.

python -m load_tests.crafted [--count 20000] [--seed 0] [--only N]

Each must be refused at load with a SnapshotError that names a section, or make a model that dumps
what was loaded and does everything a model does, without an error. The same seed makes the same
snapshots. Ends with status 1 at the first one that is neither.
"""

import argparse
import faulthandler
import math
import sys
import time
from collections import Counter
from typing import Any

import numpy as np

from load_tests.crafting import CLASSES, FEATURES, Original, Parts, crafted, originals
from manyclass.core import rules
from manyclass.core.columns import Columns
from manyclass.core.errors import (
    OptionError,
    RequestConflict,
    RulesDiffer,
    SnapshotError,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet

SLOWEST_SECONDS = 120  # of one snapshot; beyond it the program ends and says where it was
PROBES = [
    Instance({FEATURES[0]: 1.0, FEATURES[4]: -0.25, FEATURES[9]: 7.0}),
    Instance({FEATURES[1]: 1e30, FEATURES[24]: 1e-30, "unknown": 2.0}),
    Instance({}),
]


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
    model_set = ModelSet.from_dict(facts["learners"])
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
    for event in (*examples(6), *placing(model), *forgetting(model), *examples(3)):
        apply(model, event)
    for label in [each.label for each in model.enrolled]:
        apply(model, Event.promote(label))
        apply(model, *examples(1))
    model_set = model.model_set
    apply(model, Event.configure(ModelSet(model_set.primary, model_set.shadows[:1]).to_dict()))
    model.pass_over()
    model.restored(model.seq + 1, model.seq)
    apply(model, *examples(2))
    look(model)
    digest = model.digest()
    again = Model.load(model.dump(), hash_seed=9)
    if again.digest() != digest:
        raise Broken("it is not what it dumps")
    for each in (model, again):
        apply(each, *examples(3))
    if again.digest() != model.digest():
        raise Broken("it does not go on as its dump does")


def apply(model: Model, *several: Event) -> None:
    """Apply the events that pass their check, as a service does."""
    for event in several:
        try:
            model.check(event)
            repeated = model.repeats([event])
        except (UnknownName, OptionError, RequestConflict):
            continue
        if not repeated:
            model.apply(model.seq + 1, event)


def examples(count: int) -> list[Event]:
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


def placing(model: Model) -> list[Event]:
    """Events that place known and new classes, and move some."""
    names = [*placed_in(model), *CLASSES]
    below = {name: names[at // 3] for at, name in enumerate(names) if name != names[at // 3]}
    return [
        Event.place({"new class 1": names[0], "new class 2": "new class 1"}),
        Event.place(below, moves=True),
        *(Event.place({name: names[-1]}, moves=True) for name in names[:5]),
    ]


def placed_in(model: Model) -> list[str]:
    """Return the names of all nodes of the taxonomy."""
    arrays = model.taxonomy.dump()
    if not arrays:
        return []
    ends = np.cumsum(arrays["taxonomy_name_sizes"], dtype=np.int64).tolist()
    data = arrays["taxonomy_names"].tobytes()
    names = [data[begin:end].decode() for begin, end in zip([0, *ends], ends, strict=False)]
    return [name for name in names if name]


def forgetting(model: Model) -> list[Event]:
    """Events that forget some of what there is."""
    classes = [name for name, _ in model.learner.class_page("", "", 100)][::4]
    features = [name for name, _ in model.learner.feature_page("", "", 100)][::6]
    return [*map(Event.forget_class, classes), *map(Event.forget_feature, features)]


def look(model: Model) -> None:
    """Read everything that can be read."""
    for name in placed_in(model):
        parent = model.taxonomy.parent(name)
        if parent is not None and name not in model.taxonomy.children(parent, limit=1_000):
            raise Broken(f"{name!r} is not among the children of its parent")
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
        if len(model.taxonomy):
            losses = [loss for *_, loss in model.decode(instance, 50).ranked]
            if (
                not np.isfinite(losses).all()
                or losses != sorted(losses)
                or min(losses, default=0) < 0
            ):
                raise Broken(f"expected losses out of order: {losses}")
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
    for number in numbers:
        try:
            outcomes += run(1, chosen.seed, number)
        except Broken as error:
            if not chosen.keep_going:
                raise
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

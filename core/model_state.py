"""The parts of a model in a snapshot: facts of its header, and arrays of its learners."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from manyclass.core import rules, snapshot
from manyclass.core.calibration import Calibration
from manyclass.core.dedup_window import DedupWindow
from manyclass.core.enrolled import Enrolled
from manyclass.core.errors import InstanceError, RulesDiffer, SnapshotError
from manyclass.core.event_parts import class_names
from manyclass.core.evidence import Evidence
from manyclass.core.expected_loss import ExpectedLoss
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.core.progressive_validation import ProgressiveValidation
from manyclass.core.sections import LARGEST_COUNT, need, within
from manyclass.core.taxonomy import Taxonomy
from manyclass.core.text import TextAnalysis

OF_SHADOW = re.compile(r"shadow\d+\.")  # the prefixes of `prefix_of`
FACTS = ("seq", "restores", "rules", "learners", "text")  # in the header of every snapshot
MOST_RESTORES = 1_000  # remembered marks; logs are trimmed behind older ones


@dataclass(frozen=True, slots=True)
class Frozen:
    """A copy of a model's state that later events do not change."""

    facts: dict[str, Any]
    arrays: snapshot.Arrays

    def pieces(self) -> list[memoryview]:
        """Return the snapshot's bytes in order; compute the checksums."""
        return snapshot.write(self.facts, self.arrays)

    def digest(self) -> str:
        """Return a hash (hex) of the whole state: equal states have equal digests."""
        _, header, *_ = self.pieces()  # it holds the checksum of every section
        return blake2b(header, digest_size=16).hexdigest()


def marks_of(facts: dict[str, Any]) -> tuple[int, list[tuple[int, int]]]:
    """Return `seq` and `restores` from the header of a snapshot; SnapshotError."""
    if facts.keys() - {"aliases", "whole", "chosen", "merged"} != {*FACTS}:
        raise SnapshotError(f"the header must have {', '.join(FACTS)}, not {[*facts]}")
    seq, restores = facts["seq"], facts["restores"]
    if not _is_count(seq):
        raise SnapshotError(f"seq in the header must be the number of an event, not {seq!r}")
    if not isinstance(restores, list) or len(restores) > MOST_RESTORES:
        raise SnapshotError(f"restores in the header must be a list of {MOST_RESTORES} at most")
    last = 0
    for mark in restores:
        is_pair = isinstance(mark, list) and len(mark) == 2 and all(map(_is_count, mark))
        if not is_pair or not (last < mark[0] <= seq and mark[1] < mark[0]):
            raise SnapshotError(f"restores in the header holds {mark!r}, which is not a mark")
        last = mark[0]
    return seq, [(seq, source) for seq, source in restores]


def merged_of(facts: dict[str, Any], seq: int) -> int:
    """Return the number of the newest merge that waits for a rebuild, 0 for none; SnapshotError."""
    merged = facts.get("merged", 0)
    if not _is_count(merged) or merged > seq:
        raise SnapshotError(f"merged in the header must be the number of an event, not {merged!r}")
    return int(merged)


def rules_of(facts: dict[str, Any]) -> int:
    """Return the version of the rules in force, which may be older than this release's.

    Raise SnapshotError, or RulesDiffer for newer rules than those of this release.
    """
    in_force = facts["rules"]
    if not _is_count(in_force) or in_force == 0:
        raise SnapshotError(f"rules in the header must be a version, not {in_force!r}")
    if in_force > rules.RULES:
        raise RulesDiffer(in_force, rules.RULES)
    return int(in_force)


def aliases_of(facts: dict[str, Any]) -> dict[str, str]:
    """Return the aliases from the header of a snapshot; SnapshotError."""
    aliases = facts.get("aliases", {})
    if not isinstance(aliases, dict):
        raise SnapshotError(f"aliases in the header must be an object, not {aliases!r}")
    for names in aliases.items():
        try:
            is_pair = class_names(names) == [*names]
        except InstanceError as error:
            raise SnapshotError(f"aliases in the header: {error}") from error
        if not is_pair or names[1] in aliases:
            raise SnapshotError(f"aliases in the header has {names!r}, which is not an alias")
    return aliases


def whole_of(facts: dict[str, Any], model_set: ModelSet) -> frozenset[str]:
    """Return the learners that learn the whole history, from the header of a snapshot.

    Raise SnapshotError unless all are among the learners.
    """
    whole = facts.get("whole", [])
    if not isinstance(whole, list) or not all(each in model_set.labels for each in whole):
        raise SnapshotError(f"whole in the header must name learners, not {whole!r}")
    return frozenset(whole)


def text_of(facts: dict[str, Any]) -> TextAnalysis:
    """Return the analysis of texts from the header of a snapshot; SnapshotError."""
    named = facts["text"]
    if not isinstance(named, str):
        raise SnapshotError(f"text in the header must be an analysis of texts, not {named!r}")
    try:
        return TextAnalysis.parse(named)
    except ValueError as error:
        raise SnapshotError(f"text in the header: {error}") from error


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_COUNT


# The errors of `ModelSet.from_dict` for values of other types or too deep nesting.
NOT_OPTIONS = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


def model_set_of(facts: dict[str, Any], name: str = "learners") -> ModelSet:
    """Return the learners that the header of a snapshot has under this name; SnapshotError."""
    given = facts[name]
    try:
        if given.keys() != {"primary", "shadows"}:
            raise ValueError(f"there must be primary and shadows, not {[*given]}")
        return ModelSet.from_dict(given)
    except NOT_OPTIONS as error:
        raise SnapshotError(f"the {name} in the header cannot be: {error}") from error


def recent_of(arrays: snapshot.Arrays, seq: int) -> DedupWindow:
    """Return the recent event ids of a snapshot whose last event is `seq`; SnapshotError."""
    name = "recent_events"
    need(name in arrays, name, "it is missing")
    rows = arrays[name]
    is_table = rows.dtype == np.dtype("<u8") and rows.ndim == 2 and rows.shape[1] == 4
    need(is_table, name, "it is not a table of remembered events")
    table = rows.view(np.uint64)
    of_log = bool(((table[:, 3] > 0) & (table[:, 3] <= seq)).all())
    need(of_log, name, "it has an event that comes later in the log")
    try:
        return DedupWindow.load(table)
    except ValueError as error:
        raise SnapshotError(str(error), name) from error


def enrolled_of(
    options: Options,
    position: int,
    arrays: snapshot.Arrays,
    hash_seed: int,
    taxonomy: Taxonomy,
    evidence: Evidence,
) -> Enrolled:
    """Return the learner at this position of the model set from the arrays of a snapshot.

    Raise SnapshotError if its arrays are not a valid state.
    """
    own = arrays if position else of_primary(arrays)
    with within(own, prefix_of(position)) as sections:
        learner = Learner.load(options, sections, hash_seed, taxonomy, evidence)
        learner.load_mixture(sections)
        calibration = Calibration.load(sections, hash_seed)
        progress = ProgressiveValidation.load(sections)
        expected_loss = ExpectedLoss.load(sections)
    return Enrolled(options.specification, learner, progress, calibration, expected_loss)


def prefix_of(position: int) -> str:
    """Return the prefix of a learner's arrays in a snapshot, by its position in the model set."""
    return f"shadow{position}." if position else ""


def of_primary(arrays: snapshot.Arrays) -> snapshot.Arrays:
    """Return the arrays of the primary and of no learner: all but those of shadows."""
    return {name: array for name, array in arrays.items() if not OF_SHADOW.match(name)}

"""The arrays of a dumped index, and those of older releases."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import SnapshotError
from manyclass.core.sections import Sections, run

# The arrays of every dumped state, in the order of writing. Arrays that a learner does not use are
# empty. An array with another name is declared by the learner that has it, and comes after these.
SECTIONS = {
    "counts": "<u8",
    "feature_name_sizes": "<u2",
    "feature_names": "u1",
    "feature_free": "<u4",
    "feature_mass": "<f8",
    "feature_times_seen": "<u4",
    "feature_last_seen": "<u4",
    "outdegrees": "<u2",
    "edge_classes": "<u4",
    "edge_masses": "<f4",
    "edge_variances": "<f4",
    "class_name_sizes": "<u2",
    "class_names": "u1",
    "class_free": "<u4",
    "class_retired": "<u4",
    "class_learned": "<u8",
    "class_born": "<u8",
    "class_last_learned": "<u4",
    "kept_features": "<u4",
    "kept_true": "<u4",
    "kept_demanded": "<u4",
    "kept_feature_ids": "<u4",
    "kept_feature_values": "<f4",
    "kept_class_ids": "<u4",
    "kept_demands_ahead": "<u4",
    "kept_demands_behind": "<u4",
    "kept_demands_multiplier": "<f4",
    "unlabelled": "<u8",
    "kept_rejected": "<u4",
    "kept_weights": "<f4",
    "node_kinds": "u1",
    "node_children": "<u4",
    "node_blocks": "<u4",
    "node_free": "<u4",
    "children_ids": "<u4",
    "block_features": "<u4",
    "block_weights": "<u4",
    "tree_weights": "<f4",
    "tree_squares": "<f4",
    "class_turns": "<u8",
}

# Prefixes of the names of arrays that a state of an older release may lack.
ADDED_LATER = (
    "kept_",
    "edge_variances",
    "class_retired",
    "node_",
    "children_ids",
    "block_",
    "tree_",
    "class_turns",
)

OPTIONAL = ("kept_rejected", "kept_weights", "unlabelled")  # missing where they would be empty


def completed(sections: Sections, seed: int) -> dict[str, NDArray[np.generic]]:
    """Return the sections under their present names, with sections that an older state lacks."""
    sections = dict(sections)
    if "class_hung" in sections:  # its first name
        if "class_turns" in sections:
            raise SnapshotError("it is there under a newer name too", "class_hung")
        sections["class_turns"] = sections.pop("class_hung")
    for name in OPTIONAL:
        sections.setdefault(name, np.empty(0, SECTIONS[name]))
    counts = run(sections, "counts", "<u8")
    known = len(counts), "kept_features" in sections, "node_kinds" in sections
    if known in ((5, False, False), (7, True, False), (11, True, True)):
        from_5 = [0, seed, 0, 0, seed, 0, 0, 0, 0, 0]
        sections["counts"] = np.append(counts, np.array(from_5[len(counts) - 5 :], "<u8"))
        for name, dtype in SECTIONS.items():
            if name.startswith(ADDED_LATER):
                sections.setdefault(name, np.empty(0, dtype))
    return sections

"""A label tree as it stands in a dumped state."""

from dataclasses import dataclass

import numpy as np

RUNS_OF_WEIGHTS = ("block_features", "block_weights", "tree_weights", "tree_squares")
COUNTED = ("feature_times_seen", "feature_last_seen", "class_learned", "class_last_learned")


@dataclass
class DumpedNode:
    is_preleaf: bool
    grows: bool
    children: list[int]  # ids of nodes; of a pre-leaf, of classes
    blocks: dict[int, tuple[list[float], list[float]]]  # feature id -> weights, sums of squares

    def classifiers(self, feature):
        """(weight, sum of squares) of the auxiliary classifier, if there is one, and each child."""
        weights, squares = self.blocks[feature]
        missing = len(self.children) + self.grows - len(weights)
        signs = [1 if place == 0 else -1 for place in range(len(self.children))]
        of_missing = signs[len(signs) - missing :] if missing else []
        return [
            *zip(weights, squares, strict=True),
            *((sign * weights[0], squares[0]) for sign in of_missing),
        ]


def nodes_of(state):
    """Return the nodes by id."""
    children, blocks = (
        iter(state["children_ids"].tolist()),
        iter(range(len(state["block_features"]))),
    )
    ends = np.cumsum([0, *state["block_weights"].tolist()])
    nodes = []
    for kind, degree, count in zip(
        *(state[name].tolist() for name in ("node_kinds", "node_children", "node_blocks")),
        strict=True,
    ):
        node = DumpedNode(kind % 2 == 1, kind >= 2, [next(children) for _ in range(degree)], {})
        for block in (next(blocks) for _ in range(count)):
            run = slice(ends[block], ends[block + 1])
            node.blocks[int(state["block_features"][block])] = (
                state["tree_weights"][run].tolist(),
                state["tree_squares"][run].tolist(),
            )
        nodes.append(node)
    return nodes


def root_of(state):
    """Return the id of the root, or -1 for a tree without nodes."""
    return int(state["counts"][7]) - 1


def untrained(state):
    """Return the state of the same tree, over the same names, before the first event."""
    counts = state["counts"].copy()
    counts[:2] = 0  # learned, counted
    return state | {
        "counts": counts,
        **{name: np.zeros_like(state[name]) for name in ("node_blocks", *COUNTED)},
        **{name: state[name][:0] for name in RUNS_OF_WEIGHTS},
    }


def paths_of(state):
    """class id -> the ids of the nodes above it, from its pre-leaf to the root."""
    nodes = nodes_of(state)
    paths, ahead = {}, [(root_of(state), [])]
    while ahead:
        id, above = ahead.pop()
        for child in nodes[id].children:
            if nodes[id].is_preleaf:
                paths[child] = [id, *above]
            else:
                ahead.append((child, [id, *above]))
    return paths

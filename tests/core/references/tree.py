"""A label tree: the probability of a class is the product of those along its path."""

from dataclasses import replace

import numpy as np
from numpy import float32

from tests.core.references.arithmetic import SMALLEST_WEIGHT, Random, logistic
from tests.core.references.growing_tree import GrowingTree
from tests.core.references.reference import EDGE_BYTES
from tests.core.references.state import TREE_ARRAYS
from tests.core.references.tree_node import BIAS, Node, Weight

BIAS_ID = 2**32 - 2
MOST_INPUT = 1e15
MOST_SQUARES = float32(1e36)
NODE_BYTES = 1024
BLOCK_BYTES, WEIGHT_BYTES = 40, 15


class LabelTree(GrowingTree):
    has_edges = False

    def __init__(self, options):
        self.is_built = False
        self.random = Random(options.seed)
        self.pull_up()
        super().__init__(options)

    def configure(self, options):
        self.options = replace(options)
        if not self.is_built and options.sample and self.past.came >= options.sample:
            self.is_built = True
            self.build_from_sample()
        self.limit_past()

    def most_past(self):
        return max(super().most_past(), 0 if self.is_built else self.options.sample)

    # --- ranking ----------------------------------------------------------------------------------

    def inputs(self, values):
        known = {name: single(value) for name, value in values.items() if name in self.rows}
        return {**known, BIAS: single(self.bias())}

    def bias(self):
        """Return the value of the bias: more with more classes an event, up to 1."""
        return max(self.options.bias, min(1.0, self.options.bias * self.mean_classes))

    @staticmethod
    def scores(node, inputs):
        """Return the score of each judged child; an only child has none."""
        scores = []
        for place in range(node.judged):
            score = float32(0)
            for feature, x in inputs.items():
                if feature in node.weights:
                    score = score + x * node.weight(feature, place).w
            scores.append(score)
        return scores

    def probabilities(self, node, inputs):
        if len(node.children) == 1:
            return [1.0]
        return [logistic(float(score)) for score in self.scores(node, inputs)]

    def walk(self, inputs):
        """Return (class, probability) pairs, best first, and (probability, weights) by node."""
        classes, nodes = [], []
        ahead = [(1.0, self.root)] if self.root else []
        while ahead:
            so_far, node = ahead.pop()
            nodes.append((so_far, sum(f in node.weights for f in inputs) * node.judged))
            for child, own in zip(node.children, self.probabilities(node, inputs), strict=True):
                (classes if node.is_preleaf else ahead).append((so_far * own, child))
        classes.sort(key=lambda each: (-each[0], self.turn[each[1]]))
        return [(name, probability) for probability, name in classes], nodes

    def search(self, values, go_on):
        """Visit classes, best first, until `go_on` is false; count no less probable nodes."""
        inputs = self.inputs(values)
        classes, nodes = self.walk(inputs)
        least = -1.0
        for name, probability in classes:
            if not go_on(name, probability):
                least = probability
                break
        self.active_features_ranked += len(inputs) - 1
        self.edges_touched += sum(weights for reached, weights in nodes if reached >= least)

    def rank(self, instance, k=5, threshold=None, among=None):
        if among is not None:
            return self.rank_among(self.prepare(instance), among, threshold)[:k]
        if k == 0:
            return []
        best = []

        def go_on(name, probability):
            if threshold is not None and probability <= threshold:
                return False
            best.append((name, probability))
            return len(best) < k

        self.search(self.prepare(instance), go_on)
        return best

    def rank_among(self, values, among, threshold):
        """Return the classes of these names; count the nodes on the paths to them."""
        inputs = self.inputs(values)
        opened = {}
        found = []
        for name in {*among} & {*self.home}:
            probability = 1.0
            for node, place in self.path(name):
                opened[id(node)] = node
                probability *= self.probabilities(node, inputs)[place]
            found.append((name, probability))
        self.active_features_ranked += len(inputs) - 1
        self.edges_touched += sum(
            sum(feature in node.weights for feature in inputs) * node.judged
            for node in opened.values()
        )
        found.sort(key=lambda scored: (-scored[1], self.turn[scored[0]]))
        return [scored for scored in found if threshold is None or scored[1] > threshold]

    # --- learning ---------------------------------------------------------------------------------

    def improve(self, values, true, constraints, rejected=()):
        self.searched(values, true)
        inputs = self.inputs(values)
        self.add_leaves(inputs, [name for name in true if name not in self.home])
        self.take_step(inputs, true)
        return True

    def searched(self, values, true):
        """Return what is read of the ranking: two classes, and up to a true one in the window."""
        met = []

        def go_on(name, probability):
            met.append((name, probability))
            return len(met) < 2 or (not self.best_place(met, true) and len(met) < self.window(true))

        self.search(values, go_on)
        return met

    def window(self, true):
        return self.options.retrieval_window if {*true} & {*self.home} else 0

    def best_place(self, ranked, true):
        return super().best_place(ranked[: self.window(true)], true)

    def improve_again(self, values, example):
        self.take_step(self.inputs(values), example.classes)

    def before(self, values, true, counted):
        """Return the ranking; prepared values do not depend on feature counts."""
        work = self.active_features_ranked, self.edges_touched
        met = self.searched(values, true)
        self.active_features_ranked, self.edges_touched = work
        return met

    def take_step(self, inputs, true):
        positive = {}  # node -> its children on a path to a true class
        for name in true:
            child, node = name, self.home.get(name)
            while node is not None:
                positive.setdefault(node, []).append(child)
                child, node = node, node.above
        for node, children in positive.items():
            self.update(node, inputs, [child in children for child in node.children])
        for name in true:
            node = self.home.get(name)
            while node is not None:
                self.drop_light(node, inputs)
                node = node.above

    def update(self, node, inputs, is_true):
        if node.width == 0:
            return
        for feature in inputs:
            if feature in node.weights:
                node.fill(feature)
            else:
                node.weights[feature] = [Weight() for _ in range(node.width)]
        signs = [1] * node.grows + [1 if each else -1 for each in is_true][: node.judged]
        for at, sign in enumerate(signs):
            score = float32(0)
            for feature, x in inputs.items():
                score = score + x * node.weights[feature][at].w
            slope = not_too_small(float32(-sign * logistic(float(-sign * score))), SMALLEST_WEIGHT)
            slope = slope * float32(self.example_weight)
            for feature, x in inputs.items():
                node.weights[feature][at] = self.moved(node.weights[feature][at], slope * x)

    def moved(self, weight, gradient):
        gradient = not_too_small(gradient, float32(2.0**-63))
        squares = min(weight.squares + gradient * gradient, MOST_SQUARES)
        step = float32(self.options.rate) * gradient
        return Weight(weight.w - step / np.sqrt(squares + float32(self.options.epsilon)), squares)

    def drop_light(self, node, inputs):
        least = float32(self.options.min_weight)
        node.lose(
            [
                feature
                for feature in inputs
                if feature is not BIAS
                and feature in node.weights
                and not node.holds_below(feature)
                and all(abs(weight.w) < least for weight in node.weights[feature])
            ]
        )

    # --- forgetting -------------------------------------------------------------------------------

    def retire(self, name):
        if name in self.home:
            self.take_out(name)
        super().retire(name)

    def take_out(self, name):
        child, node = name, self.home.pop(name)
        del self.turn[name]
        while node is not None:
            node.take_out(child)
            if node.children:
                if len(node.children) == 1 and not node.is_preleaf and not node.grows:
                    self.put_child_in_place_of(node)
                return
            self.free(node)
            child, node = node, node.above
        self.root = None

    def put_child_in_place_of(self, node):
        [child] = node.children
        child.above = node.above
        if node is self.root:
            self.root = child
        else:
            node.above.children[node.above.children.index(node)] = child
        self.free(node)

    def free(self, node):
        del self.nodes[node.id]
        self.node_ids.give_back(node.id)

    def forget_features(self, names):
        for node in self.nodes.values():
            node.lose(names)
        super().forget_features(names)

    # --- explaining -------------------------------------------------------------------------------

    def path(self, name):
        """Return (node, place of its child), from the root down."""
        path = []
        child, node = name, self.home.get(name)
        while node is not None:
            path.insert(0, (node, node.children.index(child)))
            child, node = node, node.above
        return path

    @staticmethod
    def moves(node, place, inputs):
        """Return each input's contribution to the log-odds of a child."""
        if not node.judged:
            return dict.fromkeys(inputs, 0.0)
        return {
            f: float(x) * float(node.weight(f, place).w) if f in node.weights else 0.0
            for f, x in inputs.items()
        }

    def explain(self, instance, classes, limit=10):
        inputs = self.inputs(self.prepare(instance))
        answer = []
        for name in classes:
            added = dict.fromkeys(inputs, 0.0)
            for node, place in self.path(name):
                for feature, moved in self.moves(node, place, inputs).items():
                    added[feature] += moved
            answer.append(heaviest_first(added, limit))
        return answer

    def paths(self, instance, classes, limit=10):
        inputs = self.inputs(self.prepare(instance))
        answer = []
        for name in classes:
            nodes = []
            for node, place in self.path(name):
                moves = self.moves(node, place, inputs)
                leaves = 1 if node.is_preleaf else node.children[place].leaves
                own = self.probabilities(node, inputs)[place]
                heaviest = heaviest_first(moves, limit)
                nodes.append((leaves, own, moves[BIAS], heaviest, "", 0.0))
            answer.append(nodes)
        return answer

    # --- inspection -------------------------------------------------------------------------------

    @property
    def edges(self):
        return sum(len(node.weights) * node.width for node in self.nodes.values())

    @property
    def bytes(self):
        blocks = sum(len(node.weights) for node in self.nodes.values())
        return super().bytes + blocks * BLOCK_BYTES + (WEIGHT_BYTES - EDGE_BYTES) * self.edges

    @property
    def class_bytes(self):
        return super().class_bytes + len(self.nodes) * NODE_BYTES

    def leaf_weight(self, feature, name):
        node = self.home.get(name)
        if node is None or not node.judged or feature not in node.weights:
            return 0.0
        return float(node.weight(feature, node.children.index(name)).w)

    def feature(self, name):
        edges = [
            (child, self.leaf_weight(name, child))
            for _, node in sorted(self.nodes.items())
            if node.is_preleaf
            for child in node.children
        ]
        edges = [(child, weight) for child, weight in edges if weight]
        return {
            "times_seen": self.rows[name].times_seen,
            "rating": 1.0,
            "outdegree": len(edges),
            "mass": 0.0,
            "edges": sorted(edges, key=lambda weighted: -abs(weighted[1])),
        }

    def class_(self, name, limit=100):
        weights = [(feature, self.leaf_weight(feature, name)) for feature in self.rows]
        weights = [(feature, weight) for feature, weight in weights if weight]
        weights.sort(key=lambda weighted: (-abs(weighted[1]), self.rows[weighted[0]].id))
        return {"learned": self.labels[name].learned, "features": weights[:limit]}

    def outdegrees(self):
        degrees = [
            sum(len(node.weights[name]) for node in self.nodes.values() if name in node.weights)
            for name in self.rows
        ]
        return np.bincount(np.array(degrees, int))

    def dump_of_tree(self):
        free = Node(-1, None, False, False)
        nodes = [self.nodes.get(id, free) for id in range(self.node_ids.made)]
        blocks = [block for node in nodes for block in node.weights.items()]
        weights = [weight for _, there in blocks for weight in there]
        by_id = {label.id: name for name, label in self.labels.items()} if self.root else {}
        classes = range(self.class_ids.made if self.root else 0)
        arrays = [
            [node.is_preleaf + 2 * node.grows for node in nodes],
            [len(node.children) for node in nodes],
            [len(node.weights) for node in nodes],
            self.node_ids.free,
            [
                self.labels[child].id if node.is_preleaf else child.id
                for node in nodes
                for child in node.children
            ],
            [BIAS_ID if feature is BIAS else self.rows[feature].id for feature, _ in blocks],
            [len(there) for _, there in blocks],
            [float(weight.w) for weight in weights],
            [float(weight.squares) for weight in weights],
            [self.turn.get(by_id.get(id), 0) for id in classes],
        ]
        root = 0 if self.root is None else self.root.id + 1
        counts = [root, self.leaves_added, self.random.state, int(self.is_built)]
        return {"counts": counts, **dict(zip(TREE_ARRAYS, arrays, strict=True))}


def single(value):
    """Return a value in single precision, clipped as the node classifiers clip it."""
    return float32(0) if value < SMALLEST_WEIGHT else float32(min(value, MOST_INPUT))


def not_too_small(number, least):
    return number if abs(number) >= least else float32(0)


def heaviest_first(moves, limit):
    moves = [(feature, moved) for feature, moved in moves.items() if feature and moved]
    return sorted(moves, key=lambda each: -abs(each[1]))[:limit]

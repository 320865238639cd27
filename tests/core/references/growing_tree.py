"""A label tree as it grows class by class, or is built over the classes of a sample."""

from math import inf

from tests.core.references.arithmetic import log
from tests.core.references.reference import Reference
from tests.core.references.state import Class, Feature, Ids
from tests.core.references.tree_node import Node
from tests.core.references.tree_shapes import shape_of


class GrowingTree(Reference):
    def pull_up(self):
        self.tree = self  # the dumped state includes the tree
        self.nodes = {}  # id -> Node
        self.node_ids = Ids()
        self.root = None
        self.home = {}  # class -> its pre-leaf
        self.turn = {}  # class -> its position in the order of arrival
        self.leaves_added = 0

    # --- growing ----------------------------------------------------------------------------------

    def add_leaves(self, inputs, classes):
        if not classes:
            return
        if self.root is None:
            self.root = self.make_node(None, True)
        at = self.node_to_grow(inputs)
        for turn, name in enumerate(classes):
            if turn and self.is_crowded(at):
                at = self.node_to_grow(inputs)
            at = self.with_room(at)
            self.add_leaf(at, name)

    def node_to_grow(self, inputs):
        left = self.root.leaves
        has_lost_many = self.leaves_added - left > left // 16
        at = self.root
        while not (at.is_preleaf if has_lost_many else at.grows):
            at = self.chosen_child(at, inputs)
        return at

    def add_leaf(self, node, name):
        node.children.append(name)
        self.home[name] = node
        self.turn[name] = self.leaves_added
        self.leaves_added += 1

    def make_node(self, above, is_preleaf):
        node = Node(self.node_ids.take(), above, is_preleaf)
        self.nodes[node.id] = node
        return node

    def chosen_child(self, node, inputs):
        if self.options.policy == "random":
            return node.children[self.random.below(len(node.children))]
        alpha = self.options.alpha
        share = node.leaves / len(node.children)
        worth = [
            (1 - alpha) * own + alpha * log(share / child.leaves)
            for own, child in zip(self.probabilities(node, inputs), node.children, strict=True)
        ]
        if self.options.policy == "sampled":
            worth = [each if self.random.below(2) else -inf for each in worth]
        return node.children[worth.index(max(worth))]

    def with_room(self, node):
        """Return the pre-leaf for a class that came to this node."""
        if not node.is_preleaf:
            return self.make_branch(node)
        near = self.near_with_room(node)
        if near is not None:
            return near
        if node.above and node.above.grows:
            return self.make_branch(node.above)
        return self.make_branch(self.make_above(node))

    def near_with_room(self, node):
        siblings = node.above.children if node.above else []
        for place in [node, *siblings]:
            if place.is_preleaf and len(place.children) < self.options.max_leaves:
                return place
        return None

    def is_crowded(self, node):
        """Return whether one more class here would make the tree deeper."""
        may_branch = node.above is not None and node.above.grows
        return node.is_preleaf and self.near_with_room(node) is None and not may_branch

    def make_branch(self, node):
        branch = self.make_node(node, True)
        node.children.append(branch)
        if len(node.children) >= self.options.arity:
            node.stop_growing()
        return branch

    def make_above(self, node):
        """Put a new inner node in the place of this one, which becomes its first child."""
        above = self.make_node(node.above, False)
        if node is self.root:
            self.root = above
        else:
            node.above.children[node.above.children.index(node)] = above
        node.above = above
        above.children = [node]
        above.weights = {feature: [weights[0]] for feature, weights in node.weights.items()}
        return above

    # --- building a tree from the warm-start sample -----------------------------------------------

    def keep(self, example):
        if self.options.replay:
            self.learn_again()
        if self.most_past():
            self.past.offer(example)
        if not self.is_built and self.past.came >= self.options.sample:
            self.is_built = True
            if self.options.sample:
                self.build_from_sample()

    def build_from_sample(self):
        examples = []
        place = 0
        while place < len(self.past.kept):
            place += self.past.refresh(place)
        for example in self.past.kept:
            values = self.prepare({name: float(x) for name, x in example.values.items()})
            examples.append((self.inputs(values), example.classes))
        self.build(examples)
        for (inputs, true), example in zip(examples, self.past.kept, strict=True):
            self.example_weight = example.weight
            self.take_step(inputs, true)
        self.limit_past()

    def build(self, examples):
        """Build a new tree over all classes; the instances define their similarity."""
        order = sorted(self.labels, key=lambda name: self.labels[name].born)
        instances = {name: [] for name in order}
        for inputs, true in examples:
            for name in true:
                instances[name].append({self.rows[f].id: x for f, x in inputs.items() if f})
        counts = {name: self.labels[name].learned for name in order}
        shape = shape_of(order, counts, instances, self.options, self.random)
        self.pull_up()
        self.root = self.build_branch(shape, None)
        self.turn = {name: turn for turn, name in enumerate(order)}
        self.leaves_added = len(order)

    def build_branch(self, shape, above):
        """Make the nodes of nested lists, whose innermost elements are names."""
        if not shape:
            return None
        node = self.make_node(above, isinstance(shape[0], str))
        if node.is_preleaf:
            node.children = list(shape)
            self.home.update(dict.fromkeys(shape, node))
        else:
            node.children = [self.build_branch(part, node) for part in shape]
            node.grows = len(shape) < self.options.arity
        return node

    def build_from_rows(self, examples):
        """Build a tree over the classes of rows that are not learned; return whether it did."""
        if self.learned or not examples or self.options.learner != "iplt":
            return False
        for instance, true in examples:
            self.count(self.prepare(instance), true)
        self.counted = len(examples)
        prepared = [(self.inputs(self.prepare(instance)), true) for instance, true in examples]
        self.build(
            [(inputs, [name for name in true if name in self.labels]) for inputs, true in prepared]
        )
        self.counted = 0
        for feature in self.rows.values():
            feature.times_seen = 0
        for label in self.labels.values():
            label.learned = 0
        self.is_built = True
        self.limit_past()
        return True

    def count(self, features, classes):
        """Count names as far as there is room; evict none."""
        for name in features:
            if name not in self.rows and len(self.rows) < self.options.max_features:
                self.rows[name] = Feature(self.feature_ids.take())
            if name in self.rows:
                self.rows[name].times_seen += 1
        for name in classes:
            if name not in self.labels and len(self.labels) < self.options.max_classes:
                self.labels[name] = Class(self.class_ids.take(), self.born)
                self.born += 1
            if name in self.labels:
                self.labels[name].learned += 1

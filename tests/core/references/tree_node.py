"""A node of a label tree: its children, and the weights of a classifier for each."""

from dataclasses import dataclass, field

from numpy import float32

BIAS = None  # the feature that every instance has


@dataclass
class Weight:
    w: float32 = field(default_factory=lambda: float32(0))
    squares: float32 = field(default_factory=lambda: float32(0))

    @property
    def negated(self):
        return Weight(-self.w, self.squares)


@dataclass(eq=False)
class Node:
    id: int
    above: "Node | None"
    is_preleaf: bool
    grows: bool = True
    children: list = field(default_factory=list)  # nodes; of a pre-leaf, the names of classes
    # feature -> the weight of the auxiliary classifier if there is one, then those of the children;
    # of the last children there are none before they are learned for the first time
    weights: dict[str | None, list[Weight]] = field(default_factory=dict)

    @property
    def leaves(self):
        if self.is_preleaf:
            return len(self.children)
        return sum(child.leaves for child in self.children)

    @property
    def judged(self):
        """Return the number of children with a classifier for their probability."""
        return len(self.children) if len(self.children) > 1 else 0

    @property
    def width(self):
        return self.grows + self.judged

    def weight(self, feature, place):
        """Return the weight of the child at this place."""
        there = self.weights[feature]
        if place + self.grows < len(there):
            return there[place + self.grows]
        return there[0] if place == 0 else there[0].negated

    def fill(self, feature):
        """Give every child its own weight."""
        there = self.weights[feature]
        first = len(there) - self.grows
        there.extend([self.weight(feature, place) for place in range(first, self.judged)])

    def lose(self, features):
        """Forget features; the last one moves to the place of each, from the last on."""
        order = list(self.weights)
        for at in range(len(order) - 1, -1, -1):
            if order[at] in features:
                order[at] = order[-1]
                order.pop()
        self.weights = {feature: self.weights[feature] for feature in order}

    def holds_below(self, feature):
        return not self.is_preleaf and any(feature in child.weights for child in self.children)

    def stop_growing(self):
        for feature in self.weights:
            self.fill(feature)
            del self.weights[feature][0]
        self.grows = False

    def take_out(self, child):
        place = self.children.index(child)
        if self.judged:
            for feature in self.weights:
                self.fill(feature)
                del self.weights[feature][place + self.grows]
        del self.children[place]

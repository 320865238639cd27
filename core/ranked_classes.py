"""The classes that a ranking can have."""

from math import ceil
from typing import Literal

from manyclass.core.evidence import Evidence
from manyclass.core.learner import Learner

Order = Literal["name", "events", "newest"]
Counted = list[tuple[str, int]]  # classes and the number of events that taught each


class RankedClasses:
    """The classes that a ranking can have: the classes of the primary learner, and those with a
    description or with vectors of events.

    A node of the taxonomy that no event named is not among them, unless the learner ranks by
    nodes.
    Threads: as for the learner's listings.
    """

    def __init__(self, learner: Learner, evidence: Evidence) -> None:
        self._learner = learner
        self._evidence = evidence

    def __contains__(self, name: str) -> bool:
        """Return whether a ranking can have the class."""
        return name in self._evidence or self._learner.has_class(name)

    def __len__(self) -> int:
        """Return their number. Reads every class with a description or vectors."""
        return self._learner.ranked_classes

    def taught(self, name: str) -> int:
        """Return the number of events that taught a class; 0 for an unknown one.

        For a class that only has vectors, it is the sum of the weights of its events, rounded up.
        """
        found = self._learner.class_page(name, "", 1)  # the name itself comes first
        if found and found[0][0] == name:
            return found[0][1]
        return ceil(self._evidence.events_of(name))

    def page(self, order: Order, prefix: str, after: str, limit: int) -> Counted:
        """Return the next classes after the class `after`, of all whose names begin with `prefix`.

        In an order other than by name, classes that the learner does not know come last.
        """
        learner = self._learner
        if order == "name":
            unlearned = learner.unlearned_page(prefix, after, limit)
            # The learner may learn one of them in between; then its own page counts.
            page = dict(unlearned) | dict(learner.class_page(prefix, after, limit))
            return sorted(page.items())[:limit]
        found: Counted = []
        if not after or learner.has_class(after):
            found = learner.classes_by(order, prefix, after, limit)
            after = ""
        return found + learner.unlearned_page(prefix, after, limit - len(found))

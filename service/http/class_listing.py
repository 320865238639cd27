"""Lists of the classes of a model: the learned classes, and the classes with a description or with
vectors alone.
"""

from heapq import nsmallest
from math import ceil
from typing import Literal

from manyclass.core.model import Model
from manyclass.service.http.described_classes import NameSearch

Order = Literal["name", "events", "newest"]
Counted = list[tuple[str, int]]  # classes and the number of events that named each


def class_page(model: Model, order: Order, prefix: str, after: str, limit: int) -> Counted:
    """Return the next classes after the class `after`, of all whose names begin with `prefix`.

    In an order other than by name, classes that the learner does not know come last.
    """
    learner = model.learner
    beside = {*model.descriptions.names(), *model.evidence.classes()}
    described = [name for name in beside if name.startswith(prefix)]
    if order == "name":
        page = dict(learner.class_page(prefix, after, limit))
        for name in nsmallest(limit, (name for name in described if name > after)):
            page.setdefault(name, taught_by_vectors(model, name))
        return sorted(page.items())[:limit]
    found: Counted = []
    if not after or learner.has_class(after):
        found = learner.classes_by(order, prefix, after, limit)
        after = ""
    unlearned = [name for name in described if name > after and not learner.has_class(name)]
    best = nsmallest(limit - len(found), unlearned)
    return found + [(name, taught_by_vectors(model, name)) for name in best]


def taught_by_vectors(model: Model, name: str) -> int:
    """Return the number of events that taught a class by their vectors; part of one counts as one.

    A learner does not know a class of vectors alone.
    """
    return ceil(model.evidence.events_of(name))


def found_classes(
    model: Model, search: NameSearch, text: str, prefix: str, after: str, limit: int
) -> Counted:
    """Return the next classes after the class `after`, of all that have a name with this text.

    Names that begin with the text come first, then names with a word that does. A class without a
    description is found by the beginning of its name, in either form of its first letter.
    """
    best: list[str] = []
    is_behind = not after
    for rank, names in enumerate(search.find(text)):
        if rank == 0:
            names += _beginning(model, text.strip(), prefix, after, limit)
        found = {name for name in names if name.startswith(prefix)}
        if is_behind or after in found or after not in model.descriptions:
            best += nsmallest(
                limit - len(best), (each for each in found if is_behind or each > after)
            )
            is_behind = True
        if len(best) == limit:
            break
    return [(name, _learned(model, name)) for name in best]


def _beginning(model: Model, text: str, prefix: str, after: str, limit: int) -> list[str]:
    """Return the next classes whose names begin with the text, in either form of its first letter,
    and with the prefix.
    """
    first, rest = text[:1], text[1:]
    found = []
    for form in {text, first.upper() + rest, first.lower() + rest}:
        if begins := max(form, prefix, key=len) if _agree(form, prefix) else "":
            found += [name for name, _ in model.learner.class_page(begins, after, limit)]
    return found


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _learned(model: Model, name: str) -> int:
    found = model.learner.class_page(name, "", 1)  # the name itself comes first
    return found[0][1] if found and found[0][0] == name else taught_by_vectors(model, name)

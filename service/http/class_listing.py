"""A search of the classes of a model by all their names."""

from heapq import nsmallest

from manyclass.core.model import Model
from manyclass.core.ranked_classes import Counted
from manyclass.service.http.described_classes import NameSearch


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
    return [(name, model.classes.taught(name)) for name in best]


def _beginning(model: Model, text: str, prefix: str, after: str, limit: int) -> list[str]:
    """Return the next classes whose names begin with the text, in either form of its first letter,
    and with the prefix.
    """
    first, rest = text[:1], text[1:]
    found = []
    for form in {text, first.upper() + rest, first.lower() + rest}:
        if begins := max(form, prefix, key=len) if _agree(form, prefix) else "":
            found += [name for name, _ in model.classes.page("name", begins, after, limit)]
    return found


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)

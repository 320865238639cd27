"""Class names from a user: whether such a class exists, and which names are similar."""

from collections.abc import Sequence
from difflib import get_close_matches
from http import HTTPStatus
from itertools import islice
from typing import Final

from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused

MOST_COMPARED: Final = 1000  # names with the same beginning
MOST_CLOSE: Final = 3
LONGEST_COMPARED: Final = 200  # letters, because a comparison takes quadratic time


def has_class(client: Client, name: str) -> bool:
    """Return whether a class with this name was learned, described or placed in the taxonomy.

    A former name of a class counts too.
    """
    return present_name(client, name) is not None


def is_taught(client: Client, name: str) -> bool:
    """Return whether a class with this name was learned or described."""
    # GET /classes/{name} would read every feature; in the listing, the name itself comes first.
    return any(each.name == name for each in islice(client.classes(name, page=1), 1))


def present_name(client: Client, name: str) -> str | None:
    """Return the present name of a class, which may be given by a former one; None without it."""
    return name if is_taught(client, name) else unlearned_name(client, name)


def unlearned_name(client: Client, name: str) -> str | None:
    """Return the present name of a class of the taxonomy, or of a former name; None without it."""
    try:
        return client.class_(name, limit=1).name
    except RequestRefused as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return None


def close_names(client: Client, name: str) -> Sequence[str]:
    """Return up to MOST_CLOSE similar class names, the closest first.

    The name is compared with names that share its first half, then with names that share its first
    letter, each in its own case and in lower case, then with the first names of all. Long names are
    not compared.
    """
    if len(name) > LONGEST_COMPARED:
        return ()
    for prefix in _prefixes(name):
        listed = islice(client.classes(prefix, page=MOST_COMPARED), MOST_COMPARED)
        names = [each.name for each in listed if len(each.name) <= LONGEST_COMPARED]
        lower = {each.lower(): each for each in reversed(names)}
        if close := get_close_matches(name.lower(), lower, MOST_CLOSE):
            return [lower[each] for each in close]
    return ()


def _prefixes(name: str) -> list[str]:
    begins = (name[: len(name) // 2], name[:1])
    cases = [case for begin in begins for case in (begin, begin.lower(), begin.capitalize())]
    return list(dict.fromkeys([*cases, ""]))

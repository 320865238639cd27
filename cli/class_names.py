"""Names of classes as a user gives them: whether a class exists, and names like it."""

from collections.abc import Sequence
from difflib import get_close_matches
from http import HTTPStatus
from itertools import islice
from typing import Final

from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused

MOST_COMPARED: Final = 1000  # names that begin alike
MOST_CLOSE: Final = 3
LONGEST_COMPARED: Final = 200  # letters: a comparison takes the square of them


def has_class(client: Client, name: str) -> bool:
    """Return whether a class of this name was taught or placed in the taxonomy."""
    return is_taught(client, name) or is_placed(client, name)


def is_taught(client: Client, name: str) -> bool:
    """Return whether a class of this name was taught."""
    # A class would read every feature; in the order of the listing the name itself comes first.
    return any(each.name == name for each in islice(client.classes(name, page=1), 1))


def is_placed(client: Client, name: str) -> bool:
    """Return whether a class that was not taught is in the taxonomy."""
    try:
        client.class_(name, limit=1)
    except RequestRefused as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True


def close_names(client: Client, name: str) -> Sequence[str]:
    """Return up to MOST_CLOSE names of classes like this one, the closest first.

    It is compared with names that begin as its first half does, then as its first letter, in the
    case of the name and in lower case, then with the first of all. Long names are not compared.
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

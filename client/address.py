"""The URL of a service apart from its credentials, so that no message and no log can show them."""

import re
from typing import Final
from urllib.parse import unquote

from manyclass.client.errors import Unusable

_URL: Final = re.compile(
    r"(?P<scheme>https?://)"
    r"((?P<user>[^:/?#@]*)(:(?P<password>[^/?#@]*))?@)?"
    r"(?P<place>(\[[0-9A-Fa-f:.]+\]|[^:/?#@\[\]\s]+)(:[0-9]{1,5})?(/[^?#@\s]*)?)",
    re.IGNORECASE,
)
_KEY: Final = re.compile(r"[!-~]+")  # a header can carry it, and it has no blanks


def divided(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return the URL without user and password, and these if it has them; Unusable."""
    found = _URL.fullmatch(url)
    if found is None:
        raise Unusable(
            "the URL of the service is not http://HOST:PORT or https://HOST; within a user name or"
            " a password, / ? # @ are written %2F %3F %23 %40"
        )
    address = found["scheme"] + found["place"].rstrip("/")
    if found["user"] is None:
        return address, None
    return address, (unquote(found["user"]), unquote(found["password"] or ""))


def check_key(key: str) -> None:
    """Raise Unusable for a key that a header cannot carry. Its message has no part of the key."""
    if _KEY.fullmatch(key):
        return
    place = next(at for at, sign in enumerate(key, 1) if not _KEY.fullmatch(sign))
    if place == len(key.rstrip()) + 1:
        raise Unusable(
            "the key ends with a blank or the end of a line, as a file's content may: leave it out"
        )
    raise Unusable(
        f"character {place} of the key is none that a key can have: keys consist of printable ASCII"
        " without blanks"
    )

"""The URL of a service without its credentials, so that no message or log shows them."""

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
_KEY: Final = re.compile(r"[!-~]+")  # characters that a header can carry, without blanks


def divided(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return the URL without user and password, and these, or None. Raises Unusable."""
    found = _URL.fullmatch(url)
    if found is None:
        raise Unusable(
            "the URL of the service must be http://HOST:PORT or https://HOST; in a user name or a"
            " password, write / ? # @ as %2F %3F %23 %40"
        )
    address = found["scheme"] + found["place"].rstrip("/")
    if found["user"] is None:
        return address, None
    return address, (unquote(found["user"]), unquote(found["password"] or ""))


def check_key(key: str) -> None:
    """Raise Unusable for a key that a header cannot carry; the message has no part of the key."""
    if _KEY.fullmatch(key):
        return
    place = next(at for at, sign in enumerate(key, 1) if not _KEY.fullmatch(sign))
    if place == len(key.rstrip()) + 1:
        raise Unusable(
            "the key ends with a blank or a line end, perhaps because it was read from a file:"
            " remove it"
        )
    raise Unusable(
        f"character {place} of the key is none that a key can have: keys consist of printable ASCII"
        " without blanks"
    )

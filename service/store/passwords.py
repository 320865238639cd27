"""URLs of stores for messages: without passwords, however the URL is written."""

import re
from typing import Final

HIDDEN: Final = "(hidden)"
_LOCAL: Final = ("sqlite:", "file:", "memory:")  # a path may hold an @
_CREDENTIALS: Final = re.compile(r"^(?P<begin>[A-Za-z+]*:/*)(?P<user>[^:@/]*:)?.*@", re.DOTALL)


def without_passwords(url: str) -> str:
    """Return the URL with what may be a password hidden; a user name before it is kept.

    A password may hold any sign that it should not, and its user or its scheme may be missing.
    """
    if url.startswith(_LOCAL):
        return url
    begun = _CREDENTIALS.match(url)
    if begun is not None:
        url = f"{begun['begin']}{begun['user'] or ''}{HIDDEN}@{url[begun.end() :]}"
    elif "@" in url:
        url = f"{HIDDEN}@{url.rpartition('@')[2]}"
    return re.sub(r"(password=)[^&]*", rf"\1{HIDDEN}", url)

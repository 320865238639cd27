"""The kinds of settings: how a text is read, which values are valid, how a value is written."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from manyclass.core.learners.specification import split
from manyclass.core.text import ALLOWED, TextAnalysis
from manyclass.service.store.passwords import HIDDEN, without_passwords

UNITS = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}


@dataclass(frozen=True)
class Kind:
    """A kind of setting; `read` raises ValueError, `allowed` follows "must be"."""

    name: str
    allowed: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    is_valid: Callable[[Any], bool] = lambda value: True
    is_secret: bool = False


def _ascii(text: str) -> str:
    """Return the text. Raises ValueError for characters of other scripts, which `int` accepts."""
    if not text.isascii():
        raise ValueError(text)
    return text


def _read_bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9][0-9_]*) ?([KMG]iB)?", text, re.IGNORECASE)
    if match is None:
        raise ValueError(text)
    unit = (match[2] or "").lower()
    return int(match[1]) * next((n for name, n in UNITS.items() if name.lower() == unit), 1)


def write_bytes(value: int) -> str:
    """Return a number of bytes in the largest unit that divides it."""
    units = (f"{value // n}{unit}" for unit, n in UNITS.items() if value and value % n == 0)
    return next(units, str(value))


def read_flag(text: str) -> bool:
    """Return the truth value that a text stands for. Raises ValueError."""
    for value, texts in ((True, ("yes", "true", "on", "1")), (False, ("no", "false", "off", "0"))):
        if text.lower() in texts:
            return value
    raise ValueError(text)


def _read_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


def _are_keys(keys: tuple[str, ...]) -> bool:
    """Return whether each key is printable ASCII without spaces, commas and colons, perhaps
    NAME:KEY. With a second colon it would not be clear where the key begins.
    """
    return all(re.fullmatch(r"([!-+\--9;-~]+:)?[!-+\--9;-~]+", key) for key in keys)


def key_parts(key: str) -> tuple[str, str]:
    """Return the name in front of a key, which may be empty, and the key that is sent."""
    name, _, secret = key.rpartition(":")
    return name, secret


def _are_origins(origins: tuple[str, ...]) -> bool:
    """Return whether a browser may send exactly these texts as Origin."""
    pattern = r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?"
    return all(re.fullmatch(pattern, origin) for origin in origins)


def _read_hosts(text: str) -> tuple[str, ...]:
    return tuple(_host(part) for part in _read_list(text.lower()) if part)


def _host(text: str) -> str:
    """Return a name or an address in the form of the header Host, without the port."""
    name = re.sub(r"^([^:]*|\[.*\]):[0-9]+$", r"\1", text)
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _are_hosts(hosts: tuple[str, ...]) -> bool:
    return all(re.fullmatch(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]", host) for host in hosts)


TEXT = Kind("text", "not empty", str, is_valid=bool)
TITLE = Kind(
    "title",
    "a line of at most 60 characters",
    str.strip,
    is_valid=lambda title: len(title) <= 60 and (not title or title.isprintable()),
)
URL = Kind("URL", "not empty", str, without_passwords, bool)
WHOLE = Kind("whole number", "a whole number", lambda text: int(_ascii(text)))
SECONDS = Kind(
    *("seconds", "a number of seconds", lambda text: float(_ascii(text))),
    write=lambda value: str(value).removesuffix(".0"),
    is_valid=isfinite,
)
BYTES = Kind("bytes", "a number of bytes, such as 1048576 or 1MiB", _read_bytes, write_bytes)
FLAG = Kind("yes or no", "yes or no", read_flag, lambda value: "yes" if value else "no")
KEYS = Kind(
    "keys",
    "KEY or NAME:KEY in printable ASCII, separated by commas; neither a name nor a key may have a"
    " colon or a space",
    _read_list,
    lambda keys: f"{len(keys)} {HIDDEN}" if keys else "",
    _are_keys,
    is_secret=True,
)
ORIGINS = Kind(
    "origins",
    "origins such as https://app.example or http://localhost:3000, without a path, separated by"
    " commas; * and null are refused, because any web page could use the service",
    lambda text: _read_list(text.lower()),
    ",".join,
    _are_origins,
)
HOSTS = Kind(
    "hosts",
    "names or addresses such as app.example or [::1], separated by commas; * is refused, because"
    " anyone can make a name that leads to the service",
    _read_hosts,
    ",".join,
    _are_hosts,
)
PATH = Kind(
    "path",
    "empty, or a path such as /manyclass",
    lambda text: text.rstrip("/"),
    is_valid=lambda path: re.fullmatch(r"(/[\w.~!$&'()*+,;=:@%-]+)*", path, re.ASCII) is not None,
)
ANALYSIS = Kind("analysis of texts", ALLOWED, TextAnalysis.parse)
LEARNER = Kind("learner", "a learner, such as pa or pa(replay=4)", str, is_valid=bool)
LEARNERS = Kind(
    "learners",
    "learners separated by commas, such as ff,pa(replay=4), or none",
    lambda text: () if text == "none" else tuple(split(text)),
    lambda learners: ",".join(learners) or "none",
)

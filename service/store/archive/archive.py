"""The interface of an archive, and the names it takes."""

import re
from collections.abc import Callable
from typing import Protocol

from manyclass.service.store.errors import StoreUnavailable

# One folder and a file. A part begins with no dot, so that no name leaves the archive and none is
# that of a temporary file; a file system takes names of 255 bytes.
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}"
_NAME = re.compile(rf"{_PART}/{_PART}")


class Archive(Protocol):
    """Keeps named bytes. Any thread may call any method at any time; all block.

    All raise StoreUnavailable with a hint if the place does not answer or refuses, and ValueError
    for a name that `is_name` refuses.
    """

    def put(self, name: str, body: bytes) -> None:
        """Keep an object, in place of one of that name; return when it is durable.

        A reader meanwhile finds the whole old object or the whole new one.
        """

    def get(self, name: str) -> bytes | None:
        """Return an object, None if there is none."""

    def delete(self, name: str) -> None:
        """Delete an object, if there is one; return when that is durable."""

    def names(self) -> list[str]:
        """Return the names of all objects, sorted."""

    def delete_unfinished(self, is_meant: Callable[[str], bool]) -> None:
        """Delete what calls of `put` have left that never ended, of objects with such names."""

    @property
    def shown(self) -> str:
        """The place, for messages."""


def is_name(text: str) -> bool:
    """Return whether an object may have this name: FOLDER/FILE of letters, digits, - . and _."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str) -> str:
    """Return the name. Raises ValueError if no object may have it."""
    if not is_name(name):
        raise ValueError(f"{name!r} cannot be the name of an archived object")
    return name


def unavailable(shown: str, failure: str, hint: str) -> StoreUnavailable:
    """Return the error of an archive that failed; `failure` says at what and why."""
    return StoreUnavailable(f"the archive {shown} {failure}", hint)

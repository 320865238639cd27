"""The path prefix with which clients reach the service behind a proxy; the proxy removes it."""

from collections.abc import Mapping
from typing import Final

from manyclass.service.config.kinds import PATH
from manyclass.service.config.settings import Settings
from manyclass.service.http.problems import Problem

HEADER: Final = "x-forwarded-prefix"
LONGEST = 1_000  # bytes of the header X-Forwarded-Prefix


class Prefix:
    """The path prefix from a setting, or from a header of each request if the proxy is trusted.

    An untrusted client could use the header to put another path into a cached document.
    """

    def __init__(self, settings: Settings) -> None:
        self._path = settings.root_path
        self._is_forwarded = settings.forwarded_prefix

    def of(self, headers: Mapping[str, str]) -> str:
        """Return the path prefix, or an empty text. Raises Problem 400 for an invalid header."""
        given = headers.get(HEADER) if self._is_forwarded else None
        if given is None:
            return self._path
        path: str = PATH.read(given.strip())
        if len(given) > LONGEST or not PATH.is_valid(path):
            raise Problem(400, f"X-Forwarded-Prefix must be {PATH.allowed}.")
        return path

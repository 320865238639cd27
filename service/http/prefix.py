"""The path of a proxy below which clients reach the service; the proxy takes it away."""

from collections.abc import Mapping
from typing import Final

from manyclass.service.config.kinds import PATH
from manyclass.service.config.settings import Settings
from manyclass.service.http.problems import Problem

HEADER: Final = "x-forwarded-prefix"
LONGEST = 1_000  # bytes of the header


class Prefix:
    """Tells the path by a setting, or by a header of each request if the proxy is trusted.

    From any client the header would put another path into a document that a cache may keep.
    """

    def __init__(self, settings: Settings) -> None:
        self._path = settings.root_path
        self._is_forwarded = settings.forwarded_prefix

    def of(self, headers: Mapping[str, str]) -> str:
        """Return the path, empty without a proxy. Raises Problem 400 for a header that is none."""
        given = headers.get(HEADER) if self._is_forwarded else None
        if given is None:
            return self._path
        path: str = PATH.read(given.strip())
        if len(given) > LONGEST or not PATH.is_valid(path):
            raise Problem(400, f"X-Forwarded-Prefix must be {PATH.allowed}.")
        return path

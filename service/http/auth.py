"""API keys with three scopes, each of which includes the ones below it."""

from collections.abc import Sequence
from enum import IntEnum
from hmac import compare_digest

from manyclass.service.http.problems import Problem

_BEARER = b"bearer "


class Scope(IntEnum):
    """The rights of a key: LEARN includes RANK, and ADMIN includes both."""

    RANK = 1
    LEARN = 2
    ADMIN = 3


class ApiKeys:
    """Checks the key of a request. Without any key set every request passes (`open`)."""

    def __init__(self, rank: Sequence[str], learn: Sequence[str], admin: Sequence[str]) -> None:
        by_scope = {Scope.RANK: rank, Scope.LEARN: learn, Scope.ADMIN: admin}
        self._keys = [(key.encode(), scope) for scope, keys in by_scope.items() for key in keys]
        self.open = not self._keys

    def of(self, scope: Scope) -> list[bytes]:
        """Return the keys of this scope or a higher one."""
        return [key for key, its_scope in self._keys if its_scope >= scope]

    def require(self, scope: Scope, authorization: bytes | None) -> None:
        """Raise a Problem unless the header holds a key of this scope or a higher one."""
        if self.open:
            return
        if authorization is None or authorization[: len(_BEARER)].lower() != _BEARER:
            raise _unauthorized("A key is needed: Authorization: Bearer KEY.")
        given = authorization[len(_BEARER) :].strip()
        granted = 0
        for key, its_scope in self._keys:  # compare all: the time must not show which one matched
            if compare_digest(key, given):
                granted = its_scope  # the last match is the highest
        if not granted:
            raise _unauthorized("This key is not known here.")
        if granted < scope:
            raise Problem(
                403, f"This key may not do that; it needs the scope {scope.name.lower()}."
            )


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})

"""API keys with three scopes, each of which includes the lower ones."""

from collections.abc import Sequence
from enum import IntEnum

from manyclass.service.http.gate import Keys
from manyclass.service.http.problems import Problem

NO_KEY, UNKNOWN_KEY = -1, 0  # in place of a scope, as in native/gate.hpp


class Scope(IntEnum):
    """The rights of a key: LEARN includes RANK, and ADMIN includes both."""

    RANK = 1
    LEARN = 2
    ADMIN = 3


class ApiKeys:
    """The check of a request's key. Without keys, every request passes (`open`)."""

    def __init__(self, rank: Sequence[str], learn: Sequence[str], admin: Sequence[str]) -> None:
        by_scope = {Scope.RANK: rank, Scope.LEARN: learn, Scope.ADMIN: admin}
        keys = [(key.encode(), int(scope)) for scope, keys in by_scope.items() for key in keys]
        self.native = Keys(keys)
        self.open = not keys

    def require(self, scope: Scope, authorization: bytes | None) -> None:
        """Raise Problem unless the header has a key of this scope or a higher one."""
        if self.open:
            return
        granted = NO_KEY if authorization is None else self.native.scope_of(authorization)
        if granted == NO_KEY:
            raise _unauthorized("A key is needed: Authorization: Bearer KEY.")
        if granted == UNKNOWN_KEY:
            raise _unauthorized("This key is unknown.")
        if granted < scope:
            raise Problem(403, f"This call needs a key with the scope {scope.name.lower()}.")


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})

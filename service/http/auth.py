"""API keys with three scopes, each of which includes the lower ones."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from manyclass.service.config.kinds import key_parts
from manyclass.service.http.gate import Keys
from manyclass.service.http.problems import Problem

NO_KEY, UNKNOWN_KEY = -1, 0  # in place of a scope, as in native/gate.hpp


class Scope(IntEnum):
    """The rights of a key: LEARN includes RANK, and ADMIN includes both."""

    RANK = 1
    LEARN = 2
    ADMIN = 3


class Signer(NamedTuple):
    """The person of the key of a request: the name of the key, None without one."""

    name: str | None = None
    is_admin: bool = False

    def person(self, given: str | None) -> str | None:
        """Return the name of the person of a request; `given` is that in the request.

        A key with a name decides, but an admin key may name another person.
        """
        return given if self.name is None or (self.is_admin and given) else self.name

    def reviewer(self, given: str | None) -> str | None:
        """Return the name of the reviewer of a body; `given` is that in the body.

        Raise Problem for another name than that of the key, instead of labelling by a guess.
        """
        person = self.person(given)
        if given is not None and person != given:
            detail = (
                f"The key is that of {person!r}, and `reviewer` names {given!r}: leave `reviewer`"
                " out, or send that person's key or an admin key."
            )
            raise Problem.at(403, detail, "reviewer")
        return person


NOBODY: Final = Signer()


class ApiKeys:
    """The check of a request's key. Without keys, every request passes (`open`)."""

    def __init__(self, rank: Sequence[str], learn: Sequence[str], admin: Sequence[str]) -> None:
        """Take keys, of which each may follow its name: `anna:KEY`."""
        by_scope = {Scope.RANK: rank, Scope.LEARN: learn, Scope.ADMIN: admin}
        keys = [_parted(key, scope) for scope, keys in by_scope.items() for key in keys]
        self.native = Keys(keys)
        self.names = frozenset(name.decode() for _, _, name in keys if name)
        self.open = not keys

    def require(self, scope: Scope, authorization: bytes | None) -> Signer:
        """Return whose key it is. Raise Problem unless the header has a key of this scope or a
        higher one.
        """
        if self.open:
            return NOBODY
        granted, name = NO_KEY, b""
        if authorization is not None:
            granted, name = self.native.granted_to(authorization)
        if granted == NO_KEY:
            raise _unauthorized("A key is needed: Authorization: Bearer KEY.")
        if granted == UNKNOWN_KEY:
            raise _unauthorized("This key is unknown.")
        if granted < scope:
            raise Problem(403, f"This call needs a key with the scope {scope.name.lower()}.")
        return Signer(name.decode() or None, granted == Scope.ADMIN)


def _parted(key: str, scope: Scope) -> tuple[bytes, int, bytes]:
    """Return a key, its scope and its name, which stands before a colon."""
    name, secret = key_parts(key)
    return secret.encode(), int(scope), name.encode()


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})

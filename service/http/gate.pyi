from collections.abc import Iterable
from typing import Self, final

@final
class Keys:
    """The keys of a service, each with the number of its scope, which is above 0."""

    def __new__(cls, keys: Iterable[tuple[bytes, int]]) -> Self: ...
    def scope_of(self, authorization: bytes) -> int:
        """Return the scope of the key in this header; 0 for an unknown key, -1 without one."""

@final
class Hosts:
    """The names that a service answers to, in lower case; none: every name."""

    def __new__(cls, names: Iterable[bytes]) -> Self: ...
    def have(self, host: bytes) -> bool:
        """Return whether a header Host has one of the names, in any case and with any port."""

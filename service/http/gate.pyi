from collections.abc import Iterable
from typing import Self, final

@final
class Keys:
    """The keys of a service, each with the number of its scope, above 0, and its name, which may be
    empty."""

    def __new__(cls, keys: Iterable[tuple[bytes, int, bytes]]) -> Self: ...
    def granted_to(self, authorization: bytes) -> tuple[int, bytes]:
        """Return the scope of the key in this header, 0 for an unknown key, -1 without a key, and
        the name of the key."""

@final
class Hosts:
    """The names allowed in the header Host, in lower case; if there are none, all are allowed."""

    def __new__(cls, names: Iterable[bytes]) -> Self: ...
    def have(self, host: bytes) -> bool:
        """Return whether the header Host has one of the names, in any case and with any port."""

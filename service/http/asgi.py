"""The types of ASGI, and the path of a request without the prefix of a proxy."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[AsgiScope, Receive, Send], Awaitable[None]]
Headers = Mapping[bytes, bytes]  # by lower-case name


class Endpoint(NamedTuple):
    """A route for the scope of a request that no router handles, so that it can be counted."""

    path_format: str


def path_of(scope: Mapping[str, Any]) -> str:
    """Return the path of a request without the root path."""
    path: str = scope["path"]
    root_path: str = scope.get("root_path", "")
    return path.removeprefix(root_path) if root_path else path

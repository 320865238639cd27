"""The types of ASGI, and the headers of a request by lower-case name."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[AsgiScope, Receive, Send], Awaitable[None]]
Headers = Mapping[bytes, bytes]

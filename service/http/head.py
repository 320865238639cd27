"""HEAD: every path with GET accepts it, and answers without the body (RFC 9110, 9.3.2)."""

import asyncio
from collections.abc import Iterable
from typing import Any

from manyclass.service.http.asgi import AsgiScope, Send


def as_get(scope: AsgiScope, send: Send) -> tuple[AsgiScope, Send]:
    """Return the request as a GET, and a `send` that leaves the body out."""

    async def send_head(message: Any) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif message.get("more_body"):
            await asyncio.sleep(0)  # a long body is made in pieces; other requests run between
        else:
            await send({"type": "http.response.body", "body": b""})

    return {**scope, "method": "GET"}, send_head


def with_head(methods: Iterable[str]) -> list[str]:
    """Return the methods in order, with HEAD if GET is one of them."""
    found = {*methods}
    return sorted(found | {"HEAD"} if "GET" in found else found)

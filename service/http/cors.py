"""Cross-origin resource sharing: pages of allowed origins may read the answers of the service."""

from collections.abc import Iterable, Sequence
from typing import Any

from manyclass.service.http.asgi import Application, AsgiScope, Receive, Send

PREFLIGHT_SECONDS = b"600"  # time for which a browser may cache the answer to a preflight

_EXPOSED = (
    b"access-control-expose-headers",
    b"Allow, Content-Disposition, Preference-Applied, Retry-After, WWW-Authenticate",
)
_CREDENTIALS = (b"access-control-allow-credentials", b"true")
_ASKED = b"access-control-request-headers"
_VARY = (b"vary", b"Origin")  # a cache must not give one origin the answer for another


class Cors:
    """The part that adds headers with which pages of allowed origins may read every answer.

    It answers preflights itself, because a browser sends them without a key. An allowed page may
    use each of `methods` and add any header, for example those of its tracing.
    """

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed)
        self.is_enabled = bool(self._allowed)
        self.methods: Sequence[str] = ()  # the methods of all routes

    async def call(
        self, application: Application, scope: AsgiScope, receive: Receive, send: Send
    ) -> None:
        """Let the application answer a request, or answer a preflight."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        added = self.headers_for(origin)
        if (
            origin in self._allowed
            and scope["method"] == "OPTIONS"
            and b"access-control-request-method" in headers
        ):
            head = [*added, *self._on_preflight(headers.get(_ASKED))]
            await send({"type": "http.response.start", "status": 204, "headers": head})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = message | {"headers": [*message.get("headers", ()), *added]}
            await send(message)

        await application(scope, receive, send_with_headers)

    def _on_preflight(self, asked: bytes | None) -> list[tuple[bytes, bytes]]:
        """Return the headers that allow a page any method and the headers in `asked`."""
        return [
            (b"vary", b"Access-Control-Request-Headers"),
            (b"access-control-allow-methods", ", ".join(self.methods).encode()),
            *([(b"access-control-allow-headers", asked)] if asked else ()),
            (b"access-control-max-age", PREFLIGHT_SECONDS),
        ]

    def headers_for(self, origin: bytes | None) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer to a request of this origin; empty if CORS is off."""
        if origin is None or origin not in self._allowed:
            return [_VARY]
        return [_VARY, (b"access-control-allow-origin", origin), _CREDENTIALS, _EXPOSED]

    def add_to(self, response: bytes, request_headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Return a whole response with the CORS headers for a request with these headers."""
        if not self.is_enabled:
            return response
        added = self.headers_for(dict(request_headers).get(b"origin"))
        head, end, body = response.partition(b"\r\n\r\n")
        lines = b"".join(b"\r\n%s: %s" % pair for pair in added)
        return b"".join((head, lines, end, body))

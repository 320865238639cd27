"""The bytes of whole responses, and the parts of a connection that uvicorn does not have."""

from asyncio import Transport
from collections.abc import Callable
from http import HTTPStatus
from itertools import chain

from manyclass.service.http.problems import Problem, unavailable


class Outlet:
    """A transport that drops writes after its close: a client may close its socket at any time."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.is_closing = transport.is_closing
        self.close = transport.close
        self.abort = transport.abort
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes) -> None:
        """Send this, unless the connection is closed."""
        if not self._transport.is_closing():
            self._transport.write(data)


class BehindHead:
    """The callbacks of a parser that begins behind a head: until `primed` they do nothing."""

    def __init__(self, protocol: object) -> None:
        self._protocol = protocol
        self.primed = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        callback = getattr(self._protocol, name)

        def call(*given: bytes) -> None:
            if self.primed:
                callback(*given)

        return call


def response_of(problem: Problem, close: bool) -> bytes:
    """Return the whole response in bytes, headers included."""
    status, headers, body = problem.answer()
    first = b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())
    last = [b"connection: close"] if close else []
    head = chain([first], (b"%s: %s" % pair for pair in headers), last)
    return b"\r\n".join([*head, b"", body])


_OVERLOAD = unavailable("Too many rankings are in progress at once.")
OVERLOADED = response_of(_OVERLOAD, close=False)
OVERLOADED_LAST = response_of(_OVERLOAD, close=True)
# Sent before any request is read: the origin is unknown, so web pages cannot read the response.
TOO_MANY_CONNECTIONS = response_of(unavailable("There are too many connections."), close=True)

"""Limits of a head, bytes of whole responses, and parts of a connection that uvicorn lacks."""

from asyncio import Transport
from collections.abc import Callable
from http import HTTPStatus
from itertools import chain

import httptools

from manyclass.service.http.problems import Problem, problem_of, unavailable

MOST_HEAD_BYTES = 65_536  # of URL and headers
MOST_HEADERS = 100


class Outlet:
    """A transport that drops writes after its close, because a client may close at any time."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.is_closing = transport.is_closing
        self.close = transport.close
        self.abort = transport.abort
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes) -> None:
        """Send the data, unless the connection is closed."""
        if not self._transport.is_closing():
            self._transport.write(data)


class BehindHead:
    """The callbacks of a parser that begins after a head; they do nothing until `primed`."""

    def __init__(self, protocol: object) -> None:
        self._protocol = protocol
        self.primed = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        callback = getattr(self._protocol, name)

        def call(*given: bytes) -> None:
            if self.primed:
                callback(*given)

        return call


def parser_problem(error: httptools.HttpParserError) -> Problem:
    """Return the problem raised in a callback of the parser, or the one of a request that is not
    HTTP.
    """
    cause = error.__context__
    if isinstance(cause, Problem | MemoryError):
        return problem_of(cause)
    return Problem(400, "The request is not valid HTTP.")


def head_too_large() -> Problem:
    """Return the problem of a head that is too large."""
    return Problem(431, f"URL and headers have at most {MOST_HEAD_BYTES} bytes in total.")


def too_many_headers() -> Problem:
    """Return the problem of a head with too many headers."""
    return Problem(431, f"A request has at most {MOST_HEADERS} headers.")


def response_of(problem: Problem, close: bool) -> bytes:
    """Return the bytes of the whole response with headers."""
    status, headers, body = problem.answer()
    first = b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())
    last = [b"connection: close"] if close else []
    head = chain([first], (b"%s: %s" % pair for pair in headers), last)
    return b"\r\n".join([*head, b"", body])


class Refusal:
    """A refusal of requests above a limit, as bytes that are made once."""

    def __init__(self, detail: str) -> None:
        problem = unavailable(detail)
        self._answers = {close: response_of(problem, close) for close in (False, True)}

    def answer(self, method: str, close: bool) -> bytes:
        """Return the response to a request with this method."""
        answer = self._answers[close]
        return answer[: answer.index(b"\r\n\r\n") + 4] if method == "HEAD" else answer


TOO_MANY_RANKINGS = Refusal("Too many rankings are in progress at once.")
TOO_MANY_READS = Refusal("Too many GETs are in progress at once.")
# Sent before any request is read. The origin is unknown, so web pages cannot read the response.
TOO_MANY_CONNECTIONS = response_of(unavailable("There are too many connections."), close=True)

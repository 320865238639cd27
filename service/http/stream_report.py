"""The answer to a stream of events: faults, warnings, progress and the last line.

A client may send all its lines before it reads any of the answer. An answer longer than the buffers
in between would then block both sides for ever. So the number and length of reported faults are
bounded, and progress is reported less and less often.
"""

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from manyclass.service.http.asgi import Headers, Send
from manyclass.service.http.problems import Fault, Problem
from manyclass.service.http.request_body import NDJSON
from manyclass.service.http.schemas.learn import StreamFault, StreamWarning
from manyclass.service.http.schemas.parts import WarningDocument

PROGRESS_LINES = 5000
PROGRESS_SECONDS = 5.0  # between two reports if lines arrive slowly
MOST_PROGRESS_AT_ONE_PACE = 50
MOST_FAULTS = 100
LONGEST_DETAIL = 300

_encode = msgspec.json.Encoder().encode


class ProgressSchedule:
    """The schedule of progress reports by lines and by time, less often as the stream goes on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lines = PROGRESS_LINES
        self._seconds = PROGRESS_SECONDS
        self._reports = 0
        self._last_line = 0
        self._last_time = self._clock()

    def is_due(self, settled: int) -> bool:
        """Return whether to report the lines up to this one as settled; note it if so."""
        new = settled - self._last_line
        if new < self._lines and (not new or self._clock() - self._last_time < self._seconds):
            return False
        self._last_line = settled
        self._last_time = self._clock()
        self._reports += 1
        if self._reports % MOST_PROGRESS_AT_ONE_PACE == 0:
            self._lines *= 2
            self._seconds *= 2
        return True


class StreamReport:
    """The answer to one stream, with one object per line."""

    def __init__(self, headers: Headers, send: Send) -> None:
        self._send = send
        self._unsent = b""
        self._faults = 0
        self._warnings = 0
        self.is_minimal = _prefers_minimal(headers)  # send nothing before the end
        self.has_begun = False

    async def reject(self, line: int, problem: Problem) -> None:
        """Report a line that was skipped."""
        self._faults += 1
        if self._faults > MOST_FAULTS:
            return
        errors = [
            Fault(fault.detail[:LONGEST_DETAIL], fault.pointer[:LONGEST_DETAIL])
            for fault in problem.faults[:1]
            if fault.pointer is not UNSET
        ]
        await self.write(StreamFault(line, problem.status, problem.detail[:LONGEST_DETAIL], errors))

    async def warn(self, line: int, warning: WarningDocument) -> None:
        """Report a line that was accepted with a warning."""
        self._warnings += 1
        if self._warnings <= MOST_FAULTS:
            await self.write(StreamWarning(line, warning.detail, warning.pointer))

    async def write(self, message: msgspec.Struct, more: bool = True) -> None:
        """Send a message, or keep it until the last message, which has `more` False."""
        body = self._unsent + _encode(message) + b"\n"
        if self.is_minimal and more:
            self._unsent = body
            return
        if not self.has_begun:
            self.has_begun = True
            headers = [(b"content-type", NDJSON)]
            if self.is_minimal:
                headers.append((b"preference-applied", b"return=minimal"))
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


def _prefers_minimal(headers: Headers) -> bool:
    """Return whether the client asks for the whole answer at the end (RFC 7240).

    Some proxies stop forwarding a request once its answer has begun.
    """
    preferences = headers.get(b"prefer", b"").lower().split(b",")
    return any(each.split(b";")[0].strip() == b"return=minimal" for each in preferences)

"""One application that answers plain rankings in native code, beside one that does not.

Both have the same state and receive the same bytes, on a transport in this process.
"""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from unittest.mock import patch

from uvicorn.server import ServerState

from manyclass.service.http.server import server_of
from manyclass.service.ingest import pending_labels
from tests.service.faulty import PATIENCE
from tests.service.serving import calling

PREFIX = "0123456789ab-"  # of the ids that both make
TURNS = 8  # of the event loop, after which a request that can be answered is
HEADERS = [(b"date", b"today")]


COUNTED = (
    *("request_duration_seconds_count", "rank_duration_seconds_count", "abstained_total"),
    "learn_events_total",
)


def samples(metrics, name):
    """Return the samples of a metric, by their labels."""
    return {
        tuple(sample.labels.items()): sample.value
        for family in metrics.collect()
        for sample in family.samples
        if sample.name == f"manyclass_{name}"
    }


class Line:
    """A transport that keeps what is written to it."""

    def __init__(self):
        self.written = b""
        self.writes = 0
        self.closed = self.reading_paused = False

    def write(self, data):
        self.written += data
        self.writes += 1

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return 0

    def get_extra_info(self, name, default=None):
        return {"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 6)}.get(name, default)

    def pause_reading(self):
        self.reading_paused = True

    def resume_reading(self):
        self.reading_paused = False


class Way:
    """One of the two applications, behind its protocol."""

    def __init__(self, call):
        self.call = call
        self.app = call.app
        self.config = server_of(self.app, self.app.engine.settings).config
        self.config.load()
        self.state = ServerState()
        self.state.default_headers = HEADERS

    @property
    def answered_plainly(self):
        native = self.app.native
        return 0 if native is None else native.rankings.answered + native.learning.answered

    def connect(self):
        """Return a new connection, as a pair of its protocol and its transport."""
        protocol = self.config.http_protocol_class(self.config, self.state, {})
        line = Line()
        protocol.connection_made(line)
        return protocol, line

    async def talk(self, *pieces):
        """Send the pieces on one connection; return what was written, and if it was closed."""
        protocol, line = self.connect()
        for piece in pieces:
            protocol.data_received(piece)
            await self.settle(protocol)
        answer = line.written, line.closed
        line.close()
        protocol.connection_lost(None)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return answer

    async def settle(self, protocol):
        """Wait until the requests that came whole are answered."""
        for _ in range(TURNS):
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            while self._is_busy(protocol):
                await asyncio.sleep(0)

    @staticmethod
    def _is_busy(protocol):
        running = protocol._running
        if protocol._learning is not None:
            return not protocol.transport.is_closing()
        return running is not None and not running.more_body and not protocol.transport.is_closing()

    def counts(self):
        """Return all counts that requests change."""
        metrics, limits = self.app.api.state.metrics, self.app.limits
        pending = self.app.api.state.pending
        learner = self.app.engine.model.learner
        return {
            **{name: samples(metrics, name) for name in COUNTED},
            "without features": metrics.without_features,
            "cut texts": metrics.with_cut_texts,
            "pending": (len(pending), pending.bytes),
            "waiting": [
                (each.id, each.data, each.served, each.source, each.text)
                for each in pending.least_certain(10_000)
            ],
            "requests in all": self.state.total_requests,
            "shed": limits.admission.shed,
            "taken": (limits.admission.short.taken, limits.admission.long.taken),
            "bytes": limits.budget.used,
            "bad": limits.bad_requests,
            "connections": (limits.connections, len(limits.idle)),
            "features": learner.active_features_ranked,
            "edges": learner.edges_touched,
            "digest": self.app.engine.model.digest(),
        }


class TwoWays:
    """Both applications."""

    def __init__(self, native, python):
        self.native = native
        self.python = python

    async def learn(self, events):
        """Teach the events to both."""
        for way in (self.native, self.python):
            answer = await way.call("POST", "/learn", {"events": events})
            assert answer.status_code == 200, answer.text

    async def talk(self, *pieces):
        """Send the pieces both ways; return the common answer, and if it was made natively."""
        before = self.native.answered_plainly
        native, python = await self.native.talk(*pieces), await self.python.talk(*pieces)
        assert native == python, pieces
        return native[0], self.native.answered_plainly - before

    def assert_equal_counts(self):
        native, python = self.native.counts(), self.python.counts()
        assert native == python


@asynccontextmanager
async def two_ways(**settings):
    """Yield both applications, without events."""
    chosen = {"max_concurrent": 1000, "rank_wait_seconds": 0.0} | settings
    async with AsyncExitStack() as running:
        with patch.object(pending_labels, "token_hex", lambda _: PREFIX.removesuffix("-")):
            native, python = [
                await running.enter_async_context(calling(native=is_native, **chosen))
                for is_native in (True, False)
            ]
        yield TwoWays(Way(native), Way(python))


def learn(body, *lines, **given):
    """Return the bytes of a request to learn; else as `rank`."""
    return rank(body, *lines, first=b"POST /learn HTTP/1.1", **given)


def rank(body, *lines, first=b"POST /rank HTTP/1.1", end=b"\r\n", head=None):
    """Return the bytes of a request; `head` replaces its usual headers."""
    if head is None:
        head = [b"host: 127.0.0.1", b"content-type: application/json", b"content-length: %d"]
    head = [each % len(body) if each.endswith(b"%d") else each for each in head]
    return end.join([first, *head, *lines, b"", body])

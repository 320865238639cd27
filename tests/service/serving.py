"""The service under test: in process, by messages of ASGI, or as a real server on a free port."""

import asyncio
import json
import os
import socket
import threading
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import uvicorn.server

from manyclass.core.model_state import Frozen
from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app
from manyclass.service.http.server import server_of
from tests.service.asgi_client import AsgiClient
from tests.service.faulty import PATIENCE, Clock, FaultyStore
from tests.service.shared import SharedLog

NDJSON = {"content-type": "application/x-ndjson"}
RANKING = b'{"features":["a"]}'
GET = b"GET %s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
NATIVE = os.environ.get("TIER") != "python"  # of services that do not say it themselves
KEYS = {"rank_keys": ("r",), "learn_keys": ("l",), "admin_keys": ("a",)}


def bearer(key):
    """Return the header with this key."""
    return {"authorization": f"Bearer {key}".encode()}


def line(features="a", classes="x", **more):
    """Return an event as a line of a stream."""
    event = {"features": features.split(), "classes": classes.split()} | more
    return json.dumps(event).encode() + b"\n"


class Calls:
    """A client of an app in this process, and the app."""

    def __init__(self, app, store, clock):
        self.app = app
        self.client = AsgiClient(app)
        self.store = store
        self.clock = clock

    async def __call__(self, method, target, body=None, headers=(), params=None):
        """Return the answer; send a body as JSON, bytes unchanged with the JSON content type."""
        if params is not None:
            target = f"{target}?{urlencode(params)}"
        if body is not None:
            headers = {"content-type": "application/json"} | dict(headers)
            if not isinstance(body, bytes):
                body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return await self.client.request(method, target, headers, body)

    async def learn(self, *pairs):
        """Teach pairs of (features separated by spaces, class)."""
        events = [{"features": features.split(), "classes": [name]} for features, name in pairs]
        return (await self("POST", "/learn", {"events": events})).json()

    async def ranked_id(self, features="a", **more):
        """Return the id under which the instance of these features was ranked."""
        body = {"features": features.split()} | more
        return (await self("POST", "/rank", body)).json()["id"]

    async def stream(self, *lines, **headers):
        """Send objects or bytes as lines to learn; return the objects of the answer."""
        body = b"".join(
            each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in lines
        )
        answer = await self("POST", "/learn", body, headers=NDJSON | headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == NDJSON["content-type"]
        return [json.loads(line) for line in answer.text.splitlines()]

    def streaming(self, **headers):
        """Begin a stream of events; return the conversation."""
        return Conversation(self.app, "/learn", NDJSON | headers)

    async def settled(self, seq):
        """Wait until this many events are learned."""
        while self.app.engine.model.seq < seq:
            await asyncio.sleep(0)

    async def metrics(self):
        """Return every sample by its name and labels in the Prometheus format."""
        lines = (await self("GET", "/metrics")).text.splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name.removeprefix("manyclass_"): float(value) for name, value in pairs}

    def digest(self):
        return self.app.engine.model.digest()

    def learned_digest(self):
        """Return the digest of the state without the ids of recent events."""
        frozen = self.app.engine.model.freeze()
        kept = {name: each for name, each in frozen.arrays.items() if name != "recent_events"}
        return Frozen(frozen.facts, kept).digest()


@asynccontextmanager
async def calling(ready=True, store=None, wall_clock=None, native=NATIVE, **settings):
    """Yield calls to a new app, with a ready engine unless `ready` is false.

    Behind a protocol, only an app with the `native` tier answers plain requests in native code.
    """
    clock = Clock()
    wall_clock = wall_clock or clock
    store = store or FaultyStore(wall_clock)
    app = create_app(Settings(**settings), store, clock, wall_clock)
    if not native:
        app.native = None
    async with app.api.router.lifespan_context(app.api):
        while ready and app.engine.status == "recovering":
            await asyncio.sleep(0)
        yield Calls(app, store, clock)


@asynccontextmanager
async def side_by_side(**settings):
    """Yield calls to two apps on one store that know of each other."""
    log = SharedLog()
    async with (
        calling(store=log.store("one"), **settings) as one,
        calling(store=log.store("two"), **settings) as two,
    ):
        engines = [one.app.engine, two.app.engine]
        while not all(engine.cluster.peers() for engine in engines):
            for engine in engines:
                engine.tick()
            await asyncio.sleep(0)
        yield one, two


def assert_problem(response, status, *pointers):
    """Assert that the response is a problem of this status, with faults at these pointers."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"] == "about:blank"
    assert problem["title"]
    assert problem["detail"]
    if pointers:
        assert [fault["pointer"] for fault in problem["errors"]] == list(pointers)
    return problem


class Conversation:
    """A request sent piece by piece in this process; its answer is read message by message."""

    def __init__(self, app, path, headers):
        self._receive = asyncio.Queue()
        self._sent = asyncio.Queue()
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": raw,
            "query_string": b"",
        }
        self.task = asyncio.ensure_future(app(scope, self._receive.get, self._sent.put))

    def say(self, body, more=True):
        self._receive.put_nowait({"type": "http.request", "body": body, "more_body": more})

    def leave(self):
        self._receive.put_nowait({"type": "http.disconnect"})

    async def hear(self):
        """Return the next message of the answer."""
        return await asyncio.wait_for(self._sent.get(), PATIENCE)

    async def hear_line(self):
        """Return the next object of a streamed answer."""
        message = await self.hear()
        if message["type"] == "http.response.start":
            assert message["status"] == 200
            message = await self.hear()
        return json.loads(message["body"])

    def unheard(self):
        """Return the number of unread messages of the answer."""
        return self._sent.qsize()

    async def end(self):
        """Return status, headers and the whole rest of the answer."""
        await asyncio.wait_for(self.task, PATIENCE)
        messages = [self._sent.get_nowait() for _ in range(self._sent.qsize())]
        if not messages:
            return None
        start, *bodies = messages
        return start["status"], dict(start["headers"]), b"".join(each["body"] for each in bodies)

    async def end_lines(self):
        """Return the objects of a streamed answer of which nothing was read before."""
        status, _, body = await self.end()
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]


class Pauses:
    """Stands for asyncio in uvicorn's server, whose pauses of 0.1 s end early once it stops."""

    def __init__(self):
        self._stops = WeakKeyDictionary()  # by the loop

    def __getattr__(self, name):
        return getattr(asyncio, name)

    async def sleep(self, seconds):
        stop = self._stop_of(asyncio.get_running_loop())
        if stop.is_set():
            await asyncio.sleep(0.001)
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), seconds)

    def end(self, loop):
        """End the pause of this loop and shorten the later ones, from another thread."""
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._stop_of(loop).set)

    def _stop_of(self, loop):
        return self._stops.setdefault(loop, asyncio.Event())


PAUSES = Pauses()
uvicorn.server.asyncio = PAUSES


class Served:
    """A real server in a thread."""

    def __init__(self, app, server, port):
        self.app = app
        self.server = server
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.loop = server.servers[0].get_loop()

    def stop(self):
        """Tell the server to stop, without waiting until it has."""
        self.server.should_exit = True
        PAUSES.end(self.loop)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def talk(self, *pieces):
        """Return (status, headers, body) of the answer to these bytes."""
        with self.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
            return answer_on(connection)


def answer_on(connection):
    """Return (status, headers, body) of one answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        received = connection.recv(65536)
        assert received, f"closed after {data!r}"
        data += received
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    if "content-length" in headers:
        while len(body) < int(headers["content-length"]):
            body += connection.recv(65536)
    else:
        while not body.endswith(b"0\r\n\r\n"):
            received = connection.recv(65536)
            assert received, "the answer was cut short"
            body += received
    return int(first.split()[1]), headers, body


def head(path, *lines, method="POST", kind="application/json"):
    """Return the head of a request, with more lines."""
    first = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\n"
    return "".join([first, *(f"{line}\r\n" for line in lines), "\r\n"]).encode()


def post(path, body, *lines):
    """Return a request with a JSON body."""
    return head(path, f"content-length: {len(body)}", *lines) + body


def chunk(data):
    """Return a chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def everything(connection):
    """Return all bytes until the server closes."""
    data = b""
    with suppress(ConnectionResetError):
        while received := connection.recv(65_536):
            data += received
    return data


def statuses(connection):
    """Return the statuses of all answers until the server closes, in order."""
    return [int(part[:3]) for part in everything(connection).split(b"HTTP/1.1 ")[1:]]


def until(condition):
    """Wait until the condition holds."""
    waiting = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if condition():
            return
        waiting.wait(0.005)
    raise AssertionError("it never came true")


@contextmanager
def serving(store="memory:", opened=None, native=NATIVE, **settings):
    """Yield a real server as `service.server.run` makes it, on a free port, without workers.

    `opened` is a store in place of the one named; without the `native` tier Python answers all.
    """
    chosen = Settings(store=store, port=0, **{"workers": 0} | settings)
    app = create_app(chosen, opened)
    if not native:
        app.native = None
    server = server_of(app, chosen)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        ready = threading.Event()
        while not (server.started and app.engine.status == "ready"):
            assert thread.is_alive(), "the server ended"
            ready.wait(0.005)
        yield Served(app, server, server.port)
    finally:
        server.should_exit = True
        if server.started:
            PAUSES.end(server.servers[0].get_loop())
        thread.join(PATIENCE)
        assert not thread.is_alive()

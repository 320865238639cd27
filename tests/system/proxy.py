"""A network between two programs on this machine that can be made to fail in every way."""

import asyncio
import socket
import struct
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

PIECE = 65_536
PATIENCE = 30
RESET = struct.pack("ii", 1, 0)  # closing discards unsent bytes and resets the peer


@dataclass(frozen=True)
class Way:
    """The handling of the bytes that go one way."""

    delay: float = 0  # milliseconds, at least
    hold: bool = False  # bytes wait until this ends, as behind a pulled cable
    swallow: bool = False  # bytes are read and lost; their connections close when this ends


@dataclass(frozen=True)
class Settings:
    """The state of the network. New connections are refused unless `accept`; old ones stay."""

    requests: Way = Way()  # from the proxy's clients
    replies: Way = Way()
    accept: bool = True


PASS = Settings()


class Proxy:
    """Passes connections on to a port, in a thread of its own, as `settings` says at the time.

    `counts` tells what was done: connections, connections the target refused, cuts, half-closings,
    forgotten ones, settings, and bytes passed on and swallowed by way. A context manager; `port`
    never changes.
    """

    def __init__(self, target_port):
        self.counts = Counter()
        self._target_port = target_port
        self._settings = PASS
        self._links = set()
        self._server = None
        self._place = _bound_socket(0)  # never listens: keeps the port while nothing listens there
        self.port = self._place.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()  # replaced by a new one when it happens
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._do(self._listen())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def settings(self):
        """The state of the network now; to be replaced at any time."""
        return self._settings

    @settings.setter
    def settings(self, settings):
        self._do(self._change(settings))

    def cut(self):
        """Close every connection on both sides at once; return their number."""
        return self._do(self._cut())

    def forget(self):
        """Swallow all bytes on the connections there are now, both ways, until the settings
        change, while new ones work: a router forgot them. Return their number.
        """
        return self._do(self._forget())

    def half_close(self, way):
        """End one way ("requests" or "replies") of every connection; return their number."""
        return self._do(self._half_close(way))

    def connections(self):
        """Return the number of connections now."""
        return len(self._links)

    def close(self):
        """End everything."""
        if self._loop.is_closed():
            return
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()
        self._place.close()

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    # --- in the thread ---------------------------------------------------------------------------

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, sock=_bound_socket(self.port))

    async def _change(self, settings):
        self.counts["settings"] += 1
        if self._settings.accept and not settings.accept:
            self._server.close()
        elif settings.accept and not self._settings.accept:
            await self._listen()
        self._settings = settings
        for link in list(self._links):
            if link.broken:
                link.abort()
        self._changed.set()
        self._changed = asyncio.Event()

    async def _cut(self):
        links = list(self._links)
        for link in links:
            link.abort()
        self.counts["cuts"] += len(links)
        return len(links)

    async def _forget(self):
        links = list(self._links)
        for link in links:
            link.broken = True
        self.counts["forgotten"] += len(links)
        return len(links)

    async def _half_close(self, way):
        links = list(self._links)
        for link in links:
            link.end(way)
        self.counts[f"half-closed {way}"] += len(links)
        return len(links)

    async def _end(self):
        self._server.close()
        tasks = [link.task for link in self._links]
        for link in list(self._links):
            link.abort()
        self._changed.set()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, reader, writer):
        self.counts["connections"] += 1
        link = _Link(asyncio.current_task(), {"replies": writer})
        self._links.add(link)
        try:
            target = await asyncio.open_connection("127.0.0.1", self._target_port)
            link.writers["requests"] = target[1]
            _send_at_once(writer, target[1])
            await asyncio.gather(
                self._pump(link, "requests", reader, target[1]),
                self._pump(link, "replies", target[0], writer),
            )
        except OSError:
            if len(link.writers) == 1:
                self.counts["target refused"] += 1
        finally:
            link.abort()
            self._links.discard(link)

    async def _pump(self, link, way, reader, writer):
        data = b"anything"
        while data:
            data = await reader.read(PIECE)
            if delay := getattr(self._settings, way).delay:
                await asyncio.sleep(delay / 1000)
            while getattr(self._settings, way).hold and not link.aborted:
                await self._changed.wait()
            if data and (link.broken or getattr(self._settings, way).swallow):
                link.broken = True
                self.counts[f"{way} swallowed"] += len(data)
            elif data and way not in link.ended:
                self.counts[way] += len(data)
                writer.write(data)
                await writer.drain()
        link.end(way)


class _Link:
    """A connection to the proxy and the one from there to the target."""

    def __init__(self, task, writers):
        self.task = task
        self.writers = writers  # by the way that goes out there
        self.ended = set()  # ways
        self.broken = False  # bytes are missing or will be: no later ones may follow
        self.aborted = False

    def end(self, way):
        """Close this direction, and pass the end of stream on to its receiver."""
        if way in self.ended or self.aborted or way not in self.writers:
            return
        self.ended.add(way)
        with suppress(OSError):  # gone already
            self.writers[way].write_eof()

    def abort(self):
        """Close both sides at once, with a reset."""
        self.aborted = True
        for writer in self.writers.values():
            with suppress(OSError):
                peer = writer.get_extra_info("socket")
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


def _send_at_once(*writers):
    for writer in writers:
        peer = writer.get_extra_info("socket")
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _bound_socket(port):
    """Return a socket bound to the port; several may be bound while no other one listens."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound

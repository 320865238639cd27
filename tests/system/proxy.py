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

    def __init__(self, target_port, tls=None):
        """`tls`: of the connections to the proxy; it passes on plain bytes."""
        self.counts = Counter()
        self._tls = tls
        self._target_port = target_port
        self._settings = PASS
        self._links = set()
        self._listening = None  # a socket
        self._place = _bound_socket(0)  # never listens: keeps the port while nothing listens there
        self.port = self._place.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()  # replaced by a new one when it happens
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._do(self._change(PASS))

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
        self.counts["settings"] += 1
        self._do(self._change(settings))

    def cut(self):
        """Close every connection on both sides at once; return their number."""
        return self._do(self._to_all("cuts", _Link.abort))

    def forget(self):
        """Swallow all bytes on the connections there are now, both ways, until the settings
        change, while new ones work: a router forgot them. Return their number.
        """
        return self._do(self._to_all("forgotten", _Link.forget))

    def half_close(self, way):
        """End one way ("requests" or "replies") of every connection; return their number."""
        return self._do(self._to_all(f"half-closed {way}", lambda link: link.end(way)))

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

    def _listen(self):
        # a server of asyncio loses the connections that it accepts while it is closed
        self._listening = _bound_socket(self.port)
        self._listening.setblocking(False)
        self._listening.listen()
        self._loop.add_reader(self._listening, self._accept)

    def _accept(self):
        with suppress(BlockingIOError, ConnectionError):  # the caller left again
            self._loop.create_task(self._serve(self._listening.accept()[0]))

    def _refuse(self):
        if self._listening:
            self._loop.remove_reader(self._listening)
            self._listening.close()
            self._listening = None

    async def _change(self, settings):
        if not settings.accept:
            self._refuse()
        elif not self._listening:
            self._listen()
        self._settings = settings
        for link in list(self._links):
            if link.broken:
                link.abort()
        self._changed.set()
        self._changed = asyncio.Event()

    async def _to_all(self, what, act):
        links = list(self._links)
        for link in links:
            act(link)
        self.counts[what] += len(links)
        return len(links)

    async def _end(self):
        self._refuse()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for link in list(self._links):
                link.abort()
            self._changed.set()
            await asyncio.wait(tasks, timeout=0.05)  # an accepted connection becomes a link

    async def _serve(self, accepted):
        self.counts["connections"] += 1
        try:
            reader, writer = await self._streams(accepted)
        except OSError:  # the caller left, or speaks no TLS
            return
        link = _Link(writer)
        self._links.add(link)
        try:
            target = await asyncio.open_connection("127.0.0.1", self._target_port)
            link.add("requests", target[1])
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

    async def _streams(self, accepted):
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await self._loop.connect_accepted_socket(
            lambda: protocol, accepted, ssl=self._tls
        )
        return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)

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

    def __init__(self, writer):
        self.writers = {}  # by the way that goes out there
        self._sockets = []
        self.add("replies", writer)
        self.ended = set()  # ways
        self.broken = False  # bytes are missing or will be: no later ones may follow
        self.aborted = False

    def add(self, way, writer):
        """Send this way to the writer, every piece at once."""
        peer = writer.get_extra_info("socket")
        with suppress(OSError):  # the peer may be gone
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.writers[way] = writer
        self._sockets.append(peer)

    def end(self, way):
        """Close this direction, and pass the end of stream on to its receiver."""
        if way in self.ended or self.aborted or way not in self.writers:
            return
        self.ended.add(way)
        writer = self.writers[way]
        with suppress(OSError):  # gone already
            if writer.can_write_eof():
                writer.write_eof()
            else:  # TLS ends both ways at once
                writer.close()

    def forget(self):
        """Swallow all bytes, both ways."""
        self.broken = True

    def abort(self):
        """Close both sides at once, with a reset."""
        self.aborted = True
        for peer, writer in zip(self._sockets, self.writers.values(), strict=True):
            with suppress(OSError):  # closed already
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


def _bound_socket(port):
    """Return a socket bound to the port; several may be bound while no other one listens."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound

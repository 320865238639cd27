"""TLS in front of a server that has none, and certificates for it."""

import asyncio
import ssl
import subprocess
import threading
from contextlib import suppress

START_SECONDS = 30


def make_certificate(folder, name):
    """Files of a certificate for this machine that vouches for itself, and of its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-addext", "keyUsage=critical,digitalSignature,keyCertSign"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


class TlsProxy:
    """Takes TLS on `port`, in a thread of its own, and passes on what is in it. With `client_ca`
    clients must show a certificate it vouches for.
    """

    def __init__(self, target_port, certificate, key, client_ca=None):
        self._target_port = target_port
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)
        if client_ca is not None:
            self._context.load_verify_locations(client_ca)
            self._context.verify_mode = ssl.CERT_REQUIRED
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._tasks = set()
        self._writers = set()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self._server = self._do(starting)
        self.port = self._server.sockets[0].getsockname()[1]

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(START_SECONDS)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            target = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:  # the server is down
            writer.transport.abort()
        else:
            await self._join(reader, writer, *target)
        finally:
            self._tasks.discard(task)

    async def _join(self, reader, writer, target_reader, target_writer):
        writers = {writer, target_writer}
        self._writers |= writers
        await asyncio.gather(self._pump(reader, target_writer), self._pump(target_reader, writer))
        self._writers -= writers

    async def _pump(self, reader, writer):
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def _end(self):
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS)
        self._loop.close()

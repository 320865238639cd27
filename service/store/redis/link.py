"""One connection to a Redis server."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import NoPermissionError, NoScriptError, RedisError
from redis.retry import Retry

from manyclass.service.store.redis.scripts import Script
from manyclass.service.store.redis.url import RedisUrl

# A connection that was idle for longer may have ended. The check costs a system call, and with it
# the GIL, so connections in steady use are not checked.
IDLE_SECONDS = 0.2
SOCKET_BYTES = 2**18  # at a time

Argument = str | bytes | int
Node = tuple[str, int]  # host and port


class Link:
    """A connection for one thread at a time. It cannot be used again after an error of its own; an
    answer that is an error does no harm.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection  # of the library, which leaves it untyped
        self._used_at = time.monotonic()

    def call(self, *command: Argument) -> Any:
        """Return the server's answer, with texts as bytes. Raises RedisError."""
        self.send(command)
        return self.receive()

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """Return the answer of a script; send its text if the server has none. RedisError."""
        try:
            return self.call("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            return self.call("EVAL", script.text, len(keys), *keys, *arguments)

    def send(self, *commands: Sequence[Argument]) -> None:
        """Send commands, each of which has an answer. Raises RedisError."""
        # In one piece: each further system call would release the GIL.
        pack = self._connection.pack_command
        packed = b"".join(piece for command in commands for piece in pack(*command))
        self._connection.send_packed_command([packed])

    def receive(self) -> Any:
        """Return the next answer. Raises RedisError, also for an answer that is an error."""
        answer = self._connection.read_response(disable_decoding=True)
        self._used_at = time.monotonic()
        return answer

    def ended(self) -> bool:
        """Return whether the connection ended while it was idle."""
        if time.monotonic() - self._used_at < IDLE_SECONDS:
            return False
        try:
            return bool(self._connection.can_read(0))  # any byte is an answer without a command
        except RedisError:
            return True

    def close(self) -> None:
        self._connection.disconnect()


def pairs(flat: list[bytes]) -> dict[bytes, bytes]:
    """Return a hash as a dict, from the flat list of an answer."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def open_link(
    url: RedisUrl,
    node: Node | None,
    *,
    client_name: str,
    connect_seconds: float,
    answer_seconds: float,
    sentinel: bool = False,
) -> Link:
    """Return a connection to a node, or to the socket file of the URL. Raises RedisError."""
    options: dict[str, Any] = {
        "username": url.sentinel_username if sentinel else url.username,
        "password": url.sentinel_password if sentinel else url.password,
        "db": 0 if sentinel else url.db,
        "socket_connect_timeout": connect_seconds,
        "socket_timeout": answer_seconds,
        "socket_read_size": SOCKET_BYTES,
        "retry": Retry(NoBackoff(), 0),  # callers have a retry policy of their own
        "protocol": 2,
    }
    kind: Any = UnixDomainSocketConnection  # untyped in the library
    if node is None:
        options["path"] = url.path
    else:
        kind = Connection
        options |= {"host": node[0], "port": node[1], "socket_keepalive": True}
        if url.tls:
            kind = SSLConnection
            options["ssl_ca_certs"] = url.ca_file
            options |= {"ssl_certfile": url.cert_file, "ssl_keyfile": url.key_file}
    connection = kind(**options)
    connection.connect()
    link = Link(connection)
    try:
        with suppress(NoPermissionError):  # the name is for CLIENT LIST only
            link.call("CLIENT", "SETNAME", client_name)
    except BaseException:
        link.close()
        raise
    return link

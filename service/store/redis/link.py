"""One connection to a Redis server."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis.backoff import NoBackoff
from redis.connection import (
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.exceptions import NoPermissionError, NoScriptError, RedisError
from redis.retry import Retry

from manyclass.service.store.redis.scripts import Script
from manyclass.service.store.redis.url import RedisUrl

# A connection not used for so long may have ended meanwhile. Asking costs a system call, and with
# it the GIL, so those in steady use are not asked.
IDLE_SECONDS = 0.2
SOCKET_BYTES = 2**18  # at a time

# Untyped in the library.
_TCP: Any = Connection
_TLS: Any = SSLConnection
_UNIX: Any = UnixDomainSocketConnection

Argument = str | bytes | int
Node = tuple[str, int]  # host and port


class Link:
    """A connection for one thread at a time. After an error of it there is no using it again;
    an answer that is an error is none.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection  # one of the library's, which it leaves untyped
        self._used_at = time.monotonic()

    def call(self, *command: Argument) -> Any:
        """The server's answer, texts in it as bytes. RedisError."""
        self.send(command)
        return self.receive()

    def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """The answer of a script, which the server is told if it does not know it. RedisError."""
        try:
            return self.call("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            return self.call("EVAL", script.text, len(keys), *keys, *arguments)

    def send(self, *commands: Sequence[Argument]) -> None:
        """Send commands, each of which will be answered. RedisError."""
        # In one piece: each further one would be a system call, and let go of the GIL.
        pack = self._connection.pack_command
        packed = b"".join(piece for command in commands for piece in pack(*command))
        self._connection.send_packed_command([packed])

    def receive(self) -> Any:
        """The next answer. RedisError, also for an answer that is an error."""
        answer = self._connection.read_response(disable_decoding=True)
        self._used_at = time.monotonic()
        return answer

    def ended(self) -> bool:
        """True when the connection was idle, and cannot be used again."""
        if time.monotonic() - self._used_at < IDLE_SECONDS:
            return False
        try:
            return bool(self._connection.can_read(0))  # whatever it is, nobody asked for it
        except RedisError:
            return True

    def close(self) -> None:
        self._connection.disconnect()


def pairs(flat: list[bytes]) -> dict[bytes, bytes]:
    """A hash, from the flat list that the server answers."""
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
    """A connection to a node, or to the socket file the URL names. RedisError."""
    options: dict[str, Any] = {
        "username": url.sentinel_username if sentinel else url.username,
        "password": url.sentinel_password if sentinel else url.password,
        "db": 0 if sentinel else url.db,
        "socket_connect_timeout": connect_seconds,
        "socket_timeout": answer_seconds,
        "socket_read_size": SOCKET_BYTES,
        "retry": Retry(NoBackoff(), 0),  # who asks knows best when to ask again
        "protocol": 2,
        **({} if node is None else {"socket_keepalive": True}),
    }
    connection: Any
    if node is None:
        connection = _UNIX(path=url.path, **options)
    elif url.tls:
        connection = _TLS(
            host=node[0],
            port=node[1],
            ssl_ca_certs=url.ca_file,
            ssl_certfile=url.cert_file,
            ssl_keyfile=url.key_file,
            **options,
        )
    else:
        connection = _TCP(host=node[0], port=node[1], **options)
    connection.connect()
    link = Link(connection)
    try:
        with suppress(NoPermissionError):  # it is there for who looks at CLIENT LIST
            link.call("CLIENT", "SETNAME", client_name)
    except BaseException:
        link.close()
        raise
    return link

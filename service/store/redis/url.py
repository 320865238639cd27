"""The URL of a Redis store: the server, the way to it, and the prefix of the keys.

    redis://[user:password@]host[:port][/db]                    rediss:// with TLS
    unix://[user:password@]/path/of/the/socket
    redis+sentinel://[user:password@]host[:port],.../service[/db]    rediss+sentinel://
    redis+cluster://[user:password@]host[:port],...             rediss+cluster://

Behind a `?` come the OPTIONS.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import parse_qsl, unquote, urlsplit

from manyclass.service.store.errors import StoreError

ARCHIVE = "MANYCLASS_ARCHIVE"  # the setting; tools that read a store look it up too
FORMS = (
    "redis://HOST:PORT/DB, unix://PATH, redis+sentinel://HOST:PORT,.../SERVICE/DB"
    " or redis+cluster://HOST:PORT,...; rediss instead of redis for TLS"
)
OPTIONS = (
    "name",  # of the service: every key begins with it, so that services can share a server
    "replicas",  # to wait for at each append
    "db",  # of unix://
    "ca_file",  # to trust, for TLS
    "cert_file",  # to show, for TLS
    "key_file",
    "sentinel_username",
    "sentinel_password",
)
PORT = 6379
SENTINEL_PORT = 26379


class Kind(Enum):
    """The kind of server at the addresses of a URL."""

    SERVER = "server"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class RedisUrl:
    """The parts of a URL. Passwords are not part of its text form, nor of `shown`."""

    kind: Kind
    nodes: tuple[tuple[str, int], ...]  # host and port; none for a socket file
    path: str | None  # of the socket file
    service: str  # that the sentinels know the server by
    db: int
    name: str
    replicas: int
    username: str | None
    password: str | None = field(repr=False)
    sentinel_username: str | None
    sentinel_password: str | None = field(repr=False)
    tls: bool
    ca_file: str | None
    cert_file: str | None
    key_file: str | None

    @property
    def shown(self) -> str:
        """The address, for messages."""
        place = self.path or ",".join(f"{host}:{port}" for host, port in self.nodes)
        return f"{self.service} of {place}" if self.service else place


def is_redis(url: str) -> bool:
    """Return whether the text is meant as a URL of this module."""
    return re.match(r"(rediss?|unix)\b", url) is not None


def parse(url: str) -> RedisUrl:
    """Return the parts of the URL. Raises StoreError, without a password, if it is invalid."""
    scheme, _, _ = url.partition("://")
    match = re.fullmatch(r"(redis|rediss|unix)(?:\+(sentinel|cluster))?", scheme)
    if match is None or scheme.startswith("unix+"):
        raise StoreError("the URL of the Redis store has an unknown form", f"known are {FORMS}")
    try:
        parts = urlsplit(url)
        query = _query(parts.query)
        if parts.fragment:
            raise ValueError("it has a #, which must be written %23 in a password")
        credentials, _, hosts = parts.netloc.rpartition("@")
        username, _, password = credentials.partition(":")
        kind = Kind(match[2] or "server")
        tls = match[1] == "rediss"
        db, service, path = _place(kind, match[1] == "unix", unquote(parts.path), query)
        if path is not None and hosts:
            raise ValueError("unix:// takes a path and no host")
        if not tls and any(key in query for key in ("ca_file", "cert_file", "key_file")):
            raise ValueError("ca_file, cert_file and key_file need rediss")
        if kind is Kind.SERVER and "," in hosts:
            raise ValueError("one host is enough; several need redis+sentinel or redis+cluster")
        if kind is not Kind.SENTINEL and any(key.startswith("sentinel_") for key in query):
            raise ValueError("sentinel_username and sentinel_password need redis+sentinel")
        default_port = SENTINEL_PORT if kind is Kind.SENTINEL else PORT
        return RedisUrl(
            kind=kind,
            nodes=() if path else tuple(_node(host, default_port) for host in hosts.split(",")),
            path=path,
            service=service,
            db=db,
            name=_name(query.get("name", "manyclass")),
            replicas=_number("replicas", query.get("replicas", "0")),
            username=unquote(username) or None,
            password=unquote(password) or None,
            sentinel_username=query.get("sentinel_username"),
            sentinel_password=query.get("sentinel_password"),
            tls=tls,
            ca_file=query.get("ca_file"),
            cert_file=query.get("cert_file"),
            key_file=query.get("key_file"),
        )
    except ValueError as error:
        # Without the cause: the message of urllib may quote the password.
        raise StoreError(f"the URL of the Redis store: {error}", f"known are {FORMS}") from None


def _query(text: str) -> dict[str, str]:
    pairs = parse_qsl(text.replace("+", "%2B"), keep_blank_values=True)  # no form, but a URL
    query = dict(pairs)
    for key, value in pairs:
        if not re.fullmatch(r"[a-z_]+", key):  # perhaps a part of the password: not to be shown
            raise ValueError("the part after ? must be name=value; write a ? in a password as %3F")
        if key not in OPTIONS:
            raise ValueError(f"{key!r} is unknown; the part after ? may have {', '.join(OPTIONS)}")
        if not value:
            raise ValueError(f"{key} is empty")
    if len(query) < len(pairs):
        raise ValueError("an option after the ? is given twice")
    return query


def _place(
    kind: Kind, is_file: bool, path: str, query: Mapping[str, str]
) -> tuple[int, str, str | None]:
    """Return database, service of the sentinels, and socket file."""
    if is_file:
        if path in ("", "/"):
            raise ValueError("unix:// needs the path of a socket")
        return _number("db", query.get("db", "0")), "", path
    if "db" in query:
        raise ValueError("write the database after the host: /0")
    first, _, second = path.removeprefix("/").partition("/")
    if kind is Kind.SENTINEL:
        if not first:
            raise ValueError("redis+sentinel needs /SERVICE, the name the sentinels know")
        return _number("the database", second or "0"), first, None
    if second:
        raise ValueError("the host may be followed by a database only")
    db = _number("the database", first or "0")
    if kind is Kind.CLUSTER and db:
        raise ValueError("a cluster has only database 0")
    return db, "", None


def _node(text: str, default_port: int) -> tuple[str, int]:
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:\[\]]+))(?::([0-9]+))?", text)
    if match is None:
        raise ValueError("hosts are written host:port, [address]:port for IPv6, with , between")
    port = int(match[3] or default_port)
    if not 0 < port < 2**16:
        raise ValueError("a port is a number from 1 to 65535")
    return match[1] or match[2], port


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise ValueError("name consists of 1 to 100 letters, digits, dots, - and _")
    return text


def _number(what: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII):
        raise ValueError(f"{what} is a number, and not what is written there")
    return int(text)

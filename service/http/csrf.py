"""Checks of Host and origin, which protect a service without keys from pages of other origins.

The operator of a page can make its name lead to this machine (DNS rebinding). The browser then
treats the service as the page's own server, and sends that name in Host.
"""

from collections.abc import Sequence
from ipaddress import ip_address

from manyclass.service.http.asgi import Headers
from manyclass.service.http.gate import Hosts
from manyclass.service.http.problems import Problem

_SAFE = ("GET", "HEAD")
_FOREIGN = (b"cross-site", b"same-site")
LONGEST_SHOWN = 100  # bytes of a name in an error
_LOCAL = (b"localhost", b"127.0.0.1", b"[::1]")


class CsrfGuard:
    """The checks of Host and origin of a request. If keys are needed, every origin passes.

    `hosts` are the accepted names, besides the names of this machine. If there are none, every name
    is accepted, except by a service without keys that listens only on this machine.

    A browser sends a POST without a body for a page of any origin without a preflight, but names
    the origin. Pages of the origins `allowed` pass.

    A page of another site may not send a GET either: it cannot read the answer, but an expensive
    GET still costs the service time, and its duration reveals contents of the service. A link to
    /docs may be followed from any page: the answer replaces that page, which cannot read it.
    """

    def __init__(
        self, host: str, open_to_all: bool, allowed: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> None:
        self._open = open_to_all
        local = _names(host) if open_to_all else frozenset()
        added = frozenset(each.encode() for each in hosts)
        self.hosts = Hosts(sorted(local | added | frozenset(_LOCAL) if added else local))
        self._allowed = frozenset(origin.encode() for origin in allowed)
        self._known_host: bytes | None = None  # the last Host that passed

    def require(self, method: str, headers: Headers) -> None:
        """Raise Problem 403 for a Host that is not accepted, or if a page of another origin may
        have sent the request.
        """
        host = headers.get(b"host")
        if host != self._known_host:
            if host is not None and not self.hosts.have(host):
                raise _other_host(host)
            self._known_host = host
        if not self._open or headers.get(b"origin") in self._allowed:
            return
        if b"sec-fetch-site" in headers and headers[b"sec-fetch-site"] in _FOREIGN:
            if method in _SAFE and _is_navigation(headers):
                return
            raise _forbidden("A service without keys refuses requests from pages of other sites.")
        if b"origin" in headers and (not host or _authority(headers[b"origin"]) != host.lower()):
            raise _forbidden("A service without keys refuses requests from other origins.")


def _is_navigation(headers: Headers) -> bool:
    """Return whether the user followed a link, so that the answer becomes a page."""
    return (
        headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
    )


def _other_host(host: bytes) -> Problem:
    shown = _name(host)[:LONGEST_SHOWN].decode("latin-1")
    return Problem(
        403,
        f"The name {shown!r} in Host is not allowed, because a web page could make it lead here."
        " Set MANYCLASS_ALLOWED_HOSTS to the names that clients use, separated by commas.",
    )


def _forbidden(detail: str) -> Problem:
    return Problem(
        403,
        f"{detail} Set MANYCLASS_ALLOWED_ORIGINS to the page's origin, or set keys, which any page"
        " may use.",
    )


def _names(host: str) -> frozenset[bytes]:
    """Return the names of a service that listens on `host`; none if other machines can reach it."""
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:  # a name, which may belong to any machine
        return frozenset()
    if not address.is_loopback:
        return frozenset()
    own = f"[{host}]" if address.version == 6 else host
    return frozenset((*_LOCAL, own.encode()))


def _name(host: bytes) -> bytes:
    """Return the name in a Host header, without the port."""
    if host.startswith(b"["):
        return host[: host.find(b"]") + 1]
    return host.partition(b":")[0].lower()


def _authority(origin: bytes) -> bytes:
    """Return an origin without its scheme, or an empty text for `null`."""
    return origin.partition(b"://")[2].lower()

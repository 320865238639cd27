"""Proxies of the environment: which requests use one, and how a message names it."""

import os
from ipaddress import ip_address
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import httpx

from manyclass.client.errors import ServiceUnreachable


def http_client(
    url: str,
    headers: dict[str, str],
    credentials: tuple[str, str] | None,
    timeout: float,
    transport: httpx.BaseTransport | None,
) -> httpx.Client:
    """Return an HTTP client for a service; a proxy is used only for a service on another machine.

    Raises ServiceUnreachable for a proxy of the environment that cannot be used.
    """
    is_local = is_loopback(url)
    verify: SSLContext | bool = True
    if is_local and url.lower().startswith("https:"):
        verify = httpx.create_ssl_context()  # certificates named in the environment apply too
    elif is_local:
        verify = SSLContext(PROTOCOL_TLS_CLIENT)  # reading the usual ones takes 20 ms
    try:
        return httpx.Client(
            headers=headers,
            auth=credentials,
            timeout=timeout,
            transport=transport,
            trust_env=not is_local,
            verify=verify,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        # The text of the error may have the password of the proxy.
        needs = ": SOCKS needs the package socksio" if isinstance(error, ImportError) else ""
        said = by_proxy(url) or " through a proxy of the environment"
        raise ServiceUnreachable(url, f"no connection can be made{needs}{said}") from None


def by_proxy(url: str) -> str:
    """Return the end of a message about a failed request: its proxy, if there is one."""
    host = _host(url)
    if is_loopback(url) or not host or proxy_bypass(host):
        return ""
    scheme = url.partition(":")[0].lower()
    for variable in (f"{scheme}_proxy", f"{scheme}_proxy".upper(), "all_proxy", "ALL_PROXY"):
        if proxy := os.environ.get(variable):
            return (
                f", by the proxy {_without_password(proxy)} of the variable {variable};"
                f" NO_PROXY={host} leaves it out"
            )
    return ""


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine by a loopback address."""
    host = _host(url)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _without_password(proxy: str) -> str:
    """Return the URL of a proxy without its user and password."""
    scheme, separator, place = proxy.rpartition("://")
    _, at, host = place.rpartition("@")
    return f"{scheme}{separator}{'(hidden)@' if at else ''}{host}"

"""The first lines of a ready service: the address of its console, and how to begin."""

from ipaddress import IPv6Address, ip_address
from typing import Final

from manyclass.service.config.settings import ROWS

DEFAULT_PORT: Final = ROWS["port"].default


def url_of(host: str, port: int) -> str:
    """Return the URL for a browser on this machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if address.is_unspecified:  # every address of the machine
        return f"http://localhost:{port}"
    return (
        f"http://[{host}]:{port}" if isinstance(address, IPv6Address) else f"http://{host}:{port}"
    )


def welcome(url: str, port: int, learned: int) -> list[str]:
    """Return the lines to print; a service without learned events prints how to begin."""
    lines = [f"ready, with a console at {url}/console"]
    if not learned:
        there = "" if port == DEFAULT_PORT else f" --url {url}"
        lines += [
            "the store is empty; the console offers two samples: questions to a bank, and a novel",
            f"to begin with a file: manyclass learn FILE{there} (for CSV it asks for the columns);"
            " to watch a temporary service learn a novel: manyclass demo",
        ]
    return lines

"""The headers of a request by their names."""

from collections.abc import Sequence

from manyclass.service.http.asgi import Headers
from manyclass.service.http.problems import Problem

# If repeated, these are ambiguous: a proxy and this service could use different ones.
_ONCE = (
    b"authorization",
    b"host",
    b"origin",
    b"sec-fetch-site",
    b"sec-fetch-mode",
    b"sec-fetch-dest",
    b"content-type",
)


def headers_of(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Return the headers by name. Raises Problem 400 if one of _ONCE is repeated."""
    headers = dict(raw)
    if len(headers) != len(raw):
        names = [name for name, _ in raw]
        for name in _ONCE:
            if names.count(name) > 1:
                raise Problem(400, f"The header {name.decode()} must occur only once.")
    return headers

"""Environment variables with which Kubernetes and Docker tell containers each other's addresses.

For a Service `manyclass`, the kubelet sets MANYCLASS_SERVICE_HOST and MANYCLASS_PORT=tcp://… in
every pod of the namespace and overrides the variables of the image; Docker sets similar ones for a
container linked by that name. A Service `manyclass-redis` makes MANYCLASS_REDIS_PORT.
"""

import re
from typing import Final

_PORT = r"PORT_[0-9]+(?:-[0-9]+)?_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR|START|END))?"
_FORMS: Final = tuple(  # patterns of a name without the prefix, and of the begin of its value
    (re.compile(rf"(?:[A-Z0-9_]+_)?{name}"), re.compile(value))
    for name, value in (
        (r"SERVICE_HOST", ""),
        (r"SERVICE_PORT(?:_[A-Z0-9_]+)?", ""),
        (_PORT, ""),
        (r"PORT", r"(?:tcp|udp|sctp)://"),
        (r"NAME", r"/[^/]+/"),
        (r"ENV_.+", ""),
    )
)


def is_link(name: str, value: str) -> bool:
    """Return whether a variable is one of these; `name` is without the prefix."""
    return any(form.fullmatch(name) and begin.match(value) for form, begin in _FORMS)

"""The retry policy: which requests are sent again, and after how long."""

from http import HTTPStatus
from typing import Final

import httpx

from manyclass.client.errors import ClientError, RequestRefused, ServiceUnreachable

FIRST_WAIT: Final = 0.1  # seconds before the second attempt; doubled for each further one
LONGEST_WAIT: Final = 5.0  # seconds, unless the service asks for more


class Backoff:
    """The waits of one request, at most `patience` seconds in total."""

    def __init__(self, patience: float) -> None:
        self._left = patience
        self._wait = FIRST_WAIT

    def wait_after(self, error: ClientError) -> float | None:
        """Return the seconds until the next attempt, or None if they exceed the patience."""
        wait = max(self._wait, getattr(error, "retry_after", None) or 0.0)
        if wait > self._left:
            return None
        self._left -= wait
        self._wait = min(2 * wait, LONGEST_WAIT)
        return wait


def is_worth_retrying(error: ClientError, repeatable: bool, answered: bool) -> bool:
    """Return whether a request may be sent again after this error.

    `repeatable` means that the request may arrive twice without harm, `answered` that the service
    has answered before; otherwise the client does not wait for it.
    """
    match error:
        case RequestRefused(status=HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.SERVICE_UNAVAILABLE):
            return True
        case RequestRefused(status=HTTPStatus.BAD_GATEWAY | HTTPStatus.GATEWAY_TIMEOUT):
            return repeatable
        case ServiceUnreachable(__cause__=httpx.ConnectError() | httpx.ConnectTimeout()):
            return answered  # nothing was sent
        case ServiceUnreachable(__cause__=httpx.TransportError()):
            return answered and repeatable
    return False

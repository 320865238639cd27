"""Requests to one service, sent again while that is safe and useful."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import IO, Self

import httpx

from manyclass.client.address import check_key, divided
from manyclass.client.encoding import Parameters, checked_parameters, encoded
from manyclass.client.errors import ClientError
from manyclass.client.proxies import http_client
from manyclass.client.retry import Backoff, is_worth_retrying
from manyclass.client.types import EventNumber
from manyclass.client.wire import Answer, decoded, refusal, unreachable

DEFAULT_URL = "http://127.0.0.1:8000"


class Connection:
    """The HTTP connections to the service at `url`. Belongs to one thread.

    The waits of a request add up to at most `patience` seconds.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        patience: float = 30.0,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare the connections. Raises Unusable for a URL or a key that no request can use."""
        if key:
            check_key(key)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.url, credentials = divided(url)  # httpx would log a password in the URL
        self._patience = patience
        self._timeout = timeout
        self._sleep = sleep
        self._answered = False
        self._http = http_client(self.url, headers, credentials, timeout, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(
        self,
        path: str,
        answer: type[Answer],
        parameters: Parameters | None = None,
    ) -> Answer:
        return self._ask("GET", path, answer, parameters=parameters, repeatable=True)

    def _post(self, path: str, body: object, answer: type[Answer]) -> Answer:
        content = encoded(body)
        return self._ask("POST", path, answer, content=content, repeatable=True)

    def _place(self, method: str, path: str, body: Mapping[str, object]) -> int:
        # A repeated move may undo another move in between. A repeated rename fails.
        repeatable = not body.get("move", True)
        content = encoded(body)
        return self._ask(method, path, EventNumber, content=content, repeatable=repeatable).seq

    def _ask(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        *,
        content: bytes | None = None,
        parameters: Parameters | None = None,
        repeatable: bool = False,
        is_long: bool = False,
    ) -> Answer:
        """Return the answer to a request, which is sent again if that is safe and useful.

        `repeatable` means that the request may arrive twice without harm, `is_long` that the client
        waits for the answer without a time limit.
        """
        if parameters is not None:
            parameters = checked_parameters(parameters)
        backoff = Backoff(self._patience)
        while True:
            try:
                return decoded(self._send(method, path, content, parameters, is_long), answer)
            except ClientError as error:
                if not is_worth_retrying(error, repeatable, self._answered):
                    raise
                wait = backoff.wait_after(error)
                if wait is None:
                    raise
            self._sleep(wait)

    def _send(
        self,
        method: str,
        path: str,
        content: bytes | None,
        parameters: Parameters | None,
        is_long: bool,
    ) -> httpx.Response:
        headers = {"Content-Type": "application/json"} if content is not None else {}
        timeout = httpx.Timeout(self._timeout, read=None) if is_long else self._http.timeout
        try:
            response = self._http.request(
                method,
                self.url + path,
                content=content,
                params=parameters,
                headers=headers,
                timeout=timeout,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self.url, error) from error
        self._answered = True
        return response

    def _copy(self, path: str, file: IO[bytes]) -> int:
        """Write the body of an answer to a file; return the number of bytes."""
        size = 0
        try:
            with self._http.stream("GET", self.url + path) as response:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                for piece in response.iter_bytes():
                    size += file.write(piece)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self.url, error) from error
        return size

    def _once(self, path: str, answer: type[Answer]) -> Answer | None:
        """Return the answer to one GET, without a retry; None without a good one."""
        try:
            return decoded(self._http.get(self.url + path), answer)
        except (httpx.TransportError, ClientError):  # ClientError: refused, or another server
            return None

"""An archive in a bucket of S3, or of a server that speaks its protocol. Needs the extra [s3].

Credentials, region and endpoint are those of the environment variables of AWS.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from obstore.exceptions import BaseError
from obstore.store import S3Store

from manyclass.service.store.archive.archive import check_name, is_name, unavailable
from manyclass.service.store.errors import StoreError

# A call to a server that is away lasts for their sum at most: no attempt begins after RETRY.
_ATTEMPT_SECONDS = 8
_RETRY_SECONDS = 2
_CONNECT_SECONDS = 2
_OPTIONS = {
    "timeout": f"{_ATTEMPT_SECONDS}s",
    "connect_timeout": f"{_CONNECT_SECONDS}s",
    "disable_bulk_delete": "true",  # not every server has that, and one object is all we delete
}
_RETRIES = 3
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")

_GOES_ON = "the service continues by itself when the server can do this again"
_CREDENTIALS_HINT = (
    "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, if needed, AWS_SESSION_TOKEN must be those of a"
    " user who may list the bucket, and get, put and delete its objects"
)
_REGION_HINT = "AWS_REGION must be the region of the bucket"
_HINTS = {
    "NoSuchBucket": "make the bucket, or name another one",
    "AccessDenied": _CREDENTIALS_HINT,
    "InvalidAccessKeyId": _CREDENTIALS_HINT,
    "SignatureDoesNotMatch": _CREDENTIALS_HINT,
    "ExpiredToken": _CREDENTIALS_HINT,
    "InvalidToken": _CREDENTIALS_HINT,
    "PermanentRedirect": _REGION_HINT,
    "AuthorizationHeaderMalformed": _REGION_HINT,
    "RequestTimeTooSkewed": "set the clock of this machine",
}
_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3}\b[A-Za-z ]*)")
_NO_ANSWER = re.compile(r"HTTP error: (error sending request|request or response body error)")
# Without credentials in the environment, the library asks the machine of Amazon it may run on.
_METADATA = re.compile(r"/latest/(api/token|meta-data)\b")


class S3Archive:
    """Objects below a prefix in a bucket. Any thread may call any method; processes may share it.

    Messages quote no text of the library: it has addresses, and what the server repeats of a
    request.
    """

    def __init__(self, bucket: str, prefix: str) -> None:
        """Read the environment; connect later. Raises StoreError for an unusable variable."""
        self._place = f"s3://{bucket}/{prefix}" if prefix else f"s3://{bucket}"
        _check_endpoint()
        options: dict[str, Any] = _OPTIONS
        try:
            self._store = S3Store(
                bucket,
                prefix=prefix or None,
                config=options,  # type: ignore[arg-type]  # its types lack those of its HTTP client
                retry_config={
                    "max_retries": _RETRIES,
                    "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
                },
            )
        except BaseError as error:
            reason = re.sub(r'"[^"]*"', "...", str(error).partition("\n")[0])
            raise StoreError(
                f"the archive {self.shown} cannot be used: {reason}",
                "correct the environment variable AWS_... that this is about",
            ) from None

    @property
    def shown(self) -> str:
        """The place, for messages."""
        return self._place

    def put(self, name: str, body: bytes) -> None:
        """Keep an object, in place of one of that name; return when it is durable."""
        with self._errors("cannot be written"):
            # In one request: parts of an interrupted upload would stay, unseen and paid for.
            self._store.put(check_name(name), body, use_multipart=False)

    def get(self, name: str) -> bytes | None:
        """Return an object, None if there is none."""
        with self._errors("cannot be read"):
            try:
                return bytes(self._store.get(check_name(name)).bytes())
            except FileNotFoundError as error:
                _raise_unless_absent(error)
                return None

    def delete(self, name: str) -> None:
        """Delete an object, if there is one; return when that is durable."""
        with self._errors("cannot be written"):
            try:
                self._store.delete(check_name(name))
            except FileNotFoundError as error:
                _raise_unless_absent(error)

    def names(self) -> list[str]:
        """Return the names of all objects, sorted."""
        with self._errors("cannot be listed"):
            found = [each["path"] for page in self._store.list(chunk_size=1000) for each in page]
        return sorted(filter(is_name, found))

    def delete_unfinished(self, is_meant: Callable[[str], bool]) -> None:
        """Do nothing: an object is put in one request, as a whole or not at all."""

    @contextmanager
    def _errors(self, failure: str) -> Iterator[None]:
        """Map errors of the library to errors of the store."""
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            reason, hint = _explained(str(error))
            # Without the cause, whose text may have secrets.
            raise unavailable(self.shown, f"{failure}: {reason}", hint) from None


def _raise_unless_absent(error: FileNotFoundError) -> None:
    """Raise the error unless it says that the object is absent: perhaps the bucket is."""
    if _code(str(error)) != "NoSuchKey":
        raise error


def _code(text: str) -> str:
    found = _CODE.search(text)
    return found[1] if found else ""


def _explained(text: str) -> tuple[str, str]:
    """Return the reason and the hint for a message of the library."""
    if _METADATA.search(text):
        return "there are no credentials", _CREDENTIALS_HINT
    if code := _code(text):
        return code, _HINTS.get(code, _GOES_ON)
    if "redirect" in text:
        return "the bucket is elsewhere", _REGION_HINT
    if status := _STATUS.search(text):
        return f"the server answers {status[1].strip()}", _GOES_ON
    if _NO_ANSWER.search(text):
        return "the server does not answer", _GOES_ON
    return "the answer of the server cannot be used", "see whether AWS_ENDPOINT_URL is that of S3"


def _check_endpoint() -> None:
    """Raise StoreError for an address of which the library would only say that it fails."""
    for variable in _ENDPOINTS:
        address = os.environ.get(variable)
        if address is None:
            continue
        try:
            parts = urlsplit(address)
            usable = parts.scheme in ("http", "https") and parts.hostname and "@" not in address
            _ = parts.port
        except ValueError:
            usable = False
        if not usable:
            raise StoreError(
                f"{variable} is not an address",
                f"write {variable}=https://HOST or https://HOST:PORT",
            )
        if parts.scheme == "http" and not _is_true(os.environ.get("AWS_ALLOW_HTTP", "")):
            raise StoreError(
                f"{variable} is an address without TLS",
                "use https://, or set AWS_ALLOW_HTTP=true if the network is trusted",
            )


def _is_true(text: str) -> bool:
    return text.lower() in ("1", "true", "on", "yes", "y")

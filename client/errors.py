"""The errors a caller of the client can act on."""

from http import HTTPStatus

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """A fault of a request: at a JSON pointer into the body, or in a parameter."""

    detail: str = ""
    pointer: str = ""
    parameter: str = ""


class FirstLabel(msgspec.Struct, frozen=True):
    """The label that an instance has already: the key and the number of its event, its reviewer,
    its classes, and its time in unix seconds."""

    key: str
    seq: int
    reviewer: str | None = None
    classes: tuple[str, ...] | None = None
    time: float | None = None


class Problem(msgspec.Struct, frozen=True):
    """The body of a refusal, by RFC 9457."""

    title: str = ""
    detail: str = ""
    errors: tuple[Fault, ...] = ()
    label: FirstLabel | None = None


class ClientError(Exception):
    """Base of the errors of this client."""


class NoWireForm(TypeError, ValueError):
    """A value that a request cannot carry, such as bytes, a date, or a number that is not finite.

    `place` is a JSON pointer into the body, or the name of a parameter; `way` says what to pass.
    """

    def __init__(self, place: str, value: object, way: str) -> None:
        shown = value if isinstance(value, float) else f"of the type {type(value).__name__}"
        at = f"#{place}" if place.startswith("/") or not place else place
        super().__init__(f"{at} is {shown}, which a request cannot carry: {way}")
        self.place = place
        self.value = value
        self.way = way

    def below(self, place: str) -> "NoWireForm":
        """Return the error with its position below `place`."""
        return NoWireForm(place + self.place, self.value, self.way)


class Unusable(ClientError, ValueError):
    """A URL or a key that no request can use. The text shows no part of a secret."""


class ServiceUnreachable(ClientError):
    """There was no answer from `url`; the request may have arrived or not.

    `url` has no user and password.
    """

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"no answer from {url}: {reason}")
        self.url = url
        self.reason = reason


class RequestRefused(ClientError):
    """The service answered with an error. `retry_after` is in seconds, None without such a time.

    `label` is the label of an instance if another one of it was refused.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        faults: tuple[Fault, ...] = (),
        retry_after: float | None = None,
        label: FirstLabel | None = None,
    ) -> None:
        places = ", ".join(fault.pointer or fault.parameter for fault in faults)
        said = (f": {detail}" if detail else "") + (f" ({places})" if places else "")
        super().__init__(f"{status} {title}{said}")
        self.status = status
        self.title = title
        self.detail = detail
        self.faults = faults
        self.retry_after = retry_after
        self.label = label


class EmbedderUnreachable(ServiceUnreachable):
    """There was no answer from a server of embeddings, or one of another form."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.args = (f"no embeddings from {url}: {reason}",)


class EmbeddingRefused(RequestRefused):
    """A server of embeddings answered with an error; `detail` is its own text."""

    @property
    def is_of_texts(self) -> bool:
        """True if fewer texts or others may be embedded, for one is too long, say."""
        return self.status in (
            HTTPStatus.BAD_REQUEST,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.UNPROCESSABLE_ENTITY,
        )

"""Vectors of texts, by a server that has the form of OpenAI's /v1/embeddings."""

import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeVar, cast

import httpx
import msgspec

from manyclass.client.bodies import ClassDescription, InstanceBody, Vector
from manyclass.client.connection import Connection
from manyclass.client.encoding import Parameters
from manyclass.client.errors import EmbedderUnreachable, EmbeddingRefused, ServiceUnreachable
from manyclass.client.vector_cache import VectorCache
from manyclass.client.wire import retry_after

TEXTS_AT_ONCE: Final = 64  # in one request, unless the server takes fewer
MOST_KEPT: Final = 16_384  # vectors in memory
LONGEST_DETAIL: Final = 500  # letters of another server's error

Embed = Callable[[Sequence[str]], Iterable[Vector]]  # a vector for each text, in order
Body = TypeVar("Body", bound=InstanceBody)
Described = TypeVar("Described", bound=ClassDescription)
AnyBody = TypeVar("AnyBody", bound=Mapping[str, Any])


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]


class _Error(msgspec.Struct):
    """The errors of Ollama, OpenAI, vLLM and others: a text, or an object with a `message`."""

    error: Any = None
    message: Any = None
    detail: Any = None


class Embedder(Connection):
    """A server of embeddings, such as Ollama, vLLM, TEI, llama.cpp or OpenAI; of one thread.

    Calling it with texts returns their vectors. The newest vectors are kept in memory, and all in
    the file `cache` if it is given, so that an equal text is asked for once. A request is sent
    again as those of `Client` are.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        key: str | None = None,
        *,
        cache: str | None = None,
        patience: float = 30.0,
        timeout: float = 300.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make an embedder. A URL that ends with /embeddings is that of the call; else
        /v1/embeddings, or /embeddings behind /v1, follows it. `cache` is a file of SQLite. Raises
        Unusable for a URL or a key that no request can use, and for another file.
        """
        super().__init__(
            url, key, patience=patience, timeout=timeout, transport=transport, sleep=sleep
        )
        self._path = _path_behind(self.url)
        self._model = model
        self._kept: OrderedDict[bytes, array[float]] = OrderedDict()
        self._cache = None if cache is None else VectorCache(cache)
        self._dimension = 0
        self._at_once = TEXTS_AT_ONCE

    def close(self) -> None:
        """Close the connections and the cache."""
        super().close()
        if self._cache is not None:
            self._cache.close()

    def __call__(self, texts: Sequence[str]) -> list["array[float]"]:
        """Return the vector of each text, in order.

        Raises EmbedderUnreachable without an answer of the right form, and EmbeddingRefused, also
        if the server refuses one of the texts.
        """
        keys = [*map(self._key, texts)]
        of_keys = dict(zip(keys, texts, strict=True))
        found = {key: self._kept[key] for key in of_keys if key in self._kept}
        if self._cache is not None:
            found |= self._cache.found([key for key in of_keys if key not in found])
            self._check(found.values())
        missing = [key for key in of_keys if key not in found]
        while missing:
            some = missing[: self._at_once]
            try:
                answered = dict(zip(some, self._asked([of_keys[key] for key in some]), strict=True))
            except EmbeddingRefused as error:
                if not error.is_of_texts or len(some) == 1:
                    self._at_once = TEXTS_AT_ONCE
                    raise
                self._at_once = len(some) // 2  # they are too many, or one of them is too long
                continue
            missing = missing[len(some) :]
            found |= answered
            self._keep(answered.items())
            if self._cache is not None:
                self._cache.keep(answered.items())
        self._keep((key, found[key]) for key in keys)
        return [found[key] for key in keys]

    def _key(self, text: str) -> bytes:
        """Return the key of a text and the model."""
        return blake2b(f"{self._model or ''}\0{text}".encode(), digest_size=16).digest()

    def _keep(self, found: Iterable[tuple[bytes, "array[float]"]]) -> None:
        """Keep these vectors as the newest, and leave out the oldest."""
        for key, vector in found:
            self._kept[key] = vector
            self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _asked(self, texts: Sequence[str]) -> list["array[float]"]:
        """Return the vectors of texts, by one request."""
        body: dict[str, object] = {} if self._model is None else {"model": self._model}
        try:
            answer = self._post(self._path, {**body, "input": texts}, _Embeddings)
        except ServiceUnreachable as error:
            cause = error.__cause__
            if isinstance(cause, msgspec.DecodeError):
                raise self._other_form(f"{cause}") from cause
            raise EmbedderUnreachable(self.url + self._path, error.reason) from cause
        answer.data.sort(key=lambda each: each.index)
        if [each.index for each in answer.data] != [*range(len(texts))]:
            raise self._other_form(f"it has not one embedding for each of {len(texts)} texts")
        vectors = [array("f", each.embedding) for each in answer.data]
        self._check(vectors)
        return vectors

    def _check(self, vectors: Iterable["array[float]"]) -> None:
        """Raise EmbedderUnreachable unless all have as many numbers as the first one."""
        for vector in vectors:
            self._dimension = self._dimension or len(vector)
            if len(vector) != self._dimension or not vector:
                raise self._other_form(
                    f"an embedding has {len(vector)} numbers, the first one {self._dimension}"
                )

    def _other_form(self, reason: str) -> EmbedderUnreachable:
        return EmbedderUnreachable(
            self.url + self._path, f"its answer has not the form of OpenAI's embeddings: {reason}"
        )

    def _send(
        self,
        method: str,
        path: str,
        content: bytes | None,
        parameters: Parameters | None,
        is_long: bool,
    ) -> httpx.Response:
        response = super()._send(method, path, content, parameters, is_long)
        if not response.is_success:
            raise EmbeddingRefused(
                response.status_code,
                response.reason_phrase,
                _detail(response),
                retry_after=retry_after(response),
            )
        return response


def with_vectors(bodies: Sequence[Body], embed: Embed | None) -> Sequence[Body]:
    """Return instances or events with a vector for each text that has none; blank ones have none.

    Of a text of fields, the fields are joined by line ends.
    """
    return _with_vectors(bodies, embed, lambda body: body.get("text"))


def with_vectors_of_classes(
    classes: Sequence[Described], embed: Embed | None
) -> Sequence[Described]:
    """Return classes with a vector of the title and the description, for each that has one of them
    and no vector, or None, as all parts of a description that is replaced."""
    return _with_vectors(
        classes, embed, lambda body: {key: body.get(key) for key in ("title", "description")}
    )


def _with_vectors(
    bodies: Sequence[AnyBody], embed: Embed | None, text_of: Callable[[Any], object]
) -> Sequence[AnyBody]:
    """Return the bodies, with a vector for the text of each that has none."""
    if embed is None:
        return bodies
    texts = {
        at: text
        for at, body in enumerate(bodies)
        if body.get("vector") is None and (text := text_to_embed(text_of(body)))
    }
    if not texts:
        return bodies
    vectors = dict(zip(texts, embed([*texts.values()]), strict=True))
    return [
        cast(AnyBody, {**body, "vector": vectors[at]}) if at in vectors else body
        for at, body in enumerate(bodies)
    ]


def text_to_embed(text: object) -> str:
    """Return the text that a server embeds for a text or its fields; empty if it is blank, or no
    text, which the service refuses."""
    if isinstance(text, msgspec.Raw):
        text = msgspec.json.decode(text)
    if isinstance(text, Mapping):
        text = "\n".join(field for field in text.values() if isinstance(field, str) and field)
    return text if isinstance(text, str) and not text.isspace() else ""


def _path_behind(url: str) -> str:
    if url.endswith("/embeddings"):
        return ""
    return "/embeddings" if url.endswith("/v1") else "/v1/embeddings"


def _detail(response: httpx.Response) -> str:
    """Return the text of an error, whose form differs from server to server."""
    try:
        found = msgspec.json.decode(response.content, type=_Error)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return response.text.strip()[:LONGEST_DETAIL]
    for each in (found.error, found.message, found.detail):
        said = each.get("message") if isinstance(each, dict) else each
        if isinstance(said, str) and said:
            return said[:LONGEST_DETAIL]
    return ""

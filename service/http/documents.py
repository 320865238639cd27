"""Documents: bytes made once, with their media type and ETag."""

from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from fastapi import Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".gz": "application/gzip",
}
PIECE_BYTES = 65_536  # a connection has hardly more unsent bytes than this


class Document(NamedTuple):
    """A document in the form of an answer."""

    content: bytes
    media_type: str
    etag: str

    def answer(self, request: Request, headers: dict[str, str]) -> Response:
        """Return the answer, which has no body for a client that has the document already."""
        headers = {**headers, "ETag": self.etag}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return _Whole(self.content, media_type=self.media_type, headers=headers)


def document_of(name: str, content: bytes) -> Document:
    """Return the document of a file; the suffix of its name determines the media type."""
    media_type = MEDIA_TYPES[PurePosixPath(name).suffix]
    return Document(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')


class _Whole(Response):
    """A response that sends shared bytes in pieces, as fast as the client reads."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = memoryview(self.body)
        head = {"type": "http.response.start", "status": self.status_code}
        await send(head | {"headers": self.raw_headers})
        for begin in range(0, max(1, len(body)), PIECE_BYTES):
            piece = bytes(body[begin : begin + PIECE_BYTES])
            more = begin + PIECE_BYTES < len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": more})

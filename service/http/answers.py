"""The sending of answers and refusals: small ones whole, large ones in pieces."""

import asyncio
from collections.abc import Iterator
from typing import Final

from manyclass.service.http.asgi import Send
from manyclass.service.http.problems import Problem

PIECE_BYTES = 262_144  # sending a larger piece would block the event loop for too long

_JSON: Final = (b"content-type", b"application/json")


async def send_json(body: bytes | list[bytes], send: Send) -> None:
    """Send a JSON answer, given whole or in parts. Other requests run between two pieces."""
    if isinstance(body, bytes):
        head = [_JSON, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})
        return
    size = sum(map(len, body))
    head = [_JSON, (b"content-length", b"%d" % size)]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    for piece in pieces_of(body):
        size -= len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": size > 0})
        if size:
            await asyncio.sleep(0)


async def send_problem(problem: Problem, send: Send) -> int:
    """Send a refusal; return its status."""
    status, headers, body = problem.answer()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    return status


def pieces_of(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the parts joined to pieces of about PIECE_BYTES, or of one larger part.

    The list of parts is emptied meanwhile, because freeing a large answer at once takes long.
    """
    begin = size = 0
    for end, part in enumerate(parts, 1):
        size += len(part)
        if size >= PIECE_BYTES or end == len(parts):
            piece = b"".join(parts[begin:end])
            parts[begin:end] = [b""] * (end - begin)
            yield piece
            begin, size = end, 0

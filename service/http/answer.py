"""Large answers leave in pieces, so that none of them takes the event loop for long."""

from collections.abc import Iterator

PIECE_BYTES = 262_144


def pieces_of(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the parts, joined to pieces of PIECE_BYTES or little more than one part.

    The parts are emptied on the way: to free all of a large answer at once takes long.
    """
    begin = size = 0
    for end, part in enumerate(parts, 1):
        size += len(part)
        if size >= PIECE_BYTES or end == len(parts):
            piece = b"".join(parts[begin:end])
            parts[begin:end] = [b""] * (end - begin)
            yield piece
            begin, size = end, 0

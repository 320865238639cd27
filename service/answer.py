"""Large answers leave in pieces, so that none of them takes the event loop for long."""

from collections.abc import Iterator, Sequence

PIECE_BYTES = 262_144


def pieces_of(parts: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the parts, joined to pieces of PIECE_BYTES or little more than one part."""
    begin = size = 0
    for end, part in enumerate(parts, 1):
        size += len(part)
        if size >= PIECE_BYTES or end == len(parts):
            yield b"".join(parts[begin:end])
            begin, size = end, 0

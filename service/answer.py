"""Large answers: put together in pieces, so that none takes the event loop for long."""

PIECE_BYTES = 262_144


def joined(parts: list[bytes]) -> bytes | list[bytes]:
    """Return the parts as one answer, or as pieces of PIECE_BYTES or little more than a part."""
    if sum(map(len, parts)) <= PIECE_BYTES:
        return b"".join(parts)
    pieces = []
    begin = size = 0
    for end, part in enumerate(parts, 1):
        size += len(part)
        if size >= PIECE_BYTES or end == len(parts):
            pieces.append(b"".join(parts[begin:end]))
            begin, size = end, 0
    return pieces

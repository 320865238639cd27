import pytest

from manyclass.service.http.answers import PIECE_BYTES, pieces_of


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [1],
        [1] * 10,
        [PIECE_BYTES],
        [PIECE_BYTES - 1, 1, 1],
        [7, 3 * PIECE_BYTES, 7],
        [99] * 9999,
    ],
)
def test_parts_are_joined_to_pieces_and_freed(sizes):
    parts = [bytes([position % 256]) * size for position, size in enumerate(sizes)]
    whole = b"".join(parts)
    pieces = []
    for piece in pieces_of(parts):
        pieces.append(piece)
        assert sum(map(len, parts)) == len(whole) - sum(map(len, pieces))
    assert b"".join(pieces) == whole
    assert len(pieces) <= len(whole) // PIECE_BYTES + 1
    assert max(map(len, pieces), default=0) <= PIECE_BYTES + max(sizes, default=0)

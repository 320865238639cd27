"""Snapshots come in chunks of any size and are kept in chunks of one size."""

from collections.abc import Iterable, Iterator


def recut(chunks: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """Yield the same bytes in chunks of `size`, the last one shorter; nothing without bytes."""
    pending = bytearray()
    for chunk in chunks:
        view = memoryview(chunk)
        if view.nbytes == 0:
            continue  # a view with an empty dimension cannot be cast
        view = view.cast("B")
        begin = 0
        while begin < len(view):
            end = begin + size - len(pending)
            pending += view[begin:end]
            begin = end
            if len(pending) == size:
                yield bytes(pending)
                pending.clear()
    if pending:
        yield bytes(pending)

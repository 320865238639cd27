"""Batches of lines for the service; refused lines are isolated and skipped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import TypeVar

from manyclass.cli.request_lines import Body
from manyclass.client.errors import EmbeddingRefused, RequestRefused
from manyclass.training.lines import Line

MOST_BYTES = 1024 * 1024  # of a batch: well below the default limit of a service

Item = tuple[Line, Body]
Answer = TypeVar("Answer")


def batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Yield batches of the items, in order, of at most `most` items and about MOST_BYTES each."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item[0].data)
        if len(batch) >= most or size >= MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def deliver(
    batch: Sequence[Item],
    send: Callable[[Sequence[Body]], Answer],
    refused: Callable[[Line, str], None],
) -> Iterator[tuple[Sequence[Item], Answer]]:
    """Send a batch; yield its accepted parts with their answers, in order.

    The service accepts or refuses a batch as a whole. A refused batch is halved until each faulty
    line is alone, and `refused` is called with that line. Errors that are not about a line are
    raised.
    """
    try:
        answer = send([body for _, body in batch])
    except RequestRefused as error:
        if not _about_lines(error):
            raise
        if len(batch) == 1:
            refused(batch[0][0], _reason(error))
            return
        middle = len(batch) // 2
        yield from deliver(batch[:middle], send, refused)
        yield from deliver(batch[middle:], send, refused)
    else:
        yield batch, answer


def _reason(error: RequestRefused) -> str:
    """Return why a line is refused."""
    if isinstance(error, EmbeddingRefused):
        return f"the server of embeddings refuses the text: {error}"
    return error.faults[0].detail if error.faults else error.detail


def _about_lines(error: RequestRefused) -> bool:
    """Return whether skipping a line can help; for a faulty `k`, for example, it cannot."""
    if isinstance(error, EmbeddingRefused):
        return error.is_of_texts
    return error.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) or any(
        fault.pointer.startswith(("#/instances/", "#/events/")) for fault in error.faults
    )

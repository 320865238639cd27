"""Sending many lines: in batches, and around the ones the service refuses."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import TypeVar

from manyclass.cli.request_lines import Body
from manyclass.client.errors import RequestRefused
from manyclass.training.lines import Line

MOST_BYTES = 1024 * 1024  # of a batch: well below what a service takes by default

Item = tuple[Line, Body]
Answer = TypeVar("Answer")


def batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """The items in order, at most `most` at a time and about MOST_BYTES."""
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
) -> Iterator[Answer]:
    """The answers to the parts of a batch, in order; what is refused alone is left out.

    A service takes a batch whole or not at all, so one that it finds fault with is halved until
    the faulty lines stand alone. Errors that are not about the lines are raised.
    """
    try:
        answer = send([body for _, body in batch])
    except RequestRefused as error:
        if not _about_lines(error):
            raise
        if len(batch) == 1:
            refused(batch[0][0], error.faults[0].detail if error.faults else error.detail)
            return
        middle = len(batch) // 2
        yield from deliver(batch[:middle], send, refused)
        yield from deliver(batch[middle:], send, refused)
    else:
        yield answer


def _about_lines(error: RequestRefused) -> bool:
    """Whether leaving a line out can help: a faulty `k`, say, would be refused with every line."""
    return error.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) or any(
        fault.pointer.startswith(("#/instances/", "#/events/")) for fault in error.faults
    )

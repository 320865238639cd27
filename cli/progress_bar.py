"""The bar that shows on a terminal how far a command is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from manyclass.training.lines import Source

Move = Callable[[float, str], None]  # how much is done, and how that is said


@contextmanager
def bar(total: float | None) -> Iterator[Move]:
    """A bar on standard error while this lasts; a call of what it gives moves it.

    `total` is what will have been done at the end, None where only the end will tell. There is no
    bar without a terminal.
    """
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        redirect_stdout=False,  # results go where they are sent, never into the bar
    ) as progress:
        task = progress.add_task("", total=total, state="")

        def move(done: float, state: str) -> None:
            progress.update(task, completed=done, state=state)

        yield move


def bytes_of(sources: Sequence[Source]) -> int | None:
    """How many bytes the files have, as they are stored; None where one of them does not tell."""
    sizes = [source.size for source in sources]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def bytes_read(sources: Sequence[Source]) -> int:
    """How many of them were read so far."""
    return sum(source.position for source in sources)

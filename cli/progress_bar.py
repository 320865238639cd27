"""The progress bar of a command, on a terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from manyclass.training.lines import Source

Move = Callable[[float, str], None]  # the amount done, and a text beside the bar


@contextmanager
def bar(total: float | None) -> Iterator[Move]:
    """Show a bar on standard error if it is a terminal; yield its update function.

    `total` is the amount at the end, None if unknown.
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
        redirect_stdout=False,  # results on standard output stay apart from the bar
    ) as progress:
        task = progress.add_task("", total=total, state="")

        def move(done: float, state: str) -> None:
            progress.update(task, completed=done, state=state)

        yield move


@contextmanager
def bar_of_files(sources: Sequence[Source]) -> Iterator[Callable[[str], None]]:
    """Show a bar of the stored bytes read so far; yield its update function."""
    sizes = [source.size for source in sources]
    known = [size for size in sizes if size is not None]
    with bar(sum(known) if len(known) == len(sizes) else None) as move:
        yield lambda state: move(sum(source.position for source in sources), state)

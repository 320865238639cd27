"""Runs a command over files: reads lines, sends them in batches, counts, shows progress."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import typer

from manyclass.cli.batches import Item, batches, deliver
from manyclass.cli.connection import BAD_LINES, INTERRUPTED
from manyclass.cli.progress_bar import bar_of_files
from manyclass.cli.request_lines import Body
from manyclass.cli.run_summary import RunSummary
from manyclass.client.errors import ClientError
from manyclass.training.lines import FileFault, Line, LineFault, Source

Answer = TypeVar("Answer")

Files = Annotated[
    list[str],
    typer.Argument(
        help="JSON lines, plain, .gz or .zst; - is standard input.",
        metavar="FILE...",
        show_default=False,
    ),
]
Batch = Annotated[int, typer.Option(min=1, help="Lines in one request, at most.")]
IgnoreUnknown = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        help="Drop keys that the service does not know, as the `split` of a data set or the `id` of"
        " a row to learn.",
    ),
]


def run(
    verb: str,
    files: Sequence[str],
    batch: int,
    read: Callable[[Line], Body],
    send: Callable[[Sequence[Body]], Answer],
    answered: Callable[[RunSummary, Answer], None],
) -> None:
    """Send every line of the files, in order, and print a summary on standard error.

    Raises typer.Exit if lines were left out, or on Ctrl-C; answered lines stay learned then.
    """
    sources = [Source(file) for file in files]
    summary = RunSummary()
    try:
        with bar_of_files(sources) as move:
            for some in batches(_items(sources, read, summary), batch):
                for answer in deliver(some, send, summary.bad_line):
                    answered(summary, answer)
                move(f"{summary.done:,} · {summary.rate:,.0f}/s  {summary.recall}")
    except KeyboardInterrupt:
        typer.echo(summary.text(f"stopped: {verb}"), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except ClientError:
        if summary.done:
            typer.echo(summary.text(verb), err=True)
        raise
    typer.echo(summary.text(verb), err=True)
    if not summary.clean:
        raise typer.Exit(BAD_LINES)


def _items(
    sources: Iterable[Source], read: Callable[[Line], Body], summary: RunSummary
) -> Iterator[Item]:
    """Yield the lines that hold a request; count the others as bad lines."""
    for source in sources:
        try:
            for line in source:
                try:
                    body = read(line)
                except LineFault as error:
                    summary.bad_line(line, str(error))
                else:
                    yield line, body
        except FileFault as error:
            summary.bad_file(error)

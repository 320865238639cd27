"""One run of a command over files: read, send in batches, count, show, end."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, TypeVar

import typer

from manyclass.cli.batches import Item, batches, deliver
from manyclass.cli.connection import BAD_LINES, INTERRUPTED
from manyclass.cli.progress_bar import bar, bytes_of, bytes_read
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
        help="Drop keys the service does not know, as the `split` of a data set, or the `id` a row"
        " has beside its text when it is to be learned.",
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
    """Send every line of the files, in order; a summary on standard error ends it.

    Raises typer.Exit when lines were left out, or on Ctrl-C: what was answered until then is done.
    """
    sources = [Source(file) for file in files]
    tally = RunSummary()
    try:
        with _shown(tally, sources) as move:
            for some in batches(_items(sources, read, tally), batch):
                for answer in deliver(some, send, tally.bad_line):
                    answered(tally, answer)
                move()
    except KeyboardInterrupt:
        typer.echo(tally.summary(f"stopped: {verb}"), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except ClientError:
        if tally.done:
            typer.echo(tally.summary(verb), err=True)
        raise
    typer.echo(tally.summary(verb), err=True)
    if not tally.clean:
        raise typer.Exit(BAD_LINES)


def _items(
    sources: Iterable[Source], read: Callable[[Line], Body], tally: RunSummary
) -> Iterator[Item]:
    """The lines that hold a request; the tally hears of those that do not."""
    for source in sources:
        try:
            for line in source:
                try:
                    body = read(line)
                except LineFault as error:
                    tally.bad_line(line, str(error))
                else:
                    yield line, body
        except FileFault as error:
            tally.bad_file(error)


@contextmanager
def _shown(tally: RunSummary, sources: Sequence[Source]) -> Iterator[Callable[[], None]]:
    """A bar on standard error while the run lasts; a call of what it gives moves it.

    There is none without a terminal.
    """
    with bar(bytes_of(sources)) as move:
        yield lambda: move(
            bytes_read(sources), f"{tally.done:,} · {tally.rate:,.0f}/s  {tally.recall}"
        )

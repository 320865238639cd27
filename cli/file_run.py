"""Runs a command over files: reads lines, sends them in batches, counts, shows progress."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import typer

from manyclass.cli.batches import Item, batches, deliver
from manyclass.cli.connection import BAD_LINES, INTERRUPTED, complain
from manyclass.cli.progress_bar import bar_of_files
from manyclass.cli.request_lines import Body
from manyclass.cli.run_summary import RunSummary
from manyclass.client.errors import ClientError
from manyclass.training.formats.given import Rejected
from manyclass.training.lines import FileFault, Line, LineFault, Source
from manyclass.training.recognition import MOST_REJECTED, stopping

Answer = TypeVar("Answer")

Files = Annotated[
    list[str],
    typer.Argument(
        help="JSON lines, or tables (CSV, .xlsx, .ods, .parquet, .arrow); plain or compressed; - is"
        " standard input.",
        metavar="FILE...",
        show_default=False,
    ),
]
PerRequest = Annotated[
    int, typer.Option("--per-request", min=1, help="Lines in one request, at most.")
]
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
    sources: Sequence[Source],
    per_request: int,
    read: Callable[[Line], Body],
    send: Callable[[Sequence[Body]], Answer],
    answered: Callable[[RunSummary, Sequence[Item], Answer], None],
    labelled: bool = True,
    skip: int = 0,
    summary: RunSummary | None = None,
) -> None:
    """Send the lines of the sources, in order, and print a summary on standard error.

    Those up to line `skip` of the first source are left out.

    Raises typer.Exit if lines were left out, or on Ctrl-C; answered lines stay learned then.
    """
    summary = summary or RunSummary()
    try:
        with bar_of_files(sources) as move:
            for some in batches(_items(sources, read, summary, labelled, skip), per_request):
                for part, answer in deliver(some, send, _until_hopeless(summary)):
                    answered(summary, part, answer)
                move(f"{summary.done:,} · {summary.rate:,.0f}/s  {summary.recall}")
    except KeyboardInterrupt:
        typer.echo(summary.text(f"stopped: {verb}"), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (ClientError, typer.Exit):
        if summary.done:
            typer.echo(summary.text(verb), err=True)
        raise
    typer.echo(summary.text(verb), err=True)
    if not summary.clean:
        raise typer.Exit(BAD_LINES)


def _items(
    sources: Iterable[Source],
    read: Callable[[Line], Body],
    summary: RunSummary,
    labelled: bool,
    skip: int,
) -> Iterator[Item]:
    """Yield the lines that hold a request; count the others as bad lines."""
    for source in sources:
        try:
            found = _parsed(_behind(source, skip), read)
            if not skip:  # else a part of the file was read before
                found = stopping(source, found, labelled)
            skip = 0
            for each in found:
                if isinstance(each, Rejected):
                    summary.bad_line(each.line, each.reason)
                else:
                    yield each
        except FileFault as error:
            summary.bad_file(error)
        summary.left_out += source.left_out


def _behind(lines: Iterable[Line], skip: int) -> Iterator[Line]:
    return (line for line in lines if line.number > skip)


def _parsed(lines: Iterable[Line], read: Callable[[Line], Body]) -> Iterator[Item | Rejected]:
    for line in lines:
        try:
            yield line, read(line)
        except LineFault as error:
            yield Rejected(line, str(error))


def _until_hopeless(summary: RunSummary) -> Callable[[Line, str], None]:
    """Return the function for refused lines, which ends the command if the first are all refused.

    The service refuses lines that are well formed, as a text that is a number.
    """
    refused = 0

    def bad_line(line: Line, reason: str) -> None:
        nonlocal refused
        summary.bad_line(line, reason)
        refused += 1
        if refused == MOST_REJECTED and not summary.done:
            complain(f"the first {refused} lines are refused; the others are not sent")
            raise typer.Exit(BAD_LINES)

    return bad_line

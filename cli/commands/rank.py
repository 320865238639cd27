"""manyclass rank: rank the instances of files by a running service."""

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any, Final, Literal, cast

import typer

from manyclass.cli.abstentions import Abstentions, Limits
from manyclass.cli.atomic_write import atomic_write, check_target
from manyclass.cli.batches import Item
from manyclass.cli.connection import BAD_LINES, FAILED, URL, Key, Url, complain, connected
from manyclass.cli.embed_options import (
    EmbedCache,
    EmbedKey,
    EmbedModel,
    EmbedUrl,
    at_once,
    embedder_of,
)
from manyclass.cli.file_run import Files, IgnoreUnknown, PerRequest, run
from manyclass.cli.input_options import Input, ranks
from manyclass.cli.paths import STANDARD_OUTPUT, path_of
from manyclass.cli.ranked_output import LineOutput, Output, TableOutput
from manyclass.cli.request_lines import Body, instance_of
from manyclass.cli.row_id import RowId
from manyclass.cli.row_vectors import RowVectors
from manyclass.cli.run_summary import RunSummary
from manyclass.cli.table_writers import TABLES, Bom, TableWriter, writer_of
from manyclass.cli.warning_notes import WarningNotes
from manyclass.client.types import InstanceBody, Rankings
from manyclass.service.http.schemas.rank import MOST_EXPLAINED_INSTANCES, MOST_RANKED_AT_ONCE
from manyclass.training.compression import SUFFIXES
from manyclass.training.lines import Line, Source
from manyclass.training.tables.source import TableSource

KEPT_IN_MEMORY: Final = 2**23  # bytes of the rows of a table; more are kept in a file


def _finite(given: float | None) -> float | None:
    if given is not None and not isfinite(given):
        raise typer.BadParameter("must be a finite number")
    return given


def _share(help: str) -> Any:
    """Return an option whose value is a share, from 0 to 1."""
    return typer.Option(min=0, max=1, callback=_finite, help=help)


@ranks
def rank(
    files: Files,
    url: Url = URL,
    key: Key = None,
    k: Annotated[
        int, typer.Option("--k", "-k", min=1, help="Largest number of classes per instance.")
    ] = 5,
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_finite, help="Return only classes with a higher score; by default all."
        ),
    ] = None,
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--among",
            metavar="CLASS",
            help="Rank only this class; repeat the option for further classes.",
            show_default=False,
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        _share("Abstain, returning no classes, if the confidence is lower."),
    ] = None,
    min_accuracy: Annotated[
        float | None,
        _share("Abstain below the least limit of confidence whose answers were right this often."),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add to each class how probable it is.")
    ] = False,
    min_probability: Annotated[
        float | None,
        _share("Return only classes that are at least this probable, of several right ones too."),
    ] = None,
    min_precision: Annotated[
        float | None,
        _share("Return only classes of a probability whose classes were right this often."),
    ] = None,
    decode: Annotated[
        Literal["taxo"] | None,
        typer.Option(
            help="Order the classes by expected taxonomic loss, not by score.", show_default=False
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the features that voted for each class.")
    ] = False,
    min_seq: Annotated[
        int, typer.Option(min=0, help="Wait until the event with this number is applied.")
    ] = 0,
    per_request: PerRequest = 200,
    ignore_unknown: IgnoreUnknown = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=path_of,
            help="Write the results to this file, as a table if it is named .csv, .tsv or .xlsx.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    bom: Bom = False,
    review: Annotated[
        bool,
        typer.Option(
            "--review/--no-review",
            help="Let instances with ids wait for a label, the least certain in Review.",
        ),
    ] = True,
    embed: EmbedUrl = None,
    embed_model: EmbedModel = None,
    embed_key: EmbedKey = None,
    embed_cache: EmbedCache = None,
    *,
    input: Input,
) -> None:
    """Rank the instances of files and print the results.

    A line is a JSON object, an instance as for POST /rank: {"features": {"ice": 1.5}} or
    {"text": "..."}, also with fields, with an optional "vector", such as an embedding, and with an
    optional "id", which the result repeats. A result
    is a line of JSON on standard output, in the order of the instances. A bad line is reported on
    standard error and skipped; the exit code is then 1.

    A row of a table has its text in a column. With --out result.xlsx or .csv, the results are a
    table with all columns of the input, the confidence, and each class with its score, and with its
    probability if that is asked for.

    Results that have an "id" wait for a label, the least certain in Review: all lines of JSON, and
    rows of a table with ids, named by --id-column. With --no-review none waits.

    With --min-confidence, --min-accuracy, --min-probability or --min-precision, the numbers of
    answers and of abstentions are printed on standard error, with the limit. A table then has the
    column `decision`: `automatic`, or `let a person decide`. If no limit reaches the accuracy or
    the precision yet, all abstain, and what is possible is said; the exit code is 0.
    """
    _check_out(out, explain, bom, files)
    out = None if out == STANDARD_OUTPUT else out
    sources = input.sources(files)
    classes = max(k, len(among or ()))
    embedder = embedder_of(embed, embed_model, embed_key, embed_cache)
    vectors = RowVectors()
    limits = Limits(min_confidence, min_accuracy, min_probability, min_precision)
    gives = probabilities or min_probability is not None or min_precision is not None
    with (
        connected(url, key, checked=True, embed=embedder) as client,
        _opened(out) as opened,
        _output(opened, out, classes, gives, limits != Limits(), bom, sources) as output,
    ):

        def send(instances: Sequence[Body]) -> Rankings:
            bodies = cast(Sequence[InstanceBody], rows.hidden(instances))
            answer = client.rank_many(
                bodies,
                k=k,
                threshold=threshold,
                among=among,
                min_confidence=min_confidence,
                min_accuracy=min_accuracy,
                probabilities=probabilities,
                min_probability=min_probability,
                min_precision=min_precision,
                decode=decode,
                explain=explain,
                min_seq=min_seq,
            )
            return rows.shown(instances, answer)

        rows = RowId(not review, is_table(out))

        def read(line: Line) -> Body:
            instance = vectors.checked(line, instance_of(line, ignore_unknown))
            return rows.given(line, instance)

        most = min(at_once(per_request, embedder), _most_at_once(classes, explain))
        abstentions = Abstentions(limits)
        writer = _Writer(output, abstentions)

        def end() -> None:
            output.end()
            abstentions.tell(client)
            if note := rows.note(abstentions.number):
                typer.echo(note, err=True)

        try:
            run("ranked", sources, most, read, send, writer, labelled=False)
        except typer.Exit as ended:
            rows.free(client)
            if ended.exit_code == BAD_LINES:
                end()
            raise
        else:
            rows.free(client)
            end()
        finally:
            writer.warnings.tell()


def _most_at_once(classes: int, explain: bool) -> int:
    """Return the largest number of instances that the service ranks in one request."""
    return MOST_EXPLAINED_INSTANCES if explain else max(1, MOST_RANKED_AT_ONCE // classes)


class _Writer:
    """The writer of results; it prints the warning about `--among` once and counts warnings about
    lines.
    """

    def __init__(self, output: Output, abstentions: Abstentions) -> None:
        self._output = output
        self._abstentions = abstentions
        self._warned = False
        self.warnings = WarningNotes()

    def __call__(self, summary: RunSummary, items: Sequence[Item], answer: Rankings) -> None:
        for warning in answer.warnings:
            if warning.pointer == "#/among" and not self._warned:
                typer.echo(f"warning: --among: {warning.detail}", err=True)
                self._warned = True
        self.warnings.add(items, answer.warnings)
        self._output.write(items, answer)
        self._abstentions.add(answer.results)
        summary.add(len(answer.results))


# --- the file of the results ----------------------------------------------------------------------


def is_table(out: Path | None) -> bool:
    """Return whether the results are written as a table."""
    return out is not None and out.suffix.lower() in TABLES


def _check_out(out: Path | None, explain: bool, bom: bool, files: Sequence[str]) -> None:
    check_target(out, "--out", "text")
    inputs = [Path(Source(each).file) for each in files if out is not None and out.exists()]
    if out is not None and any(each.exists() and out.samefile(each) for each in inputs):
        raise typer.BadParameter(f"{out} is the input", param_hint="--out")
    if out is not None and out.suffix.lower() in (
        *SUFFIXES,
        ".xls",
        ".ods",
        ".parquet",
        ".arrow",
        ".feather",
    ):
        raise typer.BadParameter("name it .xlsx, .csv, .tsv or .jsonl", param_hint="--out")
    if bom and (out is None or out.suffix.lower() not in (".csv", ".tsv")):
        raise typer.BadParameter("name a file .csv or .tsv with --out", param_hint="--bom")
    if is_table(out) and explain:
        raise typer.BadParameter("a table cannot hold features", param_hint="--explain")


@contextmanager
def _output(
    opened: IO[bytes],
    out: Path | None,
    classes: int,
    probabilities: bool,
    decides: bool,
    bom: bool,
    sources: Sequence[Source],
) -> Iterator[Output]:
    """Yield the output of the results; a table keeps its rows in a temporary file."""
    if out is None or not is_table(out):
        yield LineOutput(opened)
        return
    with SpooledTemporaryFile(KEPT_IN_MEMORY, dir=str(out.parent)) as kept:

        def writer(numbers: Collection[str]) -> TableWriter:
            return writer_of(out, opened, lambda: _delimiter(out, sources), bom, numbers)

        yield TableOutput(kept, classes, probabilities, decides, writer)


def _delimiter(out: Path, sources: Sequence[Source]) -> str:
    """Return the delimiter of the table, the same as in the input if that is CSV too."""
    if out.suffix.lower() == ".tsv":
        return "\t"
    found = (each.delimiter for each in sources if isinstance(each, TableSource))
    return next(filter(None, found), ",")


@contextmanager
def _opened(out: Path | None) -> Iterator[IO[bytes]]:
    """Yield the file to write to.

    It replaces an existing file even if lines were skipped, but not after another error or if
    nothing was ranked.
    """
    if out is None:
        yield sys.stdout.buffer
        return
    ended: typer.Exit | None = None
    try:
        with atomic_write(out) as opened:
            try:
                yield opened
            except typer.Exit as error:
                if error.exit_code != BAD_LINES or (opened.seekable() and not opened.tell()):
                    raise
                ended = error
    except OSError as error:
        complain(f"{out} cannot be written: {error.strerror or error}")
        raise typer.Exit(FAILED) from error
    if ended is not None:
        raise ended

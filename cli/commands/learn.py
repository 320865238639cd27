"""manyclass learn: teach a running service the events of files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import compress, islice
from shlex import quote
from typing import Annotated, Final, cast

import typer

from manyclass.cli.batches import Item
from manyclass.cli.connection import INTERRUPTED, URL, Key, Url, complain, connected
from manyclass.cli.embed_options import (
    EmbedCache,
    EmbedKey,
    EmbedModel,
    EmbedUrl,
    at_once,
    embedder_of,
)
from manyclass.cli.file_run import Files, IgnoreUnknown, PerRequest, run
from manyclass.cli.input_options import Input, learns
from manyclass.cli.new_classes import NewClasses
from manyclass.cli.request_lines import Body, classes_of, event_of
from manyclass.cli.row_vectors import RowVectors
from manyclass.cli.run_summary import RunSummary
from manyclass.cli.taught_batches import TaughtBatches, default_batch, is_kept
from manyclass.cli.teaching_preview import TeachingPreview
from manyclass.cli.warning_notes import WarningNotes
from manyclass.client.errors import ClientError
from manyclass.client.types import EventBody, LearnedMany
from manyclass.training.label_notes import LabelNotes
from manyclass.training.lines import FileFault, Line, LineFault, Source
from manyclass.training.recognition import MOST_REJECTED

PREVIEWED: Final = 1_000  # events counted at once


@learns
def learn(
    files: Files,
    url: Url = URL,
    key: Key = None,
    per_request: PerRequest = 200,
    ignore_unknown: IgnoreUnknown = False,
    source: Annotated[
        str | None,
        typer.Option(
            help="Whose the instances are, such as a channel: the source of events without one.",
            show_default=False,
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(
            help="Who labelled: the reviewer of events without one. A key with a name decides.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            help="The name by which `manyclass events` finds and takes back what is taught; by"
            " default the name of the file without its folder.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Teach a batch again although it was taught before."),
    ] = False,
    skip: Annotated[
        int,
        typer.Option(
            min=0,
            help="Resume after this line of the first file.",
        ),
    ] = 0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Teach nothing, ask no service; print the rows, the classes and their spellings.",
        ),
    ] = False,
    embed: EmbedUrl = None,
    embed_model: EmbedModel = None,
    embed_key: EmbedKey = None,
    embed_cache: EmbedCache = None,
    *,
    input: Input,
) -> None:
    """Teach a running service the events of files.

    A line is a JSON object, an event as for POST /learn: {"features": {"ice": 1.5},
    "classes": ["hockey"]}, or with "text" instead of "features", which may be an object of fields
    such as {"title": "...", "body": "..."}. "vector" beside them is an embedding, "not" lists wrong
    classes, "weight" says how much the event counts, "source" whose it is, and "batch" what it came
    with. A row of a table has its text and its class in columns:
    manyclass learn questions.csv --text-column question --class-column intent

    A line with the "id" of an instance that was ranked before, and without a text, is its label;
    "replace": true corrects the label it has. So is a row of a table whose column of ids is named;
    rows without a class are left out then:
    manyclass learn ranked.xlsx --ranked-id-column nr --class-column topic --reviewer anna

    --dry-run teaches nothing and asks no service. It prints the rows to teach, the classes, cells
    that may have several classes, and labels that may be one class in several spellings, as the
    page Import of the console does.

    If the service already has events of a batch, nothing is sent, because a file that is taught
    twice counts twice. Events with an "event_id" may be sent again, since each is learned once, and
    so may labels.

    Recall (R1, R5) is progressive: it uses the rank of the best true class before the event was
    learned. A bad line is reported on standard error and skipped; the exit code is then 1. At the
    end, new classes are listed, because one of them may be misspelt, unless the service had none.
    """
    sources = input.sources(files)
    if dry_run:
        _preview(sources, ignore_unknown, skip)
        return
    names = {each.name: batch or default_batch(each.file) for each in sources}
    embedder = embedder_of(embed, embed_model, embed_key, embed_cache)
    per_request = at_once(per_request, embedder)
    vectors = RowVectors()
    with connected(url, key, checked=True, embed=embedder) as client:
        stats = client.stats()
        allowed = names[sources[0].name] if skip else None
        taught = TaughtBatches(client, stats.seq, allowed, source, reviewer, not again)

        def read(line: Line) -> Body:
            event = vectors.checked(line, event_of(line, ignore_unknown))
            # A label keeps the batch with which its instance was ranked.
            return taught.named(event, batch if "id" in event else names[line.file])

        def send(events: Sequence[Body]) -> LearnedMany:
            new.look(events)
            return client.learn_many(cast(Sequence[EventBody], events))

        if not again:
            _check(sources, read)
        new = NewClasses(client, stats)
        progress = _Progress(per_request, new)
        try:
            run("learned", sources, per_request, read, send, progress.answered, skip=skip)
        except ClientError:
            progress.complain(names)
            new.tell(asks=False)
            raise
        except typer.Exit as ended:
            is_cut = ended.exit_code == INTERRUPTED
            if is_cut:
                progress.complain(names)
            new.tell(asks=not is_cut)
            raise
        else:
            new.tell()
        finally:
            for note in progress.labels.notes():
                complain(note)
            progress.warnings.tell()


def _preview(sources: Sequence[Source], ignore_unknown: bool, skip: int) -> None:
    """Print what would be taught."""
    preview = TeachingPreview()
    vectors = RowVectors()
    summary = RunSummary()

    def answered(summary: RunSummary, items: Sequence[Item], answer: None) -> None:
        summary.add(len(items))
        for _, event in items:
            preview.add(classes_of(event))

    def read(line: Line) -> Body:
        return vectors.checked(line, event_of(line, ignore_unknown))

    try:
        run("read", sources, PREVIEWED, read, lambda _: None, answered, skip=skip, summary=summary)
    finally:
        rejected = summary.bad_lines - summary.without_class
        for line in preview.lines(summary.without_class, rejected):
            typer.echo(line)


def _check(sources: Sequence[Source], read: Callable[[Line], Body]) -> None:
    """Read the first event of each file, so that nothing is sent if one file is refused."""
    for source in sources:
        if is_kept(source.file):
            with suppress(FileFault):
                for line in islice(source, MOST_REJECTED):
                    with suppress(LineFault):
                        read(line)
                        break
            source.position = 0


class _Progress:
    """The last line with an acknowledged event, from which to continue, and the new classes."""

    def __init__(self, per_request: int, new: NewClasses) -> None:
        self._per_request = per_request
        self._new = new
        self._last: Line | None = None
        self.labels = LabelNotes()
        self.warnings = WarningNotes()

    def answered(self, summary: RunSummary, items: Sequence[Item], answer: LearnedMany) -> None:
        """Count the answer to these items."""
        self._last = items[-1][0]
        summary.add(answer.accepted + answer.duplicates, answer.duplicates)
        self._new.learned([event for _, event in items])
        self.warnings.add(items, answer.warnings)
        for _, event in items:
            self.labels.add(classes_of(event))
        if not answer.duplicates:  # the ranks of duplicates are unknown
            have_classes = ["classes" in event for _, event in items]
            summary.add_ranks(compress(answer.ranks_before, have_classes))

    def complain(self, names: Mapping[str, str | None]) -> None:
        """Print how to continue; the events of an unanswered request may be learned too."""
        if self._last is None:
            return
        file, number = self._last.file, self._last.number
        files = f", and {file} as the first file" if len(names) > 1 else ""
        batch = names[file]
        newest = f"`manyclass events list --batch {quote(batch)} --limit 1`" if batch else ""
        unknown = f" ({newest} shows the newest)" if newest else ""
        complain(
            f"{self._last.location} is the last acknowledged line; up to {self._per_request:,}"
            f" lines after it may be learned too{unknown}. To continue, add --skip {number}{files}"
        )

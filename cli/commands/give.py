"""manyclass give: give the rows of files to people to label."""

from collections.abc import Sequence
from shlex import quote
from typing import Annotated, cast

import typer

from manyclass.cli.batches import Item
from manyclass.cli.connection import BAD_LINES, URL, Key, Url, connected
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
from manyclass.cli.request_lines import Body, instance_of
from manyclass.cli.row_vectors import RowVectors
from manyclass.cli.run_summary import RunSummary
from manyclass.cli.taught_batches import default_batch
from manyclass.client.types import InstanceBody
from manyclass.training.lines import Line


@ranks
def give(
    files: Files,
    url: Url = URL,
    key: Key = None,
    batch: Annotated[
        str | None,
        typer.Option(
            help="The name by which the instances are found and taken back; by default the name of"
            " the file without its folder.",
            show_default=False,
        ),
    ] = None,
    per_request: PerRequest = 200,
    ignore_unknown: IgnoreUnknown = False,
    embed: EmbedUrl = None,
    embed_model: EmbedModel = None,
    embed_key: EmbedKey = None,
    embed_cache: EmbedCache = None,
    *,
    input: Input,
) -> None:
    """Give the instances of files to people to label.

    The instances wait in Review until they are labelled, also after a restart, whereas ranked ones
    make room for others. They are read as by `manyclass rank`. An instance with an id, in tables by
    --id-column, can be given again without waiting twice; others get an id.
    """
    sources = input.sources(files)
    exit_code = 0
    embedder = embedder_of(embed, embed_model, embed_key, embed_cache)
    per_request = at_once(per_request, embedder)
    vectors = RowVectors()
    with connected(url, key, checked=True, embed=embedder) as client:
        for source in sources:
            name = batch or default_batch(source.file)

            def read(line: Line) -> Body:
                return vectors.checked(line, instance_of(line, ignore_unknown))

            def send(instances: Sequence[Body], name: str | None = name) -> tuple[str, ...]:
                return client.give_for_review(cast(Sequence[InstanceBody], instances), batch=name)

            summary = RunSummary()
            try:
                run("gave", [source], per_request, read, send, _answered, False, summary=summary)
            except typer.Exit as ended:
                if ended.exit_code != BAD_LINES:
                    raise
                exit_code = BAD_LINES
            if summary.done:
                typer.echo(_note(name), err=True)
    if exit_code:
        raise typer.Exit(exit_code)


def _answered(summary: RunSummary, items: Sequence[Item], answer: tuple[str, ...]) -> None:
    summary.add(len(answer))


def _note(batch: str | None) -> str:
    """Return how the instances of a file are listed and taken back."""
    if batch is None:
        return "`manyclass review` lists those that wait for a label"
    option = f"--batch {quote(batch)}"
    return (
        f"`manyclass review {option}` lists those that wait for a label, `manyclass events delete"
        f" {option}` takes all back"
    )

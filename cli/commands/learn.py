"""manyclass learn: teach a running service the events of files."""

from collections.abc import Sequence
from functools import partial
from itertools import compress
from typing import Annotated, cast

import typer

from manyclass.cli.batches import Item
from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.file_run import Batch, Files, IgnoreUnknown, run
from manyclass.cli.input_options import Input, learns
from manyclass.cli.request_lines import Body, event_of
from manyclass.cli.run_summary import RunSummary
from manyclass.client.types import EventBody, LearnedMany


@learns
def learn(
    files: Files,
    url: Url = URL,
    key: Key = None,
    batch: Batch = 200,
    ignore_unknown: IgnoreUnknown = False,
    source: Annotated[
        str | None,
        typer.Option(
            help="The source of events that name none: `manyclass events` finds them by it.",
            show_default=False,
        ),
    ] = None,
    *,
    input: Input,
) -> None:
    """Teach a running service the events of files.

    A line is a JSON object, an event as for POST /learn: {"features": {"ice": 1.5},
    "classes": ["hockey"]}, or with "text" in place of "features", or with the "id" of an instance
    that was ranked before. "not" lists classes that are wrong, "weight" says how much the event
    counts, "source" where it comes from. A row of a table has its text and its class in columns:
    manyclass learn questions.csv --text-column question --class-column intent

    Recall (R1, R5) is progressive: it uses the rank of the best true class before the event was
    learned. A bad line is named on standard error and left out; the exit code is then 1.
    """
    sources = input.sources(files)
    with connected(url, key) as client:

        def send(events: Sequence[Body]) -> LearnedMany:
            return client.learn_many(cast(Sequence[EventBody], events), source=source)

        read = partial(event_of, ignore_unknown=ignore_unknown)
        run("learned", sources, batch, read, send, _count)


def _count(summary: RunSummary, items: Sequence[Item], answer: LearnedMany) -> None:
    summary.add(answer.accepted + answer.duplicates, answer.duplicates)
    if not answer.duplicates:  # else the ranks of the duplicates are unknown
        have_classes = ["classes" in event for _, event in items]
        summary.add_ranks(compress(answer.ranks, have_classes))

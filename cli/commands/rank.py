"""manyclass rank: rank the instances of files by a running service."""

import sys
from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import Annotated, Literal, cast

import msgspec
import typer

from manyclass.cli.connection import URL, Key, Url, connected
from manyclass.cli.file_run import Batch, Files, IgnoreUnknown, run
from manyclass.cli.request_lines import Body, instance_of
from manyclass.cli.run_summary import RunSummary
from manyclass.client.types import InstanceBody, RankedClass, Rankings
from manyclass.service.http.schemas.rank import MOST_EXPLAINED_INSTANCES, MOST_RANKED_AT_ONCE


class RankedLine(msgspec.Struct, omit_defaults=True):
    """A line of the results. `seq` is the number of the last event applied before the ranking.

    `withheld` is the old name of `abstained`, until 1.0.
    """

    id: str
    ranked: tuple[RankedClass, ...]
    confidence: float | None
    seq: int
    abstained: bool = False
    withheld: bool = False


def _finite(given: float | None) -> float | None:
    if given is not None and not isfinite(given):
        raise typer.BadParameter("must be a finite number")
    return given


def rank(
    files: Files,
    url: Url = URL,
    key: Key = None,
    k: Annotated[int, typer.Option(min=1, help="Classes of each instance, at most.")] = 5,
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_finite, help="Return only scores above it; else all retrieved classes."
        ),
    ] = None,
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--among",
            metavar="CLASS",
            help="Rank this class, and no others but those named so; once for each.",
            show_default=False,
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=_finite,
            help="Return no classes if the first is less certain.",
        ),
    ] = None,
    decode: Annotated[
        Literal["taxo"] | None,
        typer.Option(
            help="Order the classes by expected taxonomic loss, not by score.", show_default=False
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the features behind each class.")
    ] = False,
    min_seq: Annotated[
        int, typer.Option(min=0, help="Rank after the event with this number is applied.")
    ] = 0,
    batch: Batch = 200,
    ignore_unknown: IgnoreUnknown = False,
) -> None:
    """Rank the instances of files and print the results.

    A line is a JSON object, an instance as for POST /rank: {"features": {"ice": 1.5}} or
    {"text": "..."}, with an optional "id", which the result repeats. A result is a line of JSON on
    standard output, in the order of the instances. A bad line is named on standard error and left
    out; the exit code is then 1.
    """
    with connected(url, key) as client:

        def send(instances: Sequence[Body]) -> Rankings:
            bodies = cast(Sequence[InstanceBody], instances)
            return client.rank_many(
                bodies,
                k=k,
                threshold=threshold,
                among=among,
                min_confidence=min_confidence,
                decode=decode,
                explain=explain,
                min_seq=min_seq,
            )

        read = partial(instance_of, ignore_unknown=ignore_unknown)
        most = _most_at_once(max(k, len(among or ())), explain)
        run("ranked", files, min(batch, most), read, send, _Printer())


def _most_at_once(classes: int, explain: bool) -> int:
    """Return the largest number of instances that the service ranks in one request."""
    return MOST_EXPLAINED_INSTANCES if explain else max(1, MOST_RANKED_AT_ONCE // classes)


class _Printer:
    """Prints the results, and once the warning of unknown names in `--among`."""

    def __init__(self) -> None:
        self._warned = False

    def __call__(self, summary: RunSummary, answer: Rankings) -> None:
        for warning in answer.warnings:
            if warning.pointer == "#/among" and not self._warned:
                typer.echo(f"warning: --among: {warning.detail}", err=True)
                self._warned = True
        _print(summary, answer)


def _print(summary: RunSummary, answer: Rankings) -> None:
    results = (
        RankedLine(
            result.id,
            result.ranked,
            result.confidence,
            answer.seq,
            result.abstained,
            result.abstained,
        )
        for result in answer.results
    )
    sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(results))
    sys.stdout.buffer.flush()
    summary.add(len(answer.results))

"""manyclass demo: teach a service a novel, show its accuracy, predict missing words."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

import numpy as np
import typer

from manyclass.cli.connection import INTERRUPTED, Key, connected
from manyclass.cli.demo.novel import TITLE, text
from manyclass.cli.environment import without_settings
from manyclass.cli.ephemeral_service import EphemeralServiceFailed, ephemeral_service
from manyclass.client.client import Client
from manyclass.client.types import EventBody, RankedClass
from manyclass.core.words import features, instances, sentences, with_gap
from manyclass.training.accuracy import Accuracy

BATCH = 500
WINDOW = 5_000  # events of each line of the table
BAR = 40  # length of the bar at a recall of 1

QUESTIONS = (
    "Captain _ was in the room",
    "She had been very much _ to see him",
    "It was a quarter of an _ before they came",
    "I am _ sorry to hear it",
    "they walked together _ the street",
    "Sir _ had never been so handsome",
)


def demo(
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            help="Teach the service at this URL; by default, start a temporary service.",
            metavar="URL",
        ),
    ] = None,
    key: Key = None,
) -> None:
    """Teach a service the words of a novel.

    Each word is predicted from three words on each side, then learned, and the accuracy is printed.
    Without --url, the command starts a temporary service and removes it with its store at the end.
    """
    try:
        if url is not None:
            _demonstrate(url, key)
        else:
            typer.echo("Starting a temporary service; it is removed when the demo ends.")
            with ephemeral_service(without_settings()) as own:
                _demonstrate(own, None)
    except EphemeralServiceFailed as error:
        typer.echo(f"manyclass: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _demonstrate(url: str, key: str | None) -> None:
    with connected(url, key) as client:
        typer.echo(f"\nTeaching {TITLE}, to the service at {client.url}.")
        typer.echo("Each word is predicted from up to 3 words on each side, then learned.\n")
        teach(client, text(), WINDOW)
        typer.echo("\nNow some sentences with a gap, and the features that vote for each word:")
        for question in QUESTIONS:
            ask(client, question)


# --- teaching -------------------------------------------------------------------------------------


def teach(client: Client, novel: str, window_size: int) -> int:
    """Teach the words of the novel in order and print the accuracy; return the number of words."""
    typer.echo(f"share of the last {window_size:,} words whose class was ranked first (R1), or")
    typer.echo("among the first five (R5), and mean of 1/rank (MRR), before the word was learned\n")
    typer.echo(" events     R1     R5    MRR   events/s")
    ranks: deque[int] = deque(maxlen=window_size)
    done = 0
    began = window_began = time.monotonic()
    shown = 0
    events = _events(novel)
    while batch := list(islice(events, min(BATCH, window_size - (done - shown)))):
        ranks.extend(rank or 0 for rank in client.learn_many(batch).ranks_before)
        done += len(batch)
        if done - shown == window_size:
            now = time.monotonic()
            accuracy = Accuracy.of(np.array(ranks, np.int32))
            _show(done, accuracy, window_size / max(now - window_began, 1e-9))
            shown, window_began = done, now
    seconds = time.monotonic() - began
    stats = client.stats()
    typer.echo(
        f"\n{done:,} events in {seconds:.1f} s. Durability: {stats.durability}."
        f"\nThe service now knows {stats.classes:,} classes by {stats.features:,} features and"
        f" {stats.edges:,} edges."
    )
    return done


def _events(novel: str) -> Iterator[EventBody]:
    for words in sentences(novel):
        for around, word in instances(words):
            yield {"features": around, "classes": [word]}


def _show(done: int, accuracy: Accuracy, rate: float) -> None:
    bar = ("█" * round(accuracy.r1 * BAR)).ljust(round(accuracy.r5 * BAR), "░")
    typer.echo(
        f"{done:7,}  {accuracy.r1:5.3f}  {accuracy.r5:5.3f}  {accuracy.mrr:5.3f}"
        f"  {rate:9,.0f}   {bar}"
    )


# --- asking ---------------------------------------------------------------------------------------


def ask(client: Client, question: str) -> None:
    """Print the words that the service ranks first for the gap, with the features of each."""
    words, gap = with_gap(question)
    ranking = client.rank({"features": features(words, gap)}, k=3, explain=True)
    typer.echo(f"\n  {question}")
    if not ranking.ranked:
        typer.echo("    no feature of this sentence is known")
    for ranked in ranking.ranked:
        typer.echo(f"    {ranked.name:<12} {ranked.score:.2f}   {_reasons(ranked)}")
    if ranking.confidence is not None:
        typer.echo(f"    the first is right with a probability of {ranking.confidence:.0%}")


def _reasons(ranked: RankedClass, most: int = 3) -> str:
    votes: Sequence[str] = [f"“{vote.feature}” {vote.score:.2f}" for vote in ranked.features[:most]]
    return "  ".join(votes)

"""Teach a novel: each word is an event, whose class is the word and whose features come before it.

The service ranks each event before it learns it, so the accuracy is that of predictions.
"""

import gzip
import re
from collections.abc import Iterator
from importlib.resources import files
from os import environ

from context import context

from manyclass import Client
from manyclass.client.types import EventBody

BATCH = 1_000
LINE = 10_000  # events of each line of the table


def sentences() -> Iterator[list[str]]:
    """Yield the words of each sentence of the novel, with their case."""
    packed = files("manyclass.service.samples").joinpath("persuasion.txt.gz").read_bytes()
    for sentence in re.split(r"[.!?;:]|\n\s*\n", gzip.decompress(packed).decode()):
        yield re.findall(r"\w+", sentence)


def main() -> None:
    """Teach the words in order, and print the accuracy of each part of the novel."""
    events: list[EventBody] = [
        {"features": context(words[:place]), "classes": [word]}
        for words in sentences()
        for place, word in enumerate(words)
    ]
    print(" words      R1     R5")
    with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
        ranks: list[int | None] = []
        for start in range(0, len(events), BATCH):
            ranks += client.learn_many(events[start : start + BATCH]).ranks_before
            if len(ranks) % LINE == 0:
                last = ranks[-LINE:]
                first = sum(rank == 1 for rank in last) / LINE
                five = sum(rank is not None and rank <= 5 for rank in last) / LINE
                print(f"{len(ranks):6,}  {first:6.3f} {five:6.3f}", flush=True)
        print(f"The service knows {client.stats().classes:,} classes.")


if __name__ == "__main__":
    main()

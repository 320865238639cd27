"""Suggest five headings for each title, then learn the headings by the indexer.

Usage: python index_titles.py CATALOGUE ACQUISITIONS. The catalogue has been learned; headings that
it lacks are new.
"""

import csv
import sys
from collections import Counter
from os import environ
from pathlib import Path

from manyclass import Client

K = 5
BATCH = 20  # titles that are ranked before the first of them is learned
PART = 500  # titles of each line of the table


def read(file: Path) -> list[tuple[str, str, list[str]]]:
    """Return the number, the title and the headings of each record."""
    with file.open(newline="") as table:
        return [
            (row["record"], row["title"], row["subjects"].split("|"))
            for row in csv.DictReader(table)
        ]


def main(catalogue: Path, acquisitions: Path) -> None:
    """Index the acquisitions, and print the recall at 5 as it goes on, and that of new headings."""
    counts = Counter(heading for *_, headings in read(catalogue) for heading in headings)
    commonest = {heading for heading, _ in counts.most_common(K)}
    records = read(acquisitions)
    suggested: list[set[str]] = []
    print("titles  recall at 5  of the 5 commonest headings")
    with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
        for start in range(0, len(records), BATCH):
            batch = records[start : start + BATCH]
            rankings = client.rank_many([{"text": title} for _, title, _ in batch], k=K).results
            suggested += [{each.name for each in ranking.ranked} for ranking in rankings]
            client.learn_many(
                [
                    {"text": title, "classes": headings, "event_id": number}
                    for number, title, headings in batch
                ]
            )
            if (start + BATCH) % PART == 0:
                given = [{*headings} for *_, headings in records[: start + BATCH]]
                ours = recall(suggested[-PART:], given[-PART:])
                theirs = recall([commonest] * PART, given[-PART:])
                print(f"{start + BATCH:6,}  {ours:11.3f}  {theirs:8.3f}", flush=True)

    print("new heading              titles  suggested first for  recall at 5")
    for heading in sorted({each for *_, headings in records for each in headings} - counts.keys()):
        hits = [
            heading in some
            for some, (*_, headings) in zip(suggested, records, strict=True)
            if heading in headings
        ]
        first = f"no. {hits.index(True) + 1}" if any(hits) else "-"
        print(f"{heading:<23}  {len(hits):6}  {first:>19}  {sum(hits) / len(hits):11.3f}")


def recall(suggested: list[set[str]], given: list[set[str]]) -> float:
    """Return the mean share of the headings of a title that were suggested."""
    shares = [len(some & all_) / len(all_) for some, all_ in zip(suggested, given, strict=True)]
    return sum(shares) / len(shares)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

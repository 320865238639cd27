"""Triage a log: each line goes to the team of its kind, or to a person where that is uncertain.

Usage: python triage.py FILE. The kinds in the file stand for what the person and the teams know.
"""

import json
import random
import re
import sys
from dataclasses import dataclass
from os import environ
from pathlib import Path

from manyclass import Client
from manyclass.client.types import EventBody, InstanceBody, Ranking

MIN_CONFIDENCE = 0.8
CHECKED = 0.1  # share of the certain lines that a person checks, so that confidence stays true
MISTAKES = 0.05  # share of wrong labels of the person
BATCH = 50
PART = 500  # lines of each line of the table


@dataclass
class Counts:
    """Lines of a part of the log, by what became of them."""

    sent: int = 0
    right: int = 0
    unknown: int = 0  # of kinds that no one has labelled before
    unknown_sent: int = 0


def features(line: str) -> str:
    """Return a line without what differs from one to the next: numbers and identifiers."""
    return re.sub(r"\b[0-9a-f]{10}\b|\d+", "0", line)


def main(file: Path) -> None:
    """Triage the lines of a file, and print what became of each part."""
    rows = [json.loads(each) for each in file.read_text().splitlines()]
    person = random.Random(3)
    labelled: set[str] = set()
    sent_back: list[tuple[InstanceBody, str]] = []
    counts = Counts()
    print("lines   sent  right  of unknown kinds, sent")
    with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            instances: list[InstanceBody] = [
                {"text": features(row["line"]), "id": f"line-{start + number}"}
                for number, row in enumerate(batch)
            ]
            results = client.rank_many(instances, k=1, min_confidence=MIN_CONFIDENCE).results
            labels: list[EventBody] = []
            for row, instance, ranking in zip(batch, instances, results, strict=True):
                count(counts, row["kind"], ranking, labelled)
                if ranking.abstained or person.random() < CHECKED:
                    wrong = labelled and person.random() < MISTAKES
                    kind = person.choice(sorted(labelled)) if wrong else row["kind"]
                    labels.append({"id": ranking.id, "classes": [kind], "event_id": ranking.id})
                elif ranking.ranked[0].name != row["kind"]:  # the team sends it back
                    labels.append({"id": ranking.id, "not": [ranking.ranked[0].name]})
                    sent_back.append((instance, ranking.ranked[0].name))
            if labels:
                client.learn_many(labels, source="on call")
            labelled |= {str(kind) for label in labels for kind in label.get("classes", ())}
            if (start + BATCH) % PART == 0:
                show(start + BATCH, counts)
                counts = Counts()
        now = [client.rank(instance, k=1).ranked[0].name for instance, _ in sent_back]
    moved = sum(kind != before for kind, (_, before) in zip(now, sent_back, strict=True))
    print(f"{len(sent_back)} lines were sent back; {moved} of them are no longer ranked so")


def count(counts: Counts, kind: str, ranking: Ranking, labelled: set[str]) -> None:
    """Count a line of this kind."""
    counts.sent += not ranking.abstained
    counts.right += not ranking.abstained and ranking.ranked[0].name == kind
    counts.unknown += kind not in labelled
    counts.unknown_sent += kind not in labelled and not ranking.abstained


def show(done: int, counts: Counts) -> None:
    """Print the counts of a part of the log."""
    right = f"{counts.right / counts.sent:.3f}" if counts.sent else "-"
    unknown = f"{counts.unknown_sent} of {counts.unknown}" if counts.unknown else "-"
    print(f"{done:5}  {counts.sent / PART:.3f}  {right:>5}  {unknown:>8}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

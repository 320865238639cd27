"""Route questions by their intent: certain ones at once, the others to a person, who labels them.

Usage: python route.py FILE. The intents in the file stand for the decisions of the person; the last
questions are left to wait for one.
"""

import csv
import sys
from os import environ
from pathlib import Path

from manyclass import Client

MIN_CONFIDENCE = 0.8
WAITING = 20  # questions at the end that the person has not come to


def main(file: Path) -> None:
    """Route the questions of a file, and print how many were routed at once, and rightly."""
    rows = list(csv.DictReader(file.open(newline="")))
    routed = right = handed_over = 0
    with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
        for number, row in enumerate(rows, 1):
            ranking = client.rank(
                {"text": row["question"], "id": f"question-{number}"}, min_confidence=MIN_CONFIDENCE
            )
            if not ranking.abstained:
                routed += 1
                right += ranking.ranked[0].name == row["intent"]
            else:
                handed_over += 1
                if number <= len(rows) - WAITING:  # the label comes later, and has only the id
                    client.learn({"id": ranking.id, "classes": [row["intent"]]}, source="help desk")
    print(f"{len(rows)} questions: {routed} routed at once, {handed_over} handed to a person")
    if routed:
        print(f"of those routed at once, {right / routed:.0%} went to the right desk")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Describe classes by their titles, and by the vectors of these.

Usage: python describe.py FILE EMBED_URL [MODEL]
"""

import csv
import sys
from os import environ
from pathlib import Path
from urllib.parse import quote

import httpx

from manyclass import Embedder


def main(file: Path, embed_url: str, model: str | None = None) -> None:
    """Send the title, the description and the vector of each class of a file."""
    rows = list(csv.DictReader(file.open(newline="")))
    key = environ.get("MANYCLASS_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with (
        Embedder(embed_url, model, environ.get("MANYCLASS_EMBED_KEY")) as embed,
        httpx.Client(base_url=environ["MANYCLASS_URL"], headers=headers) as client,
    ):
        vectors = embed([f"{row['title']}\n{row['description']}" for row in rows])
        for row, vector in zip(rows, vectors, strict=True):
            described = {"title": row["title"], "description": row["description"]}
            answer = client.put(
                f"/classes/{quote(row['intent'], safe='')}",
                json={**described, "vector": vector.tolist()},
            )
            answer.raise_for_status()
    print(f"described {len(rows)} intents, such as {rows[0]['intent']!r}: {rows[0]['title']!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

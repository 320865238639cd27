"""Describe classes by their titles, and by the vectors of these.

Usage: python describe.py FILE EMBED_URL [MODEL]
"""

import csv
import sys
from os import environ
from pathlib import Path

from manyclass import Client, Embedder


def main(file: Path, embed_url: str, model: str | None = None) -> None:
    """Send the title, the description and the vector of each class of a file."""
    rows = list(csv.DictReader(file.open(newline="")))
    with (
        Embedder(embed_url, model, environ.get("MANYCLASS_EMBED_KEY")) as embed,
        Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client,
    ):
        vectors = embed([f"{row['title']}\n{row['description']}" for row in rows])
        client.describe_many(
            [
                {
                    "class": row["intent"],
                    "title": row["title"],
                    "description": row["description"],
                    "vector": vector.tolist(),
                }
                for row, vector in zip(rows, vectors, strict=True)
            ]
        )
    print(f"described {len(rows)} intents, such as {rows[0]['intent']!r}: {rows[0]['title']!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""Compare the analysis of texts with its reference: python -m load_tests.texts [COUNT] [SEED]

A million random texts of all planes by default, by each combination of parts in turns; then the
texts of the data sets, if they are there.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.core.test_text import ANALYSES, assert_equal, random_texts

DATA = Path("../shared/data")


def real_texts() -> Iterator[str]:
    """Yield the texts of the data sets."""
    for file in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line).get("text")
                if isinstance(text, str):
                    yield text


def main(count: int = 1_000_000, seed: int = 2) -> int:
    compared = 0
    for texts in (random_texts(count, seed), real_texts()):
        for text in texts:
            assert_equal(ANALYSES[compared % len(ANALYSES)], text)
            compared += 1
        print(f"{compared:,} texts are read as by the reference", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))

"""Compare the analysis of texts with its reference: python -m load_tests.texts

Random texts of all planes, by each combination of parts in turns; then the texts of the data sets
in the folder of --data, and it says so if there are none.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.core.test_text import ANALYSES, assert_equal, random_texts

DATA = Path("../shared/data")


def real_texts(data: Path) -> Iterator[str]:
    """Yield the texts of the data sets in a folder."""
    for file in sorted(data.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line).get("text")
                if isinstance(text, str):
                    yield text


def compare(texts: Iterator[str], of: str) -> int:
    """Compare texts; return how many they were."""
    compared = 0
    for text in texts:
        assert_equal(ANALYSES[compared % len(ANALYSES)], text)
        compared += 1
    print(f"{compared:,} {of} are read as by the reference", flush=True)
    return compared


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m load_tests.texts", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="of random texts")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data sets")
    chosen = parser.parse_args(arguments)
    compare(random_texts(chosen.count, chosen.seed), "random texts")
    if not compare(real_texts(chosen.data), "texts of data sets"):
        print(f"{chosen.data} has no data set (*.jsonl.gz): --data names the folder that has them")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Compare the analysis of texts with its reference: python -m load_tests.texts

Random texts of all planes, by each combination of parts in turns; then the first texts of each data
set in the folder of --data, and it says so if there are none.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from manyclass.evaluation import readers
from tests.core.references.text_comparison import ANALYSES, assert_equal, random_texts


def real_texts(data: Path, most: int) -> Iterator[str]:
    """Yield the first texts of each data set in a folder, at most so many of one."""
    for file in sorted(data.glob("*.jsonl.gz")):
        for row in islice(readers.json_lines(file), most):
            text = row.get("text")
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m load_tests.texts", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="of random texts")
    parser.add_argument("--seed", type=int, default=2)
    readers.add_data_option(parser)
    parser.add_argument("--rows", type=int, default=2_000, help="most of a data set")
    chosen = parser.parse_args()
    compare(random_texts(chosen.count, chosen.seed), "random texts")
    if not compare(real_texts(chosen.data, chosen.rows), "texts of data sets"):
        print(f"{chosen.data} has no data set (*.jsonl.gz): --data names the folder that has them")


if __name__ == "__main__":
    main()

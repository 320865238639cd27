"""Compare ranked tables with the true categories.

Usage: python compare.py TABLE...

The taxonomic loss is half the number of steps between two categories in the tree: 1 from a category
to its sibling, 2 to one of another family, 3 to one of another department.
"""

import csv
import sys
from pathlib import Path


def loss(one: str, other: str) -> float:
    """Return half the number of steps between two categories, each given by its path."""
    first, second = one.split(" > "), other.split(" > ")
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    return (len(first) + len(second)) / 2 - shared


print(f"{'table':<12}  right  family  taxonomic loss")
for table in sys.argv[1:]:
    with Path(table).open(newline="") as file:
        losses = [loss(row["class_1"], row["category"]) for row in csv.DictReader(file)]
    right = sum(each == 0 for each in losses) / len(losses)
    family = sum(each <= 1 for each in losses) / len(losses)
    print(f"{Path(table).stem:<12}  {right:.3f}   {family:.3f}  {sum(losses) / len(losses):.3f}")

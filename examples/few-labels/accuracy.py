"""Print how many rows of ranked tables have the true intent first, and among three.

Usage: python accuracy.py TABLE...
"""

import csv
import sys
from pathlib import Path

print(f"{'table':<16}  right  among three")
for table in sys.argv[1:]:
    with Path(table).open(newline="") as file:
        rows = list(csv.DictReader(file))
    right = sum(row["class_1"] == row["intent"] for row in rows) / len(rows)
    three = [{row["class_1"], row["class_2"], row["class_3"]} for row in rows]
    among = sum(row["intent"] in some for row, some in zip(rows, three, strict=True)) / len(rows)
    print(f"{Path(table).stem:<16}  {right:.3f}  {among:.3f}")

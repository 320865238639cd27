"""Write the questions of two days to a bank: the sample of the service, as two CSV files."""

import csv
import gzip
import json
from importlib.resources import files
from pathlib import Path

YESTERDAY = 1_400

packed = files("manyclass.service.samples").joinpath("banking77.jsonl.gz").read_bytes()
rows = [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()]
Path("data").mkdir(exist_ok=True)
for name, some in (("yesterday", rows[:YESTERDAY]), ("today", rows[YESTERDAY:])):
    with Path("data", f"{name}.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "intent"])
        table.writerows([row["text"], row["classes"][0]] for row in some)

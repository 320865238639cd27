"""Look at the labels that are most likely wrong, and correct the wrong ones.

Usage: python check_suspects.py FILE. The kinds in the file stand for the person who looks.
"""

import json
import sys
from os import environ
from pathlib import Path

from manyclass import Client

LOOKED_AT = 20

kinds = [json.loads(each)["kind"] for each in Path(sys.argv[1]).read_text().splitlines()]
corrected = 0
with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
    for suspect in client.suspects(limit=LOOKED_AT):
        kind = kinds[int(suspect.event.key.removeprefix("line-"))]
        if suspect.event.classes != (kind,):
            client.correct(suspect.event.key, [kind])
            corrected += 1
    print(f"{corrected} of the {LOOKED_AT} likeliest were wrong, and are corrected")
    print(f"{len(client.suspects(limit=100))} suspects are left")

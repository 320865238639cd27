"""Print the words that come next.

Usage: python complete.py BEGINNING...
"""

import sys
from os import environ

from context import context

from manyclass import Client

with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
    for beginning in sys.argv[1:]:
        ranking = client.rank({"features": context(beginning.split())}, k=5)
        words = "  ".join(f"{each.name} {each.score:.2f}" for each in ranking.ranked)
        print(f"{beginning} … {words}")

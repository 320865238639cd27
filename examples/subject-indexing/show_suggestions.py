"""Print suggested headings of titles, each with the words that speak most for it.

Usage: python show_suggestions.py TITLE...
"""

import sys
from os import environ

from manyclass import Client

with Client(environ["MANYCLASS_URL"], environ.get("MANYCLASS_KEY")) as client:
    for title in sys.argv[1:]:
        print(title)
        for heading in client.rank({"text": title}, k=5, explain=True).ranked:
            words = ", ".join(vote.feature for vote in heading.features[:2])
            print(f"    {heading.score:5.2f}  {heading.name} ({words})")

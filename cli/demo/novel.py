"""The novel of the demonstration; service/samples/persuasion.md names its source."""

import gzip
from importlib.resources import files
from typing import Final

TITLE: Final = "Persuasion, by Jane Austen (1818)"


def text() -> str:
    """Return the text of the novel."""
    stored = files("manyclass.service.samples").joinpath("persuasion.txt.gz").read_bytes()
    return gzip.decompress(stored).decode("ascii")

"""The novel that ships with the service; persuasion.md beside it says where it comes from."""

import gzip
from importlib.resources import files
from typing import Final

TITLE: Final = "Persuasion, by Jane Austen (1818)"


def text() -> str:
    """The whole novel."""
    stored = files("manyclass.cli.demo").joinpath("persuasion.txt.gz").read_bytes()
    return gzip.decompress(stored).decode("ascii")

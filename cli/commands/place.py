"""manyclass place: place the classes of a file in the taxonomy of a running service."""

from itertools import islice
from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.core.event import MOST_PLACEMENTS
from manyclass.training.formats.parents import read_parents
from manyclass.training.lines import FileFault, Source

FileArgument = Annotated[
    str, typer.Argument(help="The file, plain or compressed; - for standard input.", metavar="FILE")
]
Move = Annotated[bool, typer.Option("--move", help="Let classes leave the parents that they have.")]


def place(file: FileArgument, move: Move = False, url: Url = URL, key: Key = None) -> None:
    """Place the classes of a file in the taxonomy of a running service.

    The file is one JSON object with the parent of each class, {"hockey": "sports"}, or null for
    the top of the taxonomy; or it has a class and its parent on each line, separated by a tab or a
    comma. Of several parents (a list, or several lines) the first by name is taken: a taxonomy is
    a tree.

    The service learns 1,000 classes at once, all or none. If it refuses, the command stops and
    names the class; to repeat it is harmless.
    """
    try:
        parents = read_parents(Source(file))
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    with connected(url, key) as client:
        left = iter(parents.items())
        while some := dict(islice(left, MOST_PLACEMENTS)):
            client.place_many(some, move)
    typer.echo(f"placed {len(parents):,} classes")

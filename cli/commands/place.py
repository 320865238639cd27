"""manyclass place: place the classes of a file in the taxonomy of a running service."""

import json
from itertools import islice
from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.reading import tree_of_file
from manyclass.cli.run_summary import counted
from manyclass.cli.taxonomy_options import (
    ChildColumn,
    Comments,
    Delimiter,
    Encoding,
    FirstParent,
    Header,
    ListsOption,
    NameColumn,
    NamesOption,
    ParentColumn,
    Separator,
    Top,
)
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.training.lines import FileFault
from manyclass.training.taxonomies.layout import TaxonomyLayout

FileArgument = Annotated[
    str, typer.Argument(help="The file, plain or compressed; - for standard input.", metavar="FILE")
]
Move = Annotated[bool, typer.Option("--move", help="Allow classes to leave their present parents.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Place nothing; print the parent of each class as JSON, which --taxonomy reads.",
    ),
]


def place(
    file: FileArgument,
    child_column: ChildColumn = None,
    parent_column: ParentColumn = None,
    name_column: NameColumn = None,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    path_separator: Separator = None,
    names: NamesOption = None,
    lists: ListsOption = None,
    top: Top = None,
    first_parent: FirstParent = False,
    comments: Comments = True,
    dry_run: DryRun = False,
    move: Move = False,
    url: Url = URL,
    key: Key = None,
) -> None:
    """Place the classes of a file in the taxonomy of a running service.

    The file is a table with a class and its parent in each row (CSV, .xlsx, .parquet, .arrow); or
    has a path on each line, Home > Lamps > Desk Lamps; or is JSON: a nested tree, an object with
    the parent of each class, {"hockey": "sports"}, or objects such as {"name": "sports",
    "children": ["hockey"]} or {"id": "hockey", "broader": "sports"}. The command prints how it
    reads the file.
    An ambiguous file is refused with the line and the option that resolves the ambiguity.

    The service places 1,000 classes at once, all or none. If it refuses, the command stops and
    names the class; the command can be repeated without harm.
    """
    layout = TaxonomyLayout(
        child_column,
        parent_column,
        name_column,
        header,
        delimiter,
        encoding,
        path_separator,
        names,
        lists,
        top,
        first_parent,
        comments,
    )
    try:
        tree = tree_of_file(file, layout)
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    if dry_run:
        typer.echo(json.dumps(tree.parents, ensure_ascii=False, indent=0))
        return
    with connected(url, key) as client:
        left = iter(tree.parents.items())
        while some := dict(islice(left, MOST_PLACEMENTS)):
            client.place_many(some, move)
    typer.echo(f"placed {counted(len(tree.parents), 'class', 'classes')}")

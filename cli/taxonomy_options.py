"""The options that say how a file with a taxonomy is to be read."""

from typing import Annotated

import typer

from manyclass.training.taxonomies.layout import Lists, Names

ChildColumn = Annotated[
    str | None,
    typer.Option(
        "--child-column",
        help="Of a table: the column of the class, by name or number; of JSON the key.",
        metavar="COLUMN",
        show_default=False,
    ),
]
ParentColumn = Annotated[
    str | None,
    typer.Option(
        "--parent-column",
        help="Of a table: the column of its parent.",
        metavar="COLUMN",
        show_default=False,
    ),
]
NameColumn = Annotated[
    str | None,
    typer.Option(
        "--name-column",
        help="The column of the name of the class, if the other two have ids.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="The first row has the names of the columns, or is a class; by default recognised.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Of CSV: the character between cells, or `tab`; by default found by itself.",
        metavar="CHARACTER",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Of text: cp1252, latin-1, ...; by default UTF-8, or that of a byte order mark.",
        metavar="NAME",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--path-separator",
        help="Each line is a path from the top, with this text between its parts, as /.",
        metavar="TEXT",
        show_default=False,
    ),
]
NamesOption = Annotated[
    Names | None,
    typer.Option(
        "--names",
        help="Names of classes: the `last` part of a path, the whole `path`, or the `id`"
        " in front of it.",
        show_default=False,
    ),
]
ListsOption = Annotated[
    Lists | None,
    typer.Option(
        "--lists",
        help="Of an object of JSON: its lists are the `children` of a class, or its `parents`.",
        show_default=False,
    ),
]
Top = Annotated[
    str | None,
    typer.Option(
        "--top",
        help="The parent that stands for none, as NULL.",
        metavar="TEXT",
        show_default=False,
    ),
]
FirstParent = Annotated[
    bool, typer.Option("--first-parent", help="Of several parents, take the first by name.")
]
Comments = Annotated[
    bool, typer.Option("--comments/--no-comments", help="Leave out lines that begin with #.")
]

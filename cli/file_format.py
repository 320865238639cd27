"""The option --format of commands that read files of instances."""

from typing import Annotated

import typer

FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="jsonl, libsvm, xmc, vw or fasttext; by default the name of each file determines it.",
        metavar="FORMAT",
        show_default=False,
    ),
]

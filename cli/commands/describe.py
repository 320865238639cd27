"""manyclass classes describe: title, description and other names of classes, from a file or one."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, cast

import msgspec
import typer

from manyclass.cli.connection import BAD_LINES, FAILED, URL, Key, Url, complain, connected
from manyclass.cli.embed_options import (
    EmbedCache,
    EmbedKey,
    EmbedModel,
    EmbedUrl,
    at_once,
    embedder_of,
)
from manyclass.cli.progress_bar import bar
from manyclass.cli.run_summary import counted
from manyclass.cli.taxonomy_options import Delimiter, Encoding
from manyclass.client.client import Client
from manyclass.client.embedder import Embedder
from manyclass.client.errors import EmbeddingRefused, RequestRefused
from manyclass.client.types import ClassDescription, DescribedClass
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.training.descriptions.layout import SEPARATOR, DescriptionLayout, NameFrom
from manyclass.training.descriptions.reading import read_descriptions
from manyclass.training.descriptions.row import DescribedRow
from manyclass.training.lines import FileFault

MOST_BYTES: Final = 2**20  # of the classes in a request
NAMED_FAULTS: Final = 20  # printed; more are only counted


def _column(flag: str, what: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(
        flag, help=f"The column of {what}, by name or number.", metavar="COLUMN", show_default=False
    )
    return info


def describe(
    file: Annotated[
        str,
        typer.Argument(
            help="The file, plain or compressed, - for standard input; or the name of a class with"
            " --title, --description or --other-name.",
            metavar="FILE",
        ),
    ],
    title: Annotated[
        str | None, typer.Option(help="The title of one class; empty: none.", show_default=False)
    ] = None,
    description: Annotated[
        str | None,
        typer.Option(help="The description of one class; empty: none.", show_default=False),
    ] = None,
    other_name: Annotated[
        list[str] | None,
        typer.Option(
            "--other-name",
            help="Another name of one class; may be repeated, and replaces all; empty: none.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    class_column: Annotated[str | None, _column("--class-column", "the class")] = None,
    title_column: Annotated[str | None, _column("--title-column", "the title")] = None,
    description_column: Annotated[
        str | None, _column("--description-column", "the description")
    ] = None,
    names_column: Annotated[str | None, _column("--names-column", "the other names")] = None,
    names_separator: Annotated[
        str,
        typer.Option(
            "--names-separator",
            help="The text between other names in a cell that is no list.",
            metavar="TEXT",
        ),
    ] = SEPARATOR,
    header: Annotated[
        bool,
        typer.Option("--header/--no-header", help="The first row has the names of the columns."),
    ] = True,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="Of SKOS: the language of titles, or several, the preferred one first: en,de.",
            metavar="LANGUAGES",
            show_default=False,
        ),
    ] = None,
    name_from: Annotated[
        NameFrom, typer.Option(help="Of SKOS: the part of a concept that is the name of the class.")
    ] = "uri-end",
    broader: Annotated[
        bool, typer.Option("--broader", help="Of SKOS: place each class below its broader concept.")
    ] = False,
    first_parent: Annotated[
        bool,
        typer.Option("--first-parent", help="Of several broader concepts, take the first by name."),
    ] = False,
    move: Annotated[
        bool, typer.Option("--move", help="Allow classes to leave their present parents.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Remove the parts of a description that the file does not have."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Change nothing; print the classes as lines of JSON."),
    ] = False,
    embed: EmbedUrl = None,
    embed_model: EmbedModel = None,
    embed_key: EmbedKey = None,
    embed_cache: EmbedCache = None,
    url: Url = URL,
    key: Key = None,
) -> None:
    """Give classes titles, descriptions and other names: of a file, or of one class.

    The file is a table with a class in each row (CSV, .xlsx, .parquet), whose columns may be named
    class, title, description and alt_labels; or has JSON objects with these keys, one a line; or is
    a vocabulary of SKOS as RDF/XML or Turtle, which needs the extra [skos]: prefLabel, altLabel,
    and definition or scopeNote. The class need not be learned yet. The command prints how it reads
    the file. An ambiguous file is refused with the option that resolves the ambiguity.

    With --embed, each class gets the vector of its title and its description too.

    An empty cell changes nothing, unless --replace removes that part. A row that cannot be used is
    reported and skipped; the exit code is then 1. The command can be repeated without harm.
    """
    embedder = embedder_of(embed, embed_model, embed_key, embed_cache)
    if title is not None or description is not None or other_name is not None:
        _describe_one(file, title, description, other_name, url, key, embedder)
        return
    layout = DescriptionLayout(
        name=class_column,
        title=title_column,
        description=description_column,
        others=names_column,
        separator=names_separator,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        replaces=replace,
        languages=tuple(each.strip() for each in (language or "").split(",") if each.strip()),
        name_from=name_from,
        broader=broader,
        first_parent=first_parent,
    )
    if not names_separator:
        raise typer.BadParameter("give a text", param_hint="--names-separator")
    try:
        found = read_descriptions(file, layout)
    except FileFault as error:
        complain(f"{error}{_is_it_a_class(file)}")
        raise typer.Exit(FAILED) from error
    read = f"read {counted(len(found.rows), 'class', 'classes')}; {found.form}"
    typer.echo(read, err=True)
    for fault in found.faults[:NAMED_FAULTS]:
        complain(f"{file}: {fault}")
    if len(found.faults) > NAMED_FAULTS:
        complain(f"and {len(found.faults) - NAMED_FAULTS:,} more faults")
    if dry_run:
        for row in found.rows:
            typer.echo(msgspec.json.encode(row.body))
    elif found.rows:
        with connected(url, key, embed=embedder) as client:
            _send(client, file, found.rows, move, at_once(MOST_PLACEMENTS, embedder))
        typer.echo(f"described {counted(len(found.rows), 'class', 'classes')}")
    if found.faults:
        complain(
            f"{counted(len(found.faults), 'row', 'rows')} skipped: correct the file and repeat"
        )
        raise typer.Exit(BAD_LINES)


def _describe_one(
    name: str,
    title: str | None,
    description: str | None,
    other_names: Sequence[str] | None,
    url: str,
    key: str | None,
    embedder: Embedder | None,
) -> None:
    given = {"title": title, "description": description, "alt_labels": other_names}
    changes = {part: value for part, value in given.items() if value is not None}
    with connected(url, key, embed=embedder) as client:
        seq = client.describe(name, cast(ClassDescription, changes))
    typer.echo(f"described by event {seq}")


def _is_it_a_class(file: str) -> str:
    return "" if "." in file or file == "-" else "; for a class of this name, add --title"


def _send(client: Client, file: str, rows: Sequence[DescribedRow], move: bool, most: int) -> None:
    """Send all classes, at most so many at once."""
    done = 0
    with bar(len(rows)) as show:
        for some in _requests(rows, most):
            bodies = cast(Sequence[DescribedClass], [row.body for row in some])
            try:
                client.describe_many(bodies, move)
            except EmbeddingRefused:
                raise
            except RequestRefused as error:
                complain(
                    f"{file}: {_place(error, some)}the service refused: {error}. The {done:,}"
                    " classes before are described; correct the file and repeat"
                )
                raise typer.Exit(FAILED) from error
            done += len(some)
            show(done, f"{done:,} of {len(rows):,} classes described")


def _requests(rows: Sequence[DescribedRow], most: int) -> Iterator[list[DescribedRow]]:
    """Yield the rows of each request."""
    some: list[DescribedRow] = []
    size = 0
    for row in rows:
        more = len(msgspec.json.encode(row.body))
        if some and (len(some) == most or size + more > MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(row)
        size += more
    yield some


def _place(error: RequestRefused, rows: Sequence[DescribedRow]) -> str:
    """Return the place in the file of the row that the service refused, if it names one."""
    for fault in error.faults:
        kind, _, rest = (fault.pointer or "").removeprefix("#/").partition("/")
        step = rest.partition("/")[0]
        if kind == "classes" and step.isdigit() and int(step) < len(rows):
            return f"{rows[int(step)].where}: "
    return ""

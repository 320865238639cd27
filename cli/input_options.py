"""The options of commands that read files: the format, and the columns of tables."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Annotated, Any, Final

import typer

from manyclass.cli.connection import FAILED, WRONG_USE, complain
from manyclass.training.formats import FORMATS, TABLES, FormatUnknown, format_of, format_of_name
from manyclass.training.json_lines import JsonLines
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from manyclass.training.vectors import VectorFile

KEYS: Final = "keys"  # JSON lines whose keys are columns


@dataclass(frozen=True, slots=True)
class Input:
    """The format of all files, None if their names determine it, and the layout of tables."""

    format: str | None
    layout: Layout
    labelled: bool = True  # else rows are only ranked, and need no class
    of_lines: bool = False  # files of an unknown name have JSON lines
    vectors: Sequence[str] = ()  # files with the vectors of the rows of each file
    said: set[str] = field(default_factory=set)  # guesses of columns, each printed once

    def sources(self, files: Sequence[str]) -> list[Source]:
        """Return the source of each file; the rows of tables become JSON lines.

        All files have to be there, and the columns of all tables are looked up, before anything is
        read; an error ends the command.
        """
        try:
            for file in files:
                Source(file).check_there()
            self._check_options([self._format_of(file) for file in files])
            vectors = self._vectors_of(files)
            sources = [*map(self._source, files, vectors)]
            for source in sources:
                if isinstance(source, TableSource | JsonLines):
                    source.check()
        except FileFault as error:
            complain(str(error))
            raise typer.Exit(WRONG_USE if isinstance(error, TableFault) else FAILED) from error
        return sources

    def _vectors_of(self, files: Sequence[str]) -> Sequence[VectorFile | None]:
        """Return the vectors beside each file; FileFault, or BadParameter unless all have some."""
        if not self.vectors:
            return [None] * len(files)
        if len(self.vectors) != len(files):
            raise typer.BadParameter(
                f"there are {len(files)} files and {len(self.vectors)} of vectors: give --vectors"
                " once for each file, in the same order",
                param_hint="--vectors",
            )
        return [*map(VectorFile, self.vectors)]

    def _check_options(self, formats: Sequence[str | None]) -> None:
        """Raise BadParameter for an option that means nothing for any of the files."""
        layout = self.layout
        if layout.fields and not layout.text:
            lines = '; lines of {"text": {"title": "...", "body": "..."}} need no --fields'
            raise typer.BadParameter(
                "name the column of each field: --text-column title --text-column body"
                + (lines if {"jsonl", None} & {*formats} else ""),
                param_hint="--fields",
            )
        if layout.names_columns:  # of JSON lines, their keys
            formats = [KEYS if each == "jsonl" else each for each in formats]
        if layout.ranked_id is not None and layout.text:
            raise typer.BadParameter(
                "the text is that which was ranked under the id: leave out --text-column",
                param_hint="--ranked-id-column",
            )
        if layout.vector is not None and layout.vectors_beside:
            raise typer.BadParameter(
                "the vectors are in a column, or in a file beside the table: give one of the two",
                param_hint="--vectors",
            )
        if layout.ranked_id is not None and layout.has_vectors:
            raise typer.BadParameter(
                "the vector is that which was ranked under the id: leave it out",
                param_hint="--vectors" if layout.vectors_beside else "--vector-column",
            )
        for flag, is_given, read_by in (
            ("--delimiter", layout.delimiter is not None, ("csv",)),
            ("--header", layout.header is not None, ("csv", "xlsx")),
            ("--sheet", layout.sheet is not None, ("xlsx",)),
            ("--encoding", layout.encoding is not None, (None, KEYS, "csv", *FORMATS)),
            ("--leave-out", bool(layout.left_out), (None, KEYS, "jsonl", *TABLES)),
            ("--class-separator", bool(layout.class_separator), (KEYS, *TABLES)),
            ("--fields", layout.fields, (KEYS, *TABLES)),
        ):
            if is_given and {*read_by}.isdisjoint(formats):
                read_as = {"jsonl" if each in (None, KEYS) else each for each in formats}
                raise typer.BadParameter(
                    f"files that are read as {' and '.join(sorted(read_as))} have none;"
                    + _remedy(read_by, formats),
                    param_hint=flag,
                )

    def _format_of(self, file: str) -> str | None:
        format = self.format or format_of_name(file)
        return "csv" if format is None and self.layout.names_columns else format

    def _say(self, guess: str) -> None:
        if guess not in self.said:
            self.said.add(guess)
            complain(guess)

    def _source(self, file: str, vectors: VectorFile | None) -> Source:
        format = self._format_of(file)
        if format in TABLES or (format == "jsonl" and self.layout.names_columns):
            return TableSource(file, format, self.layout, self.labelled, self._say, vectors)
        if self.layout.names_columns:
            raise typer.BadParameter(
                f"{file} is read as {format}, which has no columns; name it .csv, or add --format"
                " csv",
                param_hint="--text-column",
            )
        if format is None and not self.of_lines:
            try:
                format_of(file)
            except FormatUnknown as error:
                raise typer.BadParameter(str(error), param_hint="--format") from error
        layout = self.layout
        if format in (None, "jsonl"):
            left_out = layout.left_out
            return JsonLines(file, layout.encoding, left_out, self.labelled, self._say, vectors)
        return Source(file, layout.encoding, self._say)


def _remedy(read_by: Sequence[str | None], formats: Sequence[str | None]) -> str:
    """Return how to read files so that an option means something for them."""
    if KEYS in read_by and {"jsonl", None} & {*formats}:
        return " with --text-column and --class-column, the keys of JSON lines are columns"
    return " --format csv reads them as CSV"


def _option(name: str, annotation: Any, default: Any, *flags: str, **about: Any) -> Parameter:
    option = typer.Option(*flags, show_default=False, **about)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, option]
    )


_TEXT = _option(
    "text_columns",
    list[str] | None,
    None,
    "--text-column",
    help="Of a table: the column of the text, by name or number; again for more, which are joined.",
    metavar="COLUMN",
)
_FIELDS = _option(
    "fields",
    bool,
    False,
    "--fields",
    help="Of a table: do not join the columns of the text: each is a field named as the column.",
)
_CLASSES = (
    _option(
        "class_columns",
        list[str] | None,
        None,
        "--class-column",
        help="Of a table: the column of the true class; again for more.",
        metavar="COLUMN",
    ),
    _option(
        "class_separator",
        str,
        "",
        "--class-separator",
        help="Of a table: the text between several classes of a cell, as | or ;.",
        metavar="TEXT",
    ),
    _option(
        "one_hot",
        list[str] | None,
        None,
        "--one-hot",
        help="Of a table: a column with the name of a class, and 1 in its rows, else 0; again for"
        " more.",
        metavar="COLUMN",
    ),
    _option(
        "left_out",
        list[str] | None,
        None,
        "--leave-out",
        help="A label that is not taught, as nan; again for more.",
        metavar="LABEL",
    ),
)
_NOTATION = (
    _option(
        "delimiter",
        str | None,
        None,
        "--delimiter",
        help="Of CSV: the character between cells, or `tab`; by default found by itself.",
        metavar="CHARACTER",
    ),
    _option(
        "encoding",
        str | None,
        None,
        "--encoding",
        help="Of CSV and lines: cp1252, latin-1, ...; by default found by itself: UTF-8, UTF-16 or"
        " cp1252.",
        metavar="NAME",
    ),
    _option(
        "header",
        bool | None,
        None,
        "--header/--no-header",
        help="Of CSV and .xlsx: the first row has the names of the columns, or else they have"
        " numbers; by default found by itself.",
    ),
    _option(
        "sheet",
        str | None,
        None,
        "--sheet",
        help="Of .xlsx, .xls and .ods: the name of the sheet; by default the first.",
        metavar="NAME",
    ),
)


def _vectors(hidden: bool = False) -> tuple[Parameter, ...]:
    """Return the options of vectors, hidden where they are refused."""
    column = _option(
        "vector_column",
        str | None,
        None,
        "--vector-column",
        help="Of a table: the column of the vector, such as an embedding of the text.",
        metavar="COLUMN",
        hidden=hidden,
    )
    beside = _option(
        "vectors",
        list[str] | None,
        None,
        "--vectors",
        help="A file of NumPy with the vector of each row, in order; again for each further file.",
        metavar="FILE.npy",
        hidden=hidden,
    )
    return column, beside


def _id(meaning: str) -> Parameter:
    return _option(
        "id_column",
        str | None,
        None,
        "--id-column",
        help=f"Of a table: the column of {meaning}.",
        metavar="COLUMN",
    )


_RANKED_ID = _option(
    "ranked_id_column",
    str | None,
    None,
    "--ranked-id-column",
    help="Of a table: the column of the id under which the row was ranked; the row is the label of"
    " that instance and needs no text.",
    metavar="COLUMN",
)
_SOURCE = _option(
    "source_column",
    str | None,
    None,
    "--source-column",
    help="Of a table: the column that says whose the row is, its `source`.",
    metavar="COLUMN",
)


def _format(formats: Sequence[str]) -> Parameter:
    return _option(
        "format",
        str | None,
        None,
        "--format",
        help=f"{', '.join(formats[:-1])} or {formats[-1]}; by default the name of each file"
        " determines it.",
        metavar="FORMAT",
    )


LINES: Final = ("jsonl", *TABLES)
ALL: Final = (*FORMATS, *TABLES)


def reads_labelled(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options in place of its parameter `input`, for labelled files."""

    def made(format: str | None, layout: Layout, vectors: Sequence[str]) -> Input:
        if layout.has_vectors:
            raise typer.BadParameter(
                "vectors are learned by a service only: `manyclass learn` teaches them",
                param_hint="--vectors" if vectors else "--vector-column",
            )
        return Input(format, layout)

    columns = [_TEXT, _FIELDS, *_CLASSES]
    return _with_input(command, ALL, [*columns, *_NOTATION, *_vectors(hidden=True)], made)


def learns(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options in place of its parameter `input`, for events."""
    event_id = _id("the event_id: an event with a known one is not learned again")

    def made(format: str | None, layout: Layout, vectors: Sequence[str]) -> Input:
        return Input(format, layout, of_lines=True, vectors=vectors)

    columns = [_TEXT, _FIELDS, *_CLASSES, event_id, _RANKED_ID, _SOURCE]
    return _with_input(command, LINES, [*columns, *_vectors(), *_NOTATION], made)


def ranks(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options in place of its parameter `input`, for instances."""
    id = _id("the id, which the result repeats and a later label names")

    def made(format: str | None, layout: Layout, vectors: Sequence[str]) -> Input:
        return Input(format, layout, labelled=False, of_lines=True, vectors=vectors)

    columns = [_TEXT, _FIELDS, id, _SOURCE]
    return _with_input(command, LINES, [*columns, *_vectors(), *_NOTATION], made)


def _with_input(
    command: Callable[..., None],
    formats: Sequence[str],
    options: Sequence[Parameter],
    made: Callable[[str | None, Layout, Sequence[str]], Input],
) -> Callable[..., None]:
    options = [_format(formats), *options]

    def wrapped(**arguments: Any) -> None:
        given = {option.name: arguments.pop(option.name) for option in options}
        format = _checked(given["format"], formats)
        command(**arguments, input=made(format, _layout(given), given["vectors"] or ()))

    signature = inspect.signature(command)
    parameters: list[Parameter] = []
    for parameter in signature.parameters.values():
        parameters += options if parameter.name == "input" else [parameter]
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
    wrapped.__dict__["__signature__"] = signature.replace(parameters=parameters)
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    wrapped.__name__ = command.__name__
    wrapped.__doc__ = command.__doc__
    return wrapped


def _checked(format: str | None, formats: Sequence[str]) -> str | None:
    if format is not None and format not in formats:
        raise typer.BadParameter(
            f"{format!r} is not a format of this command; there are {', '.join(formats)}",
            param_hint="--format",
        )
    return format


def _layout(given: Mapping[str, Any]) -> Layout:
    return Layout(
        text=tuple(given["text_columns"] or ()),
        classes=tuple(given.get("class_columns") or ()),
        class_separator=given.get("class_separator") or "",
        id=given.get("id_column"),
        source=given.get("source_column"),
        ranked_id=given.get("ranked_id_column"),
        vector=given["vector_column"],
        vectors_beside=bool(given["vectors"]),
        one_hot=tuple(given.get("one_hot") or ()),
        left_out=frozenset(given.get("left_out") or ()),
        delimiter=given["delimiter"],
        encoding=given["encoding"],
        header=given["header"],
        sheet=given["sheet"],
        fields=given["fields"],
    )

"""manyclass classes: list, describe, rename and merge the classes of a running service."""

from collections import Counter
from typing import Annotated

import typer

from manyclass.cli.commands.describe import describe
from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.renaming_plan import RenamingPlan, Step
from manyclass.cli.run_summary import counted
from manyclass.cli.taxonomy_options import Delimiter, Encoding, Header
from manyclass.client.client import Client
from manyclass.client.errors import RequestRefused
from manyclass.training.lines import FileFault
from manyclass.training.renamings import read_renamings

app = typer.Typer(
    help="List, describe, rename and merge the classes of a running service, release former names."
)
app.command("describe")(describe)

_SPACES = dict.fromkeys(map(ord, "\t\r\n"), " ")  # in a name: the list has tabs and lines

Former = Annotated[str, typer.Argument(help="The present name of the class.", metavar="CLASS")]


@app.command("list")
def list_classes(
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            help="List classes that have a name with this text in it, the best first: a title,"
            " another name or the name itself.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="List classes whose names begin so.", show_default=False)
    ] = "",
    url: Url = URL,
    key: Key = None,
) -> None:
    """List the classes: the name, the number of its events and the title, with tabs between."""
    with connected(url, key) as client:
        for each in client.classes(prefix, page=1000, search=search):
            cells = each.name, str(each.learned), each.title or ""
            typer.echo("\t".join(cell.translate(_SPACES) for cell in cells))


@app.command("rename")
def rename_class(
    former: Former,
    to: Annotated[str, typer.Argument(help="Its new name.", metavar="NAME")],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Rename a class. From now on, events with the former name are learned under the new one."""
    with connected(url, key) as client:
        typer.echo(f"renamed by event {client.rename_class(former, to)}")


@app.command("merge")
def merge_class(
    former: Former,
    into: Annotated[str, typer.Argument(help="Another class.", metavar="CLASS")],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Merge a class into another. The service then rebuilds its state from the history."""
    with connected(url, key) as client:
        typer.echo(f"merged by event {client.merge_class(former, into)}")


@app.command("apply")
def apply_names(
    file: Annotated[str, typer.Argument(help="The table; - for standard input.", metavar="FILE")],
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; print what each row would do.")
    ] = False,
    url: Url = URL,
    key: Key = None,
) -> None:
    """Rename and merge the classes of a table, which has the name of a class and its new name in
    each row.

    The columns may be named `old` and `new`, `name` and `new`, or `from` and `to`; others are not
    read then. A table of two columns needs no header. A class is merged if there is a class with
    the new name, else renamed; a former name as the new name stands for its class. Rows without a
    new name are left out.

    The whole table is checked before the first change. What each row does is printed: renamed,
    merged, done (it is so already), or unknown (there is no such class). So the command can be
    repeated. --dry-run prints the same and changes nothing.
    """
    try:
        rows = read_renamings(file, header, delimiter, encoding)
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    with connected(url, key) as client:
        plan = RenamingPlan(client, rows)
        for fault in plan.faults:
            complain(fault)
        if plan.faults:
            complain("nothing is changed; correct the table")
            raise typer.Exit(FAILED)
        done: Counter[str] = Counter()
        for step in plan.steps:
            if not dry_run:
                _apply(client, step, sum(done.values()))
            done[step.does] += 1
            cells = (step.row.former, step.does, step.to, *filter(None, [step.note]))
            typer.echo("\t".join(cells))
    renamed, merged = ("would rename", "merge") if dry_run else ("renamed", "merged")
    typer.echo(
        f"{renamed} {counted(done['renamed'], 'class', 'classes')}, {merged} {done['merged']};"
        f" done before {done['done']}, unknown {done['unknown']}"
    )


def _apply(client: Client, step: Step, before: int) -> None:
    try:
        step.apply(client)
    except RequestRefused as error:
        complain(
            f"{step.row.where}: the service refused: {error}. The {before:,} rows before it are"
            " applied; correct the table and apply it again"
        )
        raise typer.Exit(FAILED) from error


@app.command("release")
def release_class(
    former: Annotated[str, typer.Argument(help="A former name of a class.", metavar="NAME")],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Make a former name a class of its own again.

    Events sent under this name count for it after a rebuild, which the service then begins.
    """
    with connected(url, key) as client:
        typer.echo(f"released by event {client.release_class(former)}")

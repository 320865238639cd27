"""manyclass classes: rename and merge the classes of a running service, release former names."""

from collections import Counter
from typing import Annotated

import typer

from manyclass.cli.class_names import has_class
from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.reading import tree_of_file
from manyclass.cli.run_summary import counted
from manyclass.cli.taxonomy_options import Delimiter, Encoding, Header
from manyclass.client.client import Client
from manyclass.training.lines import FileFault
from manyclass.training.taxonomies.layout import TaxonomyLayout

app = typer.Typer(help="Rename and merge the classes of a running service, release former names.")

Former = Annotated[str, typer.Argument(help="The present name of the class.", metavar="CLASS")]


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

    A class is merged if there is a class with the new name, else renamed. Names without a class are
    counted; so the command can be repeated after a fault.
    """
    layout = TaxonomyLayout("1", "2", None, header, delimiter, encoding, None, None, None, None)
    try:
        pairs = {name: to for name, to in tree_of_file(file, layout).parents.items() if to}
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    with connected(url, key) as client:
        done: Counter[str] = Counter()
        for former, to in pairs.items():
            does = _change_of(client, former, to)
            done[does] += 1
            if dry_run:
                typer.echo(f"{former}\t{does}\t{to}")
            elif does == "merged":
                client.merge_class(former, to)
            elif does == "renamed":
                client.rename_class(former, to)
    would = "would be " if dry_run else ""
    typer.echo(
        f"{would}renamed {counted(done['renamed'], 'class', 'classes')}, {would}merged"
        f" {done['merged']}; {done['unknown']} unknown"
    )


def _change_of(client: Client, former: str, to: str) -> str:
    if not has_class(client, former):
        return "unknown"
    return "merged" if has_class(client, to) else "renamed"


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

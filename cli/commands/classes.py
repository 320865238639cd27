"""manyclass classes: rename and merge the classes of a running service, release former names."""

from typing import Annotated

import typer

from manyclass.cli.connection import URL, Key, Url, connected

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

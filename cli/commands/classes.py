"""manyclass classes: rename and merge the classes of a running service."""

from typing import Annotated

import typer

from manyclass.cli.connection import URL, Key, Url, connected

app = typer.Typer(help="Rename and merge the classes of a running service.")

Former = Annotated[str, typer.Argument(help="The class as it is called now.", metavar="CLASS")]


@app.command("rename")
def rename_class(
    former: Former,
    to: Annotated[str, typer.Argument(help="Its next name.", metavar="NAME")],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Rename a class. Its former name stands for it in all that is taught from now on."""
    with connected(url, key) as client:
        typer.echo(f"renamed by event {client.rename_class(former, to)}")


@app.command("merge")
def merge_class(
    former: Former,
    into: Annotated[str, typer.Argument(help="Another class.", metavar="CLASS")],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Make a class a part of another. The service then learns its history again."""
    with connected(url, key) as client:
        typer.echo(f"merged by event {client.merge_class(former, into)}")

"""The command line `manyclass`."""

import sys
from typing import Annotated

import typer

from manyclass import __version__
from manyclass.cli.commands import classes, events, learners, snapshot, store
from manyclass.cli.commands.advise import advise
from manyclass.cli.commands.config import config
from manyclass.cli.commands.confusions import confusions
from manyclass.cli.commands.convert import convert
from manyclass.cli.commands.copy import copy
from manyclass.cli.commands.demo import demo
from manyclass.cli.commands.evaluate import evaluate
from manyclass.cli.commands.export import export
from manyclass.cli.commands.fit import fit, probabilities
from manyclass.cli.commands.give import give
from manyclass.cli.commands.learn import learn
from manyclass.cli.commands.place import place
from manyclass.cli.commands.rank import rank
from manyclass.cli.commands.rebuild import rebuild
from manyclass.cli.commands.report import report
from manyclass.cli.commands.review import review
from manyclass.cli.commands.serve import serve
from manyclass.cli.commands.suspects import suspects
from manyclass.cli.commands.train import train
from manyclass.cli.connection import FAILED, complain
from manyclass.cli.standard_streams import OutputFailed

app = typer.Typer(
    name="manyclass",
    help="Rank sparse instances against very many classes, and learn from each answer.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # help texts hold brackets of JSON
    pretty_exceptions_show_locals=False,  # a local may be a key
)


def print_version(wanted: bool) -> None:
    """Print the version of the installed distribution and exit, if wanted."""
    if wanted:
        typer.echo(f"manyclass {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def run() -> None:
    """Run the command that the arguments name; standard output that fails is one line."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OutputFailed as error:
        if not error.is_unread:  # else the reader, as `head`, has enough
            complain(str(error))
        sys.exit(FAILED)


app.command()(serve)
app.command()(learn)
app.command()(rank)
app.command()(give)
app.command()(review)
app.command()(place)
app.add_typer(classes.app, name="classes", no_args_is_help=True)
app.add_typer(events.app, name="events", no_args_is_help=True)
app.command()(suspects)
app.command()(advise)
app.command()(confusions)
app.command()(rebuild)
app.add_typer(learners.app, name="learners", no_args_is_help=True)
app.add_typer(snapshot.app, name="snapshot", no_args_is_help=True)
app.add_typer(store.app, name="store", no_args_is_help=True)
app.command()(train)
app.command()(fit)
app.command()(probabilities)
app.command()(convert)
app.command()(export)
app.command()(evaluate)
app.command()(report)
app.command()(config)
app.command()(copy)
app.command()(demo)

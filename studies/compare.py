"""`manyclass evaluate` with peers: `python -m studies.compare --set clinc --peers linearsvc`."""

import typer

from manyclass.cli.commands.evaluate import evaluate
from studies.peers import PEERS

app = typer.Typer(add_completion=False)
app.command()(evaluate)


def main() -> None:
    """Run the command with the peers of this checkout."""
    app(prog_name="python -m studies.compare", obj=PEERS)


if __name__ == "__main__":
    main()

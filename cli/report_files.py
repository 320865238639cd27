"""Files with the results of a command, and the facts about its run."""

import os
import platform
import shlex
import sys
from pathlib import Path

import typer

from manyclass.cli.atomic_write import atomic_write
from manyclass.cli.connection import complain


def about(context: typer.Context) -> dict[str, str]:
    """Return the command line and the machine."""
    return {
        "command": f"{context.find_root().command_path} {shlex.join(sys.argv[1:])}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores,"
        f" {platform.python_implementation()} {platform.python_version()}",
    }


def write_report(path: Path, text: str) -> bool:
    """Write the file and say so; print an error and return False if that fails."""
    try:
        with atomic_write(path) as file:
            file.write(text.encode())
    except OSError as error:
        complain(f"{path} cannot be written: {error}")
        return False
    typer.echo(f"wrote {path}", err=True)
    return True

"""The connection of a command to a running service, and the exit codes of its errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Final

import typer

from manyclass.cli.environment import EMBED_KEY_VARIABLE, KEY_VARIABLE, URL_VARIABLE
from manyclass.cli.printable import printable
from manyclass.client.client import Client
from manyclass.client.connection import DEFAULT_URL
from manyclass.client.embedder import Embedder
from manyclass.client.errors import (
    EmbedderUnreachable,
    EmbeddingRefused,
    RequestRefused,
    ServiceUnreachable,
    Unusable,
)

BAD_LINES: Final = 1  # exit codes, beside 0; docs/operations.md lists them
FAILED: Final = 1
WRONG_USE: Final = 2  # as typer has it
UNREACHABLE: Final = 3
ADDRESS_UNAVAILABLE: Final = 4
INTERRUPTED: Final = 130

Url = Annotated[
    str, typer.Option("--url", envvar=URL_VARIABLE, help="URL of the service.", metavar="URL")
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar=KEY_VARIABLE,
        help="A key of the service; the variable keeps it out of the process list.",
        metavar="KEY",
        show_envvar=True,
    ),
]
URL: Final = DEFAULT_URL


@contextmanager
def connected(
    url: str, key: str | None, checked: bool = False, embed: Embedder | None = None
) -> Iterator[Client]:
    """Yield a client; an error of the service or of the embedder ends the command with one line and
    an exit code.

    If `checked`, a service has answered before, so that no row is read in vain.
    """
    try:
        with Client(url if "://" in url else f"http://{url}", key, embed=embed) as client:
            if checked:
                client.check()
            yield client
    except EmbedderUnreachable as error:
        complain(
            f"{error}. Is the server of embeddings running? --embed names it, such as"
            " http://127.0.0.1:11434 for Ollama, and --embed-model its model."
        )
        raise typer.Exit(UNREACHABLE) from error
    except EmbeddingRefused as error:
        is_of_key = error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        remedy = (
            f"{EMBED_KEY_VARIABLE} or --embed-key names a key"
            if is_of_key
            else "--embed names the server, --embed-model its model"
        )
        complain(f"the server of embeddings refused: {error}. {remedy}.")
        raise typer.Exit(FAILED) from error
    except ServiceUnreachable as error:
        complain(
            f"{error}. Is the service running? `manyclass serve` starts one;"
            f" --url or {URL_VARIABLE} names one at another address."
        )
        raise typer.Exit(UNREACHABLE) from error
    except RequestRefused as error:
        is_of_key = error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        remedy = f" {KEY_VARIABLE} or --key names a key." if is_of_key else ""
        complain(f"the service refused: {error}{remedy}")
        raise typer.Exit(FAILED) from error
    except Unusable as error:
        complain(str(error))
        raise typer.Exit(WRONG_USE) from error
    except UnicodeEncodeError as error:
        if error.encoding != "utf-8":
            raise
        complain(f"{error.object!r} is not text in UTF-8, as the service takes it")
        raise typer.Exit(WRONG_USE) from error


def complain(message: str) -> None:
    """Print a line on standard error."""
    typer.echo(f"manyclass: {printable(message)}", err=True)

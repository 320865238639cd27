"""The options of a server of embeddings, which gives each text a vector."""

from typing import Annotated

import typer

from manyclass.cli.environment import EMBED_KEY_VARIABLE
from manyclass.client.embedder import TEXTS_AT_ONCE, Embedder
from manyclass.client.errors import ServiceUnreachable, Unusable

EmbedUrl = Annotated[
    str | None,
    typer.Option(
        "--embed",
        help="Send each text with its vector, which this server of embeddings makes, in the form of"
        " OpenAI's /v1/embeddings: Ollama, vLLM, TEI, llama.cpp.",
        metavar="URL",
        show_default=False,
    ),
]
EmbedModel = Annotated[
    str | None,
    typer.Option(
        "--embed-model",
        help="The model of the server of embeddings.",
        metavar="NAME",
        show_default=False,
    ),
]
EmbedKey = Annotated[
    str | None,
    typer.Option(
        "--embed-key",
        envvar=EMBED_KEY_VARIABLE,
        help="A key of the server of embeddings; the variable keeps it out of the process list.",
        metavar="KEY",
        show_envvar=True,
        show_default=False,
    ),
]
EmbedCache = Annotated[
    str | None,
    typer.Option(
        "--embed-cache",
        help="Keep the vectors in this file of SQLite, for the same texts in later commands.",
        metavar="FILE",
        show_default=False,
    ),
]


def embedder_of(
    url: str | None, model: str | None, key: str | None, cache: str | None
) -> Embedder | None:
    """Return the embedder of the options, None without --embed. Raise BadParameter."""
    if url is None:
        for flag, given in (("--embed-model", model), ("--embed-cache", cache)):
            if given is not None:
                raise typer.BadParameter("name the server with --embed", param_hint=flag)
        return None
    try:
        return Embedder(url if "://" in url else f"http://{url}", model, key, cache=cache)
    except (Unusable, ServiceUnreachable) as error:
        raise typer.BadParameter(str(error), param_hint="--embed") from error


def at_once(per_request: int, embedder: Embedder | None) -> int:
    """Return the largest number of lines in a request: no more than are embedded at once, so that
    the bar moves."""
    return per_request if embedder is None else min(per_request, TEXTS_AT_ONCE)

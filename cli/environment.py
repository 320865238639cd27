"""The environment variables for settings and for child processes, read only here."""

import os
from typing import Final

from manyclass.service.config.settings import PREFIX, TABLE

URL_VARIABLE: Final = "MANYCLASS_URL"
KEY_VARIABLE: Final = "MANYCLASS_KEY"
EMBED_KEY_VARIABLE: Final = "MANYCLASS_EMBED_KEY"  # of a server of embeddings


def has_client_key() -> bool:
    """Return whether the environment has a key for a client."""
    return KEY_VARIABLE in os.environ


def for_settings() -> dict[str, str]:
    """Return the environment without the variables of the client, which are not settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in (URL_VARIABLE, KEY_VARIABLE, EMBED_KEY_VARIABLE)
    }


def without_settings() -> dict[str, str]:
    """Return the environment for a service that starts with default settings."""
    unprefixed = {row.name.upper() for row in TABLE}
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(PREFIX) and name not in unprefixed
    }

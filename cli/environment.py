"""The environment as the commands hand it on. Nothing else of the command line reads it."""

import os
from typing import Final

from manyclass.service.config.settings import PREFIX, TABLE

URL_VARIABLE: Final = "MANYCLASS_URL"
KEY_VARIABLE: Final = "MANYCLASS_KEY"


def has_client_key() -> bool:
    """Return whether the environment has a key for a client."""
    return KEY_VARIABLE in os.environ


def for_settings() -> dict[str, str]:
    """Without what is meant for the client: those two are not settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in (URL_VARIABLE, KEY_VARIABLE)
    }


def without_settings() -> dict[str, str]:
    """For a service that is to know nothing of this one's settings."""
    unprefixed = {row.name.upper() for row in TABLE}
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(PREFIX) and name not in unprefixed
    }

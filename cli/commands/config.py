"""manyclass config: the settings in force."""

import typer

from manyclass.cli.environment import for_settings
from manyclass.cli.settings_table import Chosen, with_settings
from manyclass.service.config.settings import TABLE, Settings


@with_settings
def config(settings: Settings, chosen: Chosen) -> None:
    """Print the settings in force, and where each value comes from.

    Takes the same options as `serve`. Keys are only counted. Settings about learners that are not
    given are empty: they stay as stored, and have their defaults in a new store.
    """
    given = for_settings()
    values = settings.shown()
    width = max(len(f"{variable}={value}") for variable, value in values.items())
    for row in TABLE:
        if row.name in chosen:
            source = "command line"
        elif row.variable in given:
            source = "environment"
        elif getattr(settings, row.name) is None:
            source = "not given"
        else:
            source = "default"
        typer.echo(f"{row.variable}={values[row.variable]}".ljust(width) + f"  # {source}")

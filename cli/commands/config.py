"""manyclass config: the settings in force."""

import typer

from manyclass.cli.settings_table import Chosen, with_settings
from manyclass.service.config.settings import TABLE, Settings


@with_settings
def config(settings: Settings, chosen: Chosen) -> None:
    """Print the settings in force and the source of each value.

    This command takes the same options as `serve`. Keys are counted, not shown. Omitted settings
    about learners are empty: they keep their stored values, or have defaults in a new store.
    """
    values = settings.shown()
    width = max(len(f"{variable}={value}") for variable, value in values.items())
    for row in TABLE:
        shown = f"{row.variable}={values[row.variable]}"
        typer.echo(f"{shown.ljust(width)}  # {settings.source(row)}")

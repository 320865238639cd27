"""manyclass config: the settings in force."""

import typer

from manyclass.cli.environment import for_settings
from manyclass.cli.settings_table import Chosen, with_settings
from manyclass.service.config.settings import TABLE, Settings


@with_settings
def config(settings: Settings, chosen: Chosen) -> None:
    """Print the settings in force.

    Takes the same options as `serve`, and says where each value comes from. Keys are only counted.
    A learner or an option that is not given is as it is stored, in a new store as by default.
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

"""The settings as options of a command: one option for each row of the table."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from manyclass.cli.connection import WRONG_USE, complain
from manyclass.cli.environment import KEY_VARIABLE, for_settings, has_client_key
from manyclass.service.config.kinds import FLAG
from manyclass.service.config.settings import (
    TABLE,
    Row,
    SettingError,
    Settings,
    not_read,
    read,
)

Chosen = dict[str, str]  # field of Settings -> what the command line gave, as text


def with_settings(command: Callable[[Settings, Chosen], None]) -> Callable[..., None]:
    """Return the command with an option for each setting; it is called with those in force."""

    def wrapped(**options: Any) -> None:
        chosen = {
            name: FLAG.write(value) if isinstance(value, bool) else value
            for name, value in options.items()
            if value is not None
        }
        environment = for_settings()
        try:
            settings = read(environment, chosen)
        except SettingError as error:
            complain(str(error))
            raise typer.Exit(WRONG_USE) from error
        for sentence in not_read(environment, chosen):
            complain(f"warning: {sentence}")
        if settings.without_keys and has_client_key():
            complain(
                f"warning: {KEY_VARIABLE} is a client's; it does not close this service, which is"
                " open without MANYCLASS_RANK_KEYS, MANYCLASS_LEARN_KEYS or MANYCLASS_ADMIN_KEYS"
            )
        command(settings, chosen)

    signature = Signature([_parameter(row) for row in TABLE])
    wrapped.__dict__["__signature__"] = signature  # read by inspect.signature
    wrapped.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    wrapped.__name__ = command.__name__
    wrapped.__doc__ = command.__doc__
    return wrapped


def _parameter(row: Row) -> Parameter:
    help = row.help + (f" (default: {row.shown_default})" if row.shown_default else "")
    metavar = row.kind.name.replace(" ", "-").upper()
    is_flag = row.kind is FLAG
    flag = row.name.replace("_", "-")
    names = f"--{flag}/--no-{flag}" if is_flag else f"--{flag}"
    shown = None if is_flag else metavar
    option = typer.Option(names, show_default=False, metavar=shown, help=help)
    annotation: Any = Annotated[bool | None if is_flag else str | None, option]
    return Parameter(row.name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

"""The settings as options of a command: one option for each row of the table."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from manyclass.cli.connection import WRONG_USE, complain
from manyclass.cli.environment import KEY_VARIABLE, for_settings, has_client_key
from manyclass.service.config.settings import (
    TABLE,
    Row,
    SettingError,
    Settings,
    read,
    without_prefix,
)

Chosen = dict[str, str]  # field of Settings -> what the command line gave, as text


def with_settings(command: Callable[[Settings, Chosen], None]) -> Callable[..., None]:
    """The command, taking an option for each setting, and called with what is then in force."""

    def wrapped(**options: Any) -> None:
        chosen = {name: _text(value) for name, value in options.items() if value is not None}
        environment = for_settings()
        try:
            settings = read(environment, chosen)
        except SettingError as error:
            complain(str(error))
            raise typer.Exit(WRONG_USE) from error
        for row in without_prefix(environment):
            if row.name not in chosen:
                complain(f"warning: {row.name.upper()} is not read; the name is {row.variable}")
        if settings.without_keys and has_client_key():
            complain(
                f"warning: {KEY_VARIABLE} is a client's; it does not close this service, which is"
                " open without MANYCLASS_RANK_KEYS, MANYCLASS_LEARN_KEYS or MANYCLASS_ADMIN_KEYS"
            )
        command(settings, chosen)

    signature = Signature([_parameter(row) for row in TABLE])
    wrapped.__dict__["__signature__"] = signature  # where inspect looks for it
    wrapped.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    wrapped.__name__ = command.__name__
    wrapped.__doc__ = command.__doc__
    return wrapped


def _parameter(row: Row) -> Parameter:
    default = row.shown_default
    help = row.help + (f" (default: {default})" if default else "")
    if row.kind == "yes or no":
        option = typer.Option(f"{row.flag}/--no-{row.flag[2:]}", help=help, show_default=False)
        annotation: Any = Annotated[bool | None, option]
    else:
        option = typer.Option(
            row.flag, help=help, show_default=False, metavar=row.kind.replace(" ", "-").upper()
        )
        annotation = Annotated[str | None, option]
    return Parameter(row.name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _text(value: bool | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value

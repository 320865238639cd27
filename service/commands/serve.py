"""manyclass serve: run the service."""

import logging

import typer

from manyclass.service.commands.connection import FAILED, complain
from manyclass.service.commands.settings_table import Chosen, with_settings
from manyclass.service.settings import Settings


@with_settings
def serve(settings: Settings, chosen: Chosen) -> None:
    """Run the service, until Ctrl-C or SIGTERM.

    Each option is also a variable of the environment: --max-body-bytes is
    MANYCLASS_MAX_BODY_BYTES. The option wins. Keys belong into the environment: others on the
    machine can read a command line.
    """
    # Here, not above: the other commands start without loading the server.
    from manyclass.service.server import StartFailed, run
    from manyclass.service.store.protocol import StoreError

    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, format=form)
    try:
        run(settings)
    except StoreError as error:
        complain(f"{error} ({error.hint})" if error.hint else str(error))
        raise typer.Exit(FAILED) from error
    except StartFailed as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        return  # the server has closed everything by then: the usual end of a service in a terminal

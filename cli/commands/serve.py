"""manyclass serve: run the service."""

import logging
from contextlib import suppress
from signal import SIGINT, SIGTERM, default_int_handler, signal

import typer

from manyclass.cli.connection import ADDRESS_UNAVAILABLE, FAILED, complain
from manyclass.cli.settings_table import Chosen, with_settings
from manyclass.service.config.settings import Settings
from manyclass.service.store.errors import StoreError


@with_settings
def serve(settings: Settings, chosen: Chosen) -> None:
    """Run the service, until Ctrl-C or SIGTERM; the exit code is then 0.

    Each option is also a variable of the environment: --max-body-bytes is
    MANYCLASS_MAX_BODY_BYTES. The option wins. Keys belong into the environment: others on the
    machine can read a command line. The exit code is 4 when the address or port cannot be listened
    on, 2 when a setting is wrong, 1 when the store or its state cannot be used.
    """
    # Here, not above: the other commands start without loading the server. Until it is loaded, the
    # handlers of __main__.py end the process.
    from manyclass.service.http import server

    with suppress(KeyboardInterrupt):  # before the server runs, which has an end of its own
        for number in (SIGINT, SIGTERM):
            signal(number, default_int_handler)  # a stop that was asked for is a success
        form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        logging.basicConfig(level=logging.INFO, format=form)
        try:
            server.run(settings)
        except StoreError as error:
            complain(f"{error} ({error.hint})" if error.hint else str(error))
            raise typer.Exit(FAILED) from error
        except server.AddressUnavailable as error:
            complain(str(error))
            raise typer.Exit(ADDRESS_UNAVAILABLE) from error
        except server.StartFailed as error:
            complain(str(error))
            raise typer.Exit(FAILED) from error

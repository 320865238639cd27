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
    """Run the service until Ctrl-C or SIGTERM; the exit code is then 0.

    Each option can also be set by an environment variable: MANYCLASS_MAX_BODY_BYTES for
    --max-body-bytes. The option wins. Options of a learner are part of its specification: --learner
    'pa(replay=4)'. Keys belong in the environment, because other users of the machine can read a
    command line. The exit code is 4 if the address or port cannot be used, 2 if a setting is
    invalid, 1 if the store or its state cannot be used.
    """
    # Imported here, so that other commands start without the server. Until it is imported, the
    # handlers of __main__.py end the process.
    from manyclass.service.http import server

    with suppress(KeyboardInterrupt):  # before the server runs, which handles it itself
        for number in (SIGINT, SIGTERM):
            signal(number, default_int_handler)  # a requested stop is a success
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

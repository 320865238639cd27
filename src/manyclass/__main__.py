"""Run the command line: `python -m manyclass` is `manyclass`."""

import os
import sys
from signal import SIGINT, SIGTERM, signal


def exit_on_signals() -> None:
    """End the process with 0 on Ctrl-C and SIGTERM, at once: nothing is open yet."""
    for number in (SIGINT, SIGTERM):
        signal(number, lambda *_: os._exit(0))


def main() -> None:
    """Run the command that the arguments name."""
    if sys.argv[1:2] == ["serve"]:
        exit_on_signals()  # before the imports, which take seconds; `serve` replaces the handlers
    from manyclass.cli.standard_streams import open_streams

    open_streams()  # before a file takes the number of a closed one
    from manyclass.cli.main import run

    run()


if __name__ == "__main__":
    main()

"""Run the command line: `python -m manyclass` is `manyclass`."""

from manyclass.service.cli import app

app()

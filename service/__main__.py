"""`python -m service` is `manyclass`."""

from service.cli import app

app()

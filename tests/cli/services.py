"""Services that commands talk to, in this process: a process of its own takes a second to start."""

from contextlib import contextmanager

from manyclass.service.config.settings import read
from tests.service.serving import serving


@contextmanager
def new_service(**settings):
    """Yield the URL of a service that has learned nothing, unless its store has."""
    with serving(**settings) as served:
        yield served.url


def chosen_by(flags):
    """Return the settings that `manyclass serve` takes from these flags."""
    settings = read({}, flags)
    return {name: getattr(settings, name) for name in settings.given}

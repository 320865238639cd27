"""The service without its native tier: Python answers every request.

python -m load_tests.python_tier

Takes the settings from the environment, as `manyclass serve` does. Differential runs compare it
with the whole service.
"""

import os

from manyclass.service.config.settings import Settings, read
from manyclass.service.http import server
from manyclass.service.http.app import App, create_app


def without_native_tier(settings: Settings) -> App:
    """Return the application, all of whose requests Python answers."""
    app = create_app(settings)
    app.native = None
    return app


if __name__ == "__main__":
    server.run(read(os.environ), without_native_tier)

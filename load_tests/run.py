"""Runs a scenario against a service of its own with an empty store, or against the one at --url.

python -m load_tests.run [--url URL] [--users 16] [--seconds 30] [--scenario Mixed]
"""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path
from subprocess import call

from manyclass.cli.environment import without_settings
from manyclass.cli.ephemeral_service import ephemeral_service


def main():
    parser = argparse.ArgumentParser(description="Load on a service, for a while.")
    parser.add_argument("--url", help="a running service; without it, one is started")
    parser.add_argument("--users", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--scenario", default="Mixed")
    chosen = parser.parse_args()
    # As many rankings at once as there are users, so that none is shed: overload.py measures that.
    settings = without_settings() | {"MANYCLASS_MAX_CONCURRENT": str(chosen.users)}
    service = nullcontext(chosen.url) if chosen.url else ephemeral_service(settings)
    with service as url:
        locust = [
            *(sys.executable, "-m", "locust", "-f", Path(__file__).with_name("locustfile.py")),
            *("--headless", "--only-summary", "--loglevel", "WARNING", "--host", url),
            *("--users", str(chosen.users), "--spawn-rate", str(chosen.users)),
            *("--run-time", f"{chosen.seconds}s", "--stop-timeout", "5"),
            chosen.scenario,
        ]
        sys.exit(call(locust))


if __name__ == "__main__":
    main()

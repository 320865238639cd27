"""The service as a process of its own, to be started, killed and started again."""

import os
import re
import signal
import subprocess
import sys
import time

import httpx

PATIENCE = 60


class Service:
    """One process over one store. Its log is kept from start to start."""

    def __init__(self, folder, **settings):
        self.store = folder / "store.db"
        self.log = folder / "log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if "MANYCLASS" not in name},
            "MANYCLASS_STORE": f"sqlite:{self.store}",
            "MANYCLASS_PORT": "0",
            **{f"MANYCLASS_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.url = ""
        self.process = None

    def start(self, preexec=None):
        """Start the process and wait until it is ready."""
        with self.log.open("a") as log:
            begin = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service", "serve"],
                env=self.environment,
                stdout=log,
                stderr=log,
                preexec_fn=preexec,
            )
        self.url = self._until(lambda: self._address(begin))
        self._until(lambda: httpx.get(f"{self.url}/readyz").status_code == 200)
        return self

    def kill(self):
        self._end(signal.SIGKILL)

    def stop(self):
        """A clean stop."""
        self._end(signal.SIGTERM)
        assert self.process.returncode in (0, -signal.SIGTERM), self.log.read_text()

    def _end(self, how):
        self.process.send_signal(how)
        self.process.wait(PATIENCE)

    def _address(self, begin):
        found = re.search(r"running on (http://\S+)", self.log.read_text()[begin:])
        return found[1] if found else None

    def _until(self, holds):
        """What `holds` gives once it gives something: another process has to get there."""
        end = time.monotonic() + PATIENCE
        while not (answer := holds()):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.005)
        return answer


def learned(url):
    """How often each class was learned, by name."""
    counts, after = {}, ""
    while True:
        answer = httpx.get(f"{url}/classes", params={"limit": 1000, "after": after}).json()
        page = {each["class"]: each["learned"] for each in answer["classes"]}
        if not page:
            return counts
        counts |= page
        after = list(page)[-1]

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
    """One process over one store. All its runs share a log file."""

    def __init__(self, folder, **settings):
        self.store = folder / "store.db"
        self.log = folder / "log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if "MANYCLASS" not in name},
            "MANYCLASS_STORE": f"sqlite:{self.store}",
            "MANYCLASS_PORT": "0",
            **{f"MANYCLASS_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.command = ["-m", "manyclass", "serve"]  # arguments of the Python interpreter
        self.url = ""  # of the process that runs, once it listens
        self.process = None
        self._begin = 0  # of the log of the process that runs

    def start(self, preexec=None):
        """Start the process and wait until it is ready."""
        self.launch(preexec)
        self._until(self.has_address)
        self._until(lambda: get(f"{self.url}/readyz").status_code == 200)
        return self

    def launch(self, preexec=None):
        """Start the process and do not wait for it."""
        self.url = ""
        with self.log.open("a") as log:
            self._begin = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, *self.command],
                env=self.environment,
                stdout=log,
                stderr=log,
                preexec_fn=preexec,
            )

    def has_address(self):
        """Return true if the process listens by now, at `url`."""
        with self.log.open("rb") as log:
            log.seek(self._begin)
            found = re.search(rb"running on (http://\S+)", log.read())
        self.url = found[1].decode() if found else ""
        return bool(found)

    def has_ended(self):
        return self.process.poll() is not None

    def freeze(self):
        """Stop the process, with all its connections, until `thaw`."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self._end(signal.SIGKILL)

    def stop(self):
        """Stop the process cleanly; assert that it exits with 0."""
        self._end(signal.SIGTERM)
        assert self.process.returncode == 0, self.log.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Kill the process if it runs."""
        if self.process is not None and not self.has_ended():
            self.kill()

    def _end(self, how):
        self.process.send_signal(how)
        self.process.wait(PATIENCE)

    def _until(self, holds):
        """Return the first true answer of `holds`, polled while another process works."""
        end = time.monotonic() + PATIENCE
        while not (answer := holds()):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.005)
        return answer


def get(url, **params):
    """Return the answer. No TLS: loading the certificates would take longer than the request."""
    return httpx.get(url, params=params, timeout=PATIENCE, verify=False)


def post(url, body=None):
    return httpx.post(url, json=body, timeout=PATIENCE, verify=False)


def learned(url):
    """Return the number of events that named each class, by name."""
    counts, after = {}, ""
    while True:
        answer = get(f"{url}/classes", limit=1000, after=after).json()
        page = {each["class"]: each["learned"] for each in answer["classes"]}
        if not page:
            return counts
        counts |= page
        after = list(page)[-1]

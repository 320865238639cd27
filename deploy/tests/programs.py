"""nginx and Prometheus as processes of their own, with the very files of this folder."""

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx

from deploy.ports import free_port

DEPLOY = Path(__file__).parents[1]
PATIENCE = 30
INSTANCE = {"features": ["a", "b"]}
EVENT = {"features": ["a", "b"], "classes": ["x"]}


def program(name):
    """Return the path of a program; a missing one is an error, never a reason to pass."""
    found = shutil.which(name)
    assert found, f"{name} is not installed: apt-get install {name}, as .ci/run does"
    return found


def replaced(text, *changes):
    """Apply each change (old, new, number of occurrences) to the text."""
    for what, by, times in changes:
        assert text.count(what) == times, f"{what!r} is there {text.count(what)} times"
        text = text.replace(what, by)
    return text


def until(holds, what):
    """Return the first true answer of `holds`: another process has to get there."""
    end = time.monotonic() + PATIENCE
    while not (answer := holds()):
        assert time.monotonic() < end, f"still not so: {what()}"
        time.sleep(0.01)
    return answer


class Program:
    """A process, and its log, which ends with the `with` it is used in."""

    def __init__(self, folder, *command):
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log"
        self.command = command
        self.process = None

    def __enter__(self):
        with self.log.open("w") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        try:
            until(self.is_up, self.log.read_text)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def is_up(self):
        """Return whether it gives any answer but 503, with which Prometheus begins."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}{self.health}").status_code != 503
        except httpx.TransportError:
            return False


class NginxProgram(Program):
    """Runs nginx with this text as its whole configuration; it listens on `port`."""

    health = "/livez"

    def __init__(self, folder, port, text):
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        folder.mkdir(parents=True)
        config = folder / "nginx.conf"
        config.write_text(text)
        command = [program("nginx"), "-p", folder, "-c", config, "-e", "stderr"]
        if os.geteuid() == 0:
            command += ["-g", "user root;"]  # or the workers could not write below `folder`
        super().__init__(folder, *command)


class Nginx(NginxProgram):
    """Listens on a port of its own, in front of processes at these two ports of 127.0.0.1.

    `changes` are made to the file besides.
    """

    def __init__(self, folder, ports, *changes):
        one, other = ports
        port = free_port()
        text = replaced(
            (DEPLOY / "nginx/nginx.conf").read_text(),
            ("listen 8080;", f"listen 127.0.0.1:{port};", 1),
            ("manyclass-1:8000", f"127.0.0.1:{one}", 2),
            ("manyclass-2:8000", f"127.0.0.1:{other}", 2),
            *changes,
        )
        super().__init__(folder, port, text)

    def rank(self, **given):
        return httpx.post(f"{self.url}/rank", json=INSTANCE, **given)

    def learn(self, **given):
        return httpx.post(f"{self.url}/learn", json=EVENT, **given)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def head(self, path, *lines):
        """Return the head of a POST as text."""
        host = f"Host: 127.0.0.1:{self.port}"
        return "\r\n".join([f"POST {path} HTTP/1.1", host, *lines, "", ""])


class NginxBelowPath(NginxProgram):
    """Serves a process at a port of 127.0.0.1 below /manyclass."""

    health = "/manyclass/livez"

    def __init__(self, folder, upstream):
        port = free_port()
        server = replaced(
            (DEPLOY / "nginx/below-a-path.conf").read_text(),
            ("listen 8080;", f"listen 127.0.0.1:{port};", 1),
            ("server manyclass:8000;", f"server 127.0.0.1:{upstream};", 1),
        )
        folders = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{folder}_temp_path {folder};" for folder in folders)
        main = "daemon off; pid nginx.pid; error_log stderr warn; events {}"
        super().__init__(folder, port, f"{main} http {{ access_log off; {paths}\n{server}\n}}")


class Prometheus(Program):
    """Scrapes processes at these ports every second, and evaluates the alerts as often."""

    health = "/-/ready"

    def __init__(self, folder, ports):
        folder.mkdir(parents=True)
        shutil.copy(DEPLOY / "prometheus/alerts.yml", folder)
        targets = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
        (folder / "targets.yml").write_text(f"- targets: [{targets}]\n")
        config = folder / "prometheus.yml"
        config.write_text(
            replaced(
                (DEPLOY / "prometheus/prometheus.yml").read_text(),
                ("scrape_interval: 5s", "scrape_interval: 1s", 1),
                ("evaluation_interval: 15s", "evaluation_interval: 1s", 1),
            )
        )
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        super().__init__(
            folder,
            program("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        )

    def ask(self, path, **parameters):
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=PATIENCE)
        assert answer.status_code == 200, f"{parameters}: {answer.text}"
        return answer.json()["data"]

    def query(self, expression):
        """Return all current values of the expression."""
        found = self.ask("query", query=expression)
        if found["resultType"] == "scalar":
            return [float(found["result"][1])]
        return [float(sample["value"][1]) for sample in found["result"]]


def instant(expression):
    """Fill in the variables as Grafana would, for all processes of the job."""
    return re.sub(
        r"\$\w+",
        lambda variable: {"$job": "manyclass", "$instance": ".*", "$__rate_interval": "10s"}[
            variable[0]
        ],
        expression,
    )

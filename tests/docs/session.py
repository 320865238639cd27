"""A shell as a reader of a page has it: an empty folder, a service, a Redis, some files.

Services that a page starts run until the end of the page, or until it starts another at the same
port. Ports of the page (8000, 8001, 6379) stand for free ones.
"""

import doctest
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from deploy.ports import free_port
from tests.docs.files import write_files
from tests.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
SECONDS = 300  # an upper limit for a block

# `manyclass serve` returns when the service is ready; all else is the command itself.
MANYCLASS = """\
#!/bin/bash
if [ "$1" != serve ] || [[ " $* " == *" --help "* ]]; then exec {python} -m manyclass "$@"; fi
port=$MANYCLASS_PORT
arguments=("$@")
for ((n = 0; n < $#; n++)); do
    if [ "${{arguments[n]}}" = --port ]; then port=${{arguments[n + 1]}}; fi
done
cd "$PWD"
stop-service "$port"
{python} -m manyclass "$@" >{bin}/$port.log 2>&1 &
echo $! >{bin}/$port.pid
until curl --silent --fail --output /dev/null "127.0.0.1:$port/readyz" 2>/dev/null; do
    if ! readlink /proc/$!/exe >/dev/null; then
        cat {bin}/$port.log
        wait $!
        exit
    fi
    sleep 0.05
done
"""
STOP = """\
#!/bin/bash
if [ -f {bin}/$1.pid ]; then
    pid=$(cat {bin}/$1.pid)
    rm {bin}/$1.pid
    kill $pid 2>/dev/null
    while readlink /proc/$pid/exe >/dev/null; do sleep 0.05; done
fi
"""
# Of the targets of the Makefile only `run` is run; others have to exist.
MAKE = """\
#!/bin/bash
if [ "$1" = run ]; then exec manyclass serve; fi
exec {make} --dry-run --directory {root} "$@" >/dev/null
"""


class Session:
    """Runs the blocks of one page in order, in one folder."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.bin = folder / "bin"
        self.redis = None
        self.names = {}
        self.ports = {"8000": free_port(), "8001": free_port(), "6379": None}
        for path in (self.folder, self.bin):
            path.mkdir()
        write_files(self.folder)
        (self.folder / ".curlrc").write_text("silent\nshow-error\n")
        make = "/usr/bin/make"
        for name, text in (("manyclass", MANYCLASS), ("stop-service", STOP), ("make", MAKE)):
            file = self.bin / name
            file.write_text(text.format(python=sys.executable, bin=self.bin, make=make, root=ROOT))
            file.chmod(0o755)
        self.environment = {
            "PATH": f"{self.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "MANYCLASS_PORT": str(self.ports["8000"]),
            "MANYCLASS_URL": f"http://127.0.0.1:{self.ports['8000']}",
        }

    def close(self):
        """End the services."""
        for file in self.bin.glob("*.pid"):
            self.shell(f"stop-service {file.stem}")
        if self.redis:
            self.redis.kill()

    def begin(self, blocks):
        """Start the service at which a page's first command is addressed, unless it starts one."""
        starts = re.search(r"manyclass serve|make run", blocks[0].text) if blocks else True
        if not starts:
            self.expect("manyclass serve", "")

    def run(self, block):
        """Run a block; raise AssertionError if it fails or prints something else."""
        text = self.here(block.text)
        if block.stops:
            self.shell(f"stop-service {self.ports['8000']}")
        if block.language == "console":
            for command, shown in commands(text):
                self.expect(command, shown)
        elif block.language == "pycon":
            self.converse(text)
        elif block.language == "python":
            self.check([sys.executable, "-c", text], text)
        else:
            self.check(["bash", "-euo", "pipefail", "-c", text], text)

    def here(self, text):
        """Return a text of the page with the ports of this session."""
        if "127.0.0.1:6379" in text and self.redis is None:
            self.redis = RedisServer(self.bin / "redis")
            self.redis.start()
            self.ports["6379"] = self.redis.port
        for shown, port in self.ports.items():
            text = re.sub(rf"(?<=127\.0\.0\.1:){shown}\b|(?<=--port ){shown}\b", str(port), text)
        return text

    def shell(self, command):
        """Run a command of the shell, and return how it ended."""
        return self.call(["bash", "-euo", "pipefail", "-c", command])

    def call(self, arguments):
        return subprocess.run(
            arguments,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def check(self, arguments, text):
        done = self.call(arguments)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"

    def expect(self, command, shown):
        """Run a command and compare its output with the one shown, progress and errors or not."""
        done = self.shell(command)
        whole = done.stdout + done.stderr
        is_right = is_shown(shown, whole) or (done.returncode == 0 and is_shown(shown, done.stdout))
        assert is_right, f"$ {command}\n{whole}\nshown is:\n{shown}"
        assert done.returncode == 0 or shown, f"$ {command}\n{whole}"

    def converse(self, text):
        """Run a session of Python; names live until the end of the page."""
        test = doctest.DocTestParser().get_doctest(text, self.names, "page", None, None)
        report = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        runner.run(test, out=report.append, clear_globs=False)
        self.names = test.globs
        assert not report, "".join(report)


def commands(text):
    """Return the commands of a console, each with the output shown."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", textwrap.dedent(text), re.MULTILINE)


def is_shown(shown, given):
    """Return whether an output is the one shown, in which … stands for anything.

    Of numbers in JSON as many digits count as are shown, up to three; the width of a column, which
    a measured time may change, does not.
    """
    try:
        return like(json.loads(shown)) == json.loads(given)
    except ValueError:
        pattern = re.escape(narrow(shown)).replace("…", ".*?")
        return re.fullmatch(pattern, narrow(given), re.DOTALL) is not None


def narrow(text):
    """Return a text with one space between its columns, and no lines' ends at its end."""
    return re.sub(" {2,}", " ", text.rstrip("\n"))


class Like(str):
    """A string in which … stands for anything."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        pattern = re.escape(self).replace("…", ".*")
        return isinstance(other, str) and re.fullmatch(pattern, other, re.DOTALL) is not None


def like(shown):
    """Return the value that equals each one it stands for."""
    if isinstance(shown, dict):
        return {key: like(each) for key, each in shown.items()}
    if isinstance(shown, list):
        return [like(each) for each in shown]
    if isinstance(shown, float):
        return pytest.approx(shown, abs=0.0006)
    return Like(shown) if isinstance(shown, str) and "…" in shown else shown

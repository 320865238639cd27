"""Examples run as a user runs them, and the output that their pages show."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def run(name, *options, **environment):
    """Run an example to its end, and return all that it prints."""
    done = subprocess.run(
        [ROOT / "examples" / name / "run", *options],
        env={"PATH": PATH, "LANG": "C.UTF-8", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="session")
def run_example():
    """Return a function that runs an example, and returns all that it prints."""
    return run


@pytest.fixture(scope="session")
def output_on_page():
    """Return a function that returns the output on the page of an example."""

    def shown(name):
        page = ROOT / "examples" / name / "README.md"
        [block] = [each for each in blocks(page) if each.language == "console"]
        command, _, output = block.text.partition("\n")
        assert command == f"$ make example NAME={name}"
        return output

    return shown

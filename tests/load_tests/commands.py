"""Runs of load tests as commands."""

import subprocess
import sys
from pathlib import Path


def run_module(name, *options):
    """Run a load test from the root of the checkout; return the finished process."""
    command = [sys.executable, "-m", f"load_tests.{name}", *options]
    root = Path(__file__).parents[2]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)

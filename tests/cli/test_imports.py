"""Modules that a command imports before it does anything."""

import subprocess
import sys


def test_commands_begin_without_the_client_of_redis():
    """Importing it takes a tenth of a second, which each command would wait for."""
    code = "import sys, manyclass.cli.main; sys.exit('redis' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

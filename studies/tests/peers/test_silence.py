import os
import sys
from subprocess import run

import pytest

from studies.peers.silence import without_output


def test_output_of_native_code_is_discarded_meanwhile(capfd):
    for stream in (1, 2):
        os.write(stream, b"before ")
    with without_output():
        for stream in (1, 2):
            os.write(stream, b"meanwhile ")
    for stream in (1, 2):
        os.write(stream, b"after")

    captured = capfd.readouterr()
    assert captured.out == captured.err == "before after"


def test_buffered_output_of_python_is_kept():
    program = """
from studies.peers.silence import without_output
print("before", end=" ")
with without_output():
    print("meanwhile", end=" ")
print("after", end="")
"""
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", program]
    done = run(command, env=buffered, capture_output=True, text=True, check=True)

    assert done.stdout == "before after"


def test_output_comes_back_after_an_error(capfd):
    with pytest.raises(ValueError, match="inside"), without_output():
        raise ValueError("inside")
    os.write(1, b"after")

    assert capfd.readouterr().out == "after"

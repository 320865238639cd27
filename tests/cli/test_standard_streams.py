"""Standard streams that are full, closed or not read end a command with at most one line."""

import subprocess
import sys

import pytest

FULL = "manyclass: standard output cannot be written: No space left on device\n"
CLOSED = "manyclass: standard output cannot be written: Bad file descriptor\n"


def shell(script):
    """Run a line of a shell in which `manyclass` is the command; return the finished process."""
    line = f'manyclass() {{ "{sys.executable}" -m manyclass "$@"; }}; {script}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("manyclass config > /dev/full", FULL),
        ("manyclass config >&-", CLOSED),
        ("manyclass --help > /dev/full", FULL),
        ("manyclass --version 2>/dev/full >/dev/full", ""),
        ("manyclass --version <&- >&- 2>&-", ""),
    ],
)
def test_an_output_that_cannot_be_written(command, said):
    result = shell(command)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == said


def test_messages_that_cannot_be_written_do_not_stop_a_command(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "a puck", "classes": ["hockey"]}\nbad\n')
    for closed in ("2>/dev/full", "2>&-"):
        result = shell(f"manyclass train {file} --out {tmp_path}/state {closed}")
        assert result.returncode == 1  # of the bad line
        assert (tmp_path / "state").stat().st_size
        (tmp_path / "state").unlink()


def test_a_closed_standard_input_is_no_traceback(tmp_path):
    result = shell(f"manyclass train - --out {tmp_path}/state <&-")
    assert result.returncode == 1
    assert result.stderr == "manyclass: standard input: Bad file descriptor\n"


def test_a_reader_that_has_enough_is_no_message():
    result = shell("manyclass config | true; exit ${PIPESTATUS[0]}")
    assert result.returncode == 1
    assert result.stderr == ""

import os
import stat
import subprocess
import sys

import pytest

from manyclass.cli.atomic_write import atomic_write


def write(file, *pieces):
    with atomic_write(file) as opened:
        opened.writelines(pieces)


def test_a_file_is_made_or_replaced_and_nothing_left_beside_it(tmp_path):
    file, mine = tmp_path / "file", tmp_path / "file.part"
    mine.write_bytes(b"mine")
    for data in (b"abcde", b"f"):
        write(file, data)
        assert file.read_bytes() == data
    assert mine.read_bytes() == b"mine"
    assert {*tmp_path.iterdir()} == {file, mine}


def test_a_failure_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(TypeError):
        write(file, b"some", "text")
    assert file.read_bytes() == b"before"
    assert [*tmp_path.iterdir()] == [file]


def test_permissions_are_those_of_the_file_or_of_a_new_one(tmp_path):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"")
    file.chmod(0o604)
    before = os.umask(0o027)
    try:
        write(file, b"x")
        write(other, b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


def test_a_link_goes_on_leading_to_its_file(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"before")
    link.symlink_to(file)
    write(link, b"x")
    assert link.is_symlink()
    assert file.read_bytes() == b"x"


def test_a_path_that_is_not_a_plain_file_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe, b"abc")
        assert os.read(reader, 10) == b"abc"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_may_be_a_pipe():
    code = """
from pathlib import Path
from manyclass.cli.atomic_write import atomic_write
with atomic_write(Path("/dev/stdout")) as file:
    file.write(b"abc")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"abc"

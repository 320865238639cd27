import os
import stat

import pytest

from manyclass.cli.atomic_write import write_whole


def failing():
    yield b"some"
    raise OSError(28, "No space left on device")


def test_the_pieces_are_written_and_counted(tmp_path):
    file = tmp_path / "file"
    assert write_whole(file, [b"ab", memoryview(b"cde")]) == 5
    assert file.read_bytes() == b"abcde"
    assert write_whole(file, [b"f"]) == 1
    assert file.read_bytes() == b"f"
    assert [*tmp_path.iterdir()] == [file]


def test_what_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(OSError, match="No space"):
        write_whole(file, failing())
    assert file.read_bytes() == b"before"
    assert [*tmp_path.iterdir()] == [file]


def test_files_of_others_stay(tmp_path):
    mine = tmp_path / "file.part"
    mine.write_bytes(b"mine")
    write_whole(tmp_path / "file", [b"x"])
    assert mine.read_bytes() == b"mine"


def test_permissions_are_those_of_the_file_or_of_a_new_one(tmp_path):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"")
    file.chmod(0o604)
    before = os.umask(0o027)
    try:
        write_whole(file, [b"x"])
        write_whole(other, [b"x"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


def test_a_link_goes_on_leading_to_its_file(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"before")
    link.symlink_to(file)
    write_whole(link, [b"x"])
    assert link.is_symlink()
    assert file.read_bytes() == b"x"


def test_what_is_no_plain_file_is_written_as_it_stands(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_whole(pipe, [b"abc"]) == 3
        assert os.read(reader, 10) == b"abc"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)

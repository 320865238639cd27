"""The archive in a folder: temporary files, refusals of the file system, and a missing folder."""

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from manyclass.service.store.archive import open_archive
from manyclass.service.store.errors import StoreError, StoreFull, StoreUnavailable

NAME = "4f1c/1.segment"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "archive"


@pytest.fixture
def archive(root):
    return open_archive(root.as_uri())


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written: Not a directory") as caught:
        open_archive((tmp_path / "file" / "archive").as_uri())
    assert "name a folder" in caught.value.hint


def test_a_folder_that_cannot_be_written_is_refused_at_once():
    with pytest.raises(StoreError, match="cannot be written"):
        open_archive("file:///proc")


def test_opening_leaves_nothing(archive, root):
    assert [*root.iterdir()] == []


def test_leftovers_are_deleted_when_they_are_old(archive, root):
    archive.put(NAME, b"x")
    old, new = (root / "4f1c" / f".2.segment.{each}.tmp" for each in ("0a", "0b"))
    for file, age in ((old, 3_700), (new, 3_500), (root / NAME, 9_999)):
        if not file.exists():
            file.write_bytes(b"half")
        os.utime(file, (time.time() - age,) * 2)
    assert archive.names() == [NAME]
    again = open_archive(root.as_uri())
    assert not old.exists()
    assert new.exists()
    assert again.names() == [NAME]


def test_what_an_unfinished_write_has_left_is_deleted_by_the_name_of_its_object(archive, root):
    archive.put(NAME, b"x")
    left, other = (root / "4f1c" / f".{each}.segment.0a.tmp" for each in (2, 3))
    for file in (left, other):
        file.write_bytes(b"half")
    archive.delete_unfinished("4f1c/2.segment".__eq__)
    assert not left.exists()
    assert other.exists()
    assert archive.get(NAME) == b"x"


def test_files_of_others_are_not_listed(archive, root):
    archive.put(NAME, b"x")
    (root / "README").write_text("")
    (root / "4f1c" / "a folder").mkdir()
    (root / "4f1c" / "odd name").write_text("")
    (root / "4f1c" / "folder").mkdir()
    assert archive.names() == [NAME]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_old_object(archive, root, monkeypatch, number):
    archive.put(NAME, b"old")
    monkeypatch.setattr(os, "fsync", failing(number))
    with pytest.raises(StoreFull) as caught:
        archive.put(NAME, b"new")
    assert "make room" in caught.value.hint
    monkeypatch.undo()
    assert archive.get(NAME) == b"old"
    assert [each.name for each in (root / "4f1c").iterdir()] == ["1.segment"]


def test_a_failing_disk_is_unavailable(archive, monkeypatch):
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(StoreUnavailable, match="Input/output error") as caught:
        archive.put(NAME, b"new")
    assert "mounted" in caught.value.hint


def failing(number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    return fail


def test_a_folder_that_is_gone_is_no_empty_archive(archive, root):
    archive.put(NAME, b"x")
    away = root.rename(root.with_name("away"))
    for call in (
        lambda: archive.put(NAME, b"y"),
        lambda: archive.get(NAME),
        lambda: archive.delete(NAME),
        archive.names,
    ):
        with pytest.raises(StoreUnavailable) as caught:
            call()
        assert root.as_uri() in str(caught.value)
        assert "mounted" in caught.value.hint
    assert not root.exists()
    away.rename(root)
    assert archive.get(NAME) == b"x"


def test_an_object_is_synced_before_it_has_its_name_and_its_folders_after(
    archive, root, monkeypatch
):
    done = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor):
        done.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    def replaced(self, target):
        done.append("renamed")
        replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr("pathlib.Path.replace", replaced)
    archive.put(NAME, b"x")
    [of_root, temporary, renamed, of_folder] = done
    assert of_root == str(root)
    assert temporary.startswith(f"{root}/4f1c/.1.segment.")
    assert (renamed, of_folder) == ("renamed", f"{root}/4f1c")
    archive.delete(NAME)
    assert done[4:] == [f"{root}/4f1c"]


def test_a_write_that_fails_leaves_nothing(archive, root, monkeypatch):
    sync = os.fsync

    def full(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull):
        archive.put(NAME, b"x")
    assert [path for path in root.rglob("*") if path.is_file()] == []

import gc

from studies.peers.folder import bytes_of, own_folder


class Owner:
    pass


def test_the_folder_goes_with_its_owner():
    owner = Owner()
    folder = own_folder(owner)
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("text")

    assert folder != own_folder(owner)
    assert folder.is_dir()
    del owner
    gc.collect()
    assert not folder.exists()


def test_bytes_are_those_of_a_file_or_of_all_files_below(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "one").write_bytes(b"123")
    (tmp_path / "inner" / "other").write_bytes(b"12345")

    assert bytes_of(tmp_path / "one") == 3
    assert bytes_of(tmp_path) == 8

import gc
import os
import sys
from subprocess import run

import pytest

from studies.peers import PEERS, PeerMissing
from studies.peers.package import bytes_of, imported, own_folder, without_output


def test_a_missing_package_is_named_with_the_way_to_install_it():
    with pytest.raises(PeerMissing, match=r"no-such-thing.*make studies-env") as raised:
        imported("no_such_module", "no-such-thing")

    assert raised.value.package == "no-such-thing"


def test_a_module_that_is_there_is_returned():
    assert imported("json", "none").dumps([1]) == "[1]"


def test_every_peer_is_made_or_says_at_once_what_it_misses(monkeypatch):
    def nothing(module, package=None):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr("studies.peers.package.import_module", nothing)

    missing = set()
    for name, make in PEERS.items():
        try:
            assert make(0).name == name
        except PeerMissing as fault:
            missing.add(fault.package)

    assert missing == {
        "scikit-learn",
        "vowpalwabbit",
        "fasttext-wheel",
        "napkinxc",
        "omikuji",
        "river",
    }


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
from studies.peers.package import without_output
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

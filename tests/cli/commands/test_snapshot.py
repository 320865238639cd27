import time

from manyclass.client.client import Client
from manyclass.core.model import Model
from manyclass.service.store import open_store


def test_take_list_restore(manyclass, service):
    with Client(service) as client:
        client.learn({"text": "x", "classes": ["kept"]})
        taken = manyclass("snapshot", "take", "--url", service)
        client.learn({"text": "x", "classes": ["undone"]})
    seq, size, when = taken.stdout.rstrip("\n").split("\t")
    assert int(size) > 0
    assert when.endswith(" UTC")
    listed = manyclass("snapshot", "list", "--url", service)
    assert taken.stdout in listed.stdout

    manyclass("snapshot", "restore", seq, "--url", service, input="n\n", exit_code=1)
    restored = manyclass("snapshot", "restore", seq, "--url", service, input="y\n")
    assert f"snapshot {seq} is restored" in restored.stdout
    with Client(service) as client:
        names = [each.name for each in client.classes()]
    assert "kept" in names
    assert "undone" not in names


def test_a_snapshot_that_is_not_there(manyclass, service):
    result = manyclass("snapshot", "restore", 987654, "--yes", "--url", service, exit_code=1)
    assert result.stderr == (
        "manyclass: the service refused: 404 Not Found: there is no snapshot 987654;"
        " `manyclass snapshot list` shows them\n"
    )


def test_a_saved_state_becomes_a_store(manyclass, service, tmp_path):
    file, store = tmp_path / "now.snapshot", f"sqlite:{tmp_path}/new.db"
    with Client(service) as client:
        client.learn({"text": "x", "classes": ["saved"]})
        seq = client.stats().seq
    saved = manyclass("snapshot", "save", file, "--url", service)
    assert saved.stderr == f"{file.stat().st_size} bytes in {file}\n"
    assert list(tmp_path.iterdir()) == [file]
    copied = manyclass("copy", f"file:{file}", store)
    said = f"copied up to event {seq}, with 0 instances of the queue of review\n"
    assert copied.stdout == said, copied.stderr
    made = open_store(store, time.time)
    try:
        model = Model.load(made.open_snapshot(seq))
        assert "saved" in [name for name, _ in model.learner.class_page("", "", 1000)]
        assert made.append([b"next"]) == seq + 1
    finally:
        made.close()


def test_a_state_that_cannot_be_saved_leaves_nothing_behind(manyclass, service, nobody, tmp_path):
    file = tmp_path / "now.snapshot"
    file.write_bytes(b"from before")
    manyclass("snapshot", "save", file, "--url", nobody, exit_code=3)
    assert file.read_bytes() == b"from before"
    assert list(tmp_path.iterdir()) == [file]
    elsewhere = tmp_path / "missing" / "now.snapshot"
    refused = manyclass("snapshot", "save", elsewhere, "--url", service, exit_code=2)
    assert f"there is no folder {elsewhere.parent}" in " ".join(refused.stderr.split())


def test_a_file_without_a_state_is_not_copied(manyclass, tmp_path):
    file, store = tmp_path / "other", tmp_path / "new.db"
    for content in (b"", b"something else", b"MANYCLAS" + bytes(100)):
        file.write_bytes(content)
        refused = manyclass("copy", f"file:{file}", f"sqlite:{store}", exit_code=1)
        assert "damaged" in refused.stderr
    manyclass("copy", f"file:{tmp_path}/none", f"sqlite:{store}", exit_code=1)
    missing = manyclass("copy", f"sqlite:{tmp_path}/none.db", f"sqlite:{store}", exit_code=1)
    assert "there is no store" in missing.stderr
    assert list(tmp_path.iterdir()) == [file]

from service.client import Client


def test_take_list_restore(manyclass, service):
    with Client(service) as client:
        client.learn({"text": "x", "classes": ["kept"]})
        taken = manyclass("snapshot", "take", "--url", service)
        client.learn({"text": "x", "classes": ["undone"]})
    seq, size, when = taken.stdout.rstrip("\n").split("\t")
    assert taken.exit_code == 0
    assert int(size) > 0
    assert when.endswith(" UTC")
    listed = manyclass("snapshot", "list", "--url", service)
    assert taken.stdout in listed.stdout

    declined = manyclass("snapshot", "restore", seq, "--url", service, input="n\n")
    assert declined.exit_code == 1
    restored = manyclass("snapshot", "restore", seq, "--url", service, input="y\n")
    assert restored.exit_code == 0
    assert f"the state is that of snapshot {seq}" in restored.stdout
    with Client(service) as client:
        names = [each.name for each in client.classes()]
    assert "kept" in names
    assert "undone" not in names


def test_a_snapshot_that_is_not_there(manyclass, service):
    result = manyclass("snapshot", "restore", 987654, "--yes", "--url", service)
    assert result.exit_code == 1
    assert result.stderr == (
        "manyclass: the service refused: 404 Not Found: there is no snapshot 987654;"
        " `manyclass snapshot list` shows them\n"
    )


def test_no_service(manyclass, nobody):
    assert manyclass("snapshot", "list", "--url", nobody).exit_code == 3

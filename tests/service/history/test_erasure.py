"""A deleted event leaves no bytes, however often it was sent."""

from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.faulty import Clock
from tests.service.serving import calling

SECRET = "Kowalczyk"


def holds_secret(folder):
    """Return the files of the store that hold the secret, and check that there are files."""
    files = [*folder.iterdir()]
    assert files
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]


def event(number, **more):
    given = {"features": [SECRET, f"{SECRET}{number}"], "classes": [f"{SECRET} {number}"]}
    return given | {"event_id": f"e-{number}", "source": "anna"} | more


async def test_copies_of_a_deleted_event_are_gone_after_a_rebuild(tmp_path):
    clock = Clock()
    store = SqliteStore(tmp_path / "store.db", clock)
    async with calling(store=store, wall_clock=clock) as call:
        await call("POST", "/learn", {"features": ["b"], "classes": ["y"]})
        await call("POST", "/learn", {"events": [event(1), event(1)]})  # a retry in one append
        conflict = await call("POST", "/learn", {"events": [event(2), event(2, classes=["z"])]})
        assert conflict.status_code == 409
        text = event(3, text=f"{SECRET} again")
        del text["features"]
        await call("POST", "/learn", text)
        await call("PUT", "/events/e-3", {"classes": [f"{SECRET} corrected"]})
        await call("POST", "/snapshots")
        assert holds_secret(tmp_path)
        deleted = await call("DELETE", "/events?source=anna")
        assert deleted.json()["deleted"] == 2
        assert holds_secret(tmp_path)
        assert (await call("POST", "/rebuild")).json()["deleted"] == 2
        assert holds_secret(tmp_path) == []
        segments = [
            call.app.engine.history.reader.segment(info)
            for info in call.app.engine.history.recorder.infos
        ]
        payloads = b"".join(payload for each in segments for payload in each.payloads)
        assert SECRET.encode() not in payloads
        listed = (await call("GET", "/events")).json()["events"]
        assert [each["classes"] for each in listed] == [["y"]]
    assert holds_secret(tmp_path) == []

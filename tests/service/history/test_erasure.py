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


async def test_what_a_restore_has_undone_is_erased_by_its_source_and_by_its_id(tmp_path):
    """Also over a restart, with snapshots of the undone state, and in corrections of it."""
    clock = Clock()

    def opened():
        return SqliteStore(tmp_path / "store.db", clock)

    async with calling(store=opened(), wall_clock=clock) as call:
        await call("POST", "/learn", {"features": ["b"], "classes": ["y"]})
        kept = (await call("POST", "/snapshots")).json()["seq"]
        for number in (1, 2, 3):
            await call("POST", "/learn", event(number))
        text = event(4, source="ben", text=f"{SECRET} too")
        del text["features"]
        await call("POST", "/learn", text)
        await call("PUT", "/events/e-3", {"classes": [f"{SECRET} corrected"]})
        await call("POST", "/snapshots")
        await call("POST", f"/snapshots/{kept}/restore")
        await call("POST", "/learn", event(2, source="ben"))  # again: the state does not know it
        await call("POST", "/rebuild")
        assert holds_secret(tmp_path)
    async with calling(store=opened(), wall_clock=clock) as call:
        assert (await call("DELETE", "/events?source=anna")).json()["deleted"] == 3
        assert (await call("DELETE", "/events/e-4")).json()["deleted"] == 1
        assert (await call("DELETE", "/events/e-2")).json()["deleted"] == 1
        assert holds_secret(tmp_path)
        assert (await call("POST", "/rebuild")).json()["deleted"] == 5
        assert holds_secret(tmp_path) == []
        assert not any(
            SECRET in name for name, _ in call.app.engine.model.learner.class_page("", "", 9)
        )
    assert holds_secret(tmp_path) == []

"""manyclass store: a backup takes the place of a newer store, and files of stores are printed."""

import json
import re
import shutil
from contextlib import closing
from functools import partial

import pytest

from manyclass.client.client import Client
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreDamaged
from tests.service.serving import serving
from tests.service.store.sqlite.changing import change


@pytest.fixture
def accept(manyclass):
    return partial(manyclass, "store", "accept")


def test_an_older_file_is_accepted_and_says_what_is_given_up(accept, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)) as store:
        store.append([b"1"])
    shutil.copy(tmp_path / "store.db", tmp_path / "backup.db")
    with closing(open_store(url, float)) as store:
        store.append([b"2", b"3"])
    shutil.copy(tmp_path / "backup.db", tmp_path / "store.db")
    with pytest.raises(StoreDamaged, match="event 3 was acknowledged") as error:
        open_store(url, float)
    assert f"manyclass store accept {url}" in error.value.hint
    done = accept(url)
    assert "is accepted with the events up to 1" in done.stdout
    assert "given up: 2 to 3" in done.stdout
    with closing(open_store(url, float)) as store:
        assert store.append([b"2"]) == 2


def test_a_missing_mark_is_said(accept, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)) as store:
        store.append([b"1"])
    (tmp_path / "store.db.mark").unlink()
    assert "is unknown because the .mark file is missing." in accept(url).stdout


def test_stores_that_cannot_be_accepted(accept, tmp_path):
    accept("memory:", exit_code=2)
    missing = accept(f"sqlite:{tmp_path}/none.db", exit_code=1)
    assert "there is no store" in missing.stderr
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)):
        in_use = accept(url, exit_code=1)
    assert "in use" in in_use.stderr


# --- the log --------------------------------------------------------------------------------------


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def url(tmp_path):
    return f"sqlite:{tmp_path}/store.db"


def stored(url, *events):
    """Make a store of these events."""
    with closing(open_store(url, float)) as store:
        store.append([each if isinstance(each, bytes) else bytes(each) for each in events])


def test_the_log_of_a_running_service_is_printed(manyclass, url):
    with serving(store=url) as service, Client(service.url) as client:
        client.learn({"text": "a puck", "classes": ["hockey"], "event_id": "e-1", "source": "anna"})
        client.learn({"features": {"ball": 2}, "classes": ["golf"], "not": ["ål"], "weight": 3})
        client.correct("e-1", ["golf"])
        first, second, third = lines(manyclass("store", "log", url))
        assert first.pop("time").endswith("+00:00")
        assert first.pop("bytes") > 20
        assert first == {
            **{"seq": 1, "kind": "learn", "event_id": "e-1", "source": "anna"},
            **{"classes": ["hockey"], "text": "a puck"},
        }
        assert (second["features"], second["not"], second["weight"]) == ({"ball": 2}, ["ål"], 3)
        assert (third["kind"], third["target"], third["replaced"]) == ("amend", 1, ["hockey"])
        some = manyclass("store", "log", url, "--after", 1, "--limit", 1)
        assert lines(some) == [second]
        client.learn({"features": ["ice"], "classes": ["hockey"]})  # the service goes on


def test_events_of_every_kind_are_printed_with_their_members(manyclass, url):
    read = DEFAULT_TEXT.instance_of("a puck")
    stored(
        url,
        Event.learn(read.instance, ["x"], reading=read.reading),  # its text was not kept
        Event.learn(Instance(["a"], [3, -4]), ["x"]),
        Event.describe("x", {"title": "An X", "description": None, "vector": [0, 1]}),
        Event.amend(1, Instance(["a"]), [], ["x"]),
        Event.rename("x", "y", merges=True).join(),
        Event.release("x"),
        Event.place({"x": "y"}, moves=True),
        Event.forget_class("x"),
        Event.forget_feature("a"),
        Event.configure({"learner": "ff"}),
        Event.restore(0),
        Event.adopt("t"),
        Event.promote("ff"),
        Event.use_rules(7),
    )
    printed = [
        {name: each for name, each in line.items() if name not in ("seq", "bytes")}
        for line in lines(manyclass("store", "log", url))
    ]
    assert printed == [
        {"kind": "learn", "classes": ["x"], "features": dict(read.instance.items())},
        {
            **{"kind": "learn", "classes": ["x"], "features": {"a": 1.0}},
            "vector": [pytest.approx(0.6, abs=1e-3), pytest.approx(-0.8, abs=1e-3)],
        },
        {
            **{"kind": "describe", "name": "x", "title": "An X", "description": None},
            "vector": [0.0, 1.0],
        },
        {
            **{"kind": "amend", "target": 1, "classes": []},
            **{"replaced": ["x"], "features": {"a": 1.0}},
        },
        {"kind": "rename", "joined": True, "name": "x", "to": "y", "merges": True},
        {"kind": "rename", "name": "x"},
        {"kind": "place", "parents": {"x": "y"}, "moves": True},
        {"kind": "forget_class", "name": "x"},
        {"kind": "forget_feature", "name": "a"},
        {"kind": "configure", "learners": {"learner": "ff"}},
        {"kind": "restore", "restored": 0},
        {"kind": "adopt", "name": "t"},
        {"kind": "promote", "name": "ff"},
        {"kind": "rules", "rules": 7},
    ]


def test_an_event_that_cannot_be_read_is_shown_and_the_next_ones_too(manyclass, url):
    stored(url, b"\xff", Event.forget_class("x"))
    unread, event = lines(manyclass("store", "log", url))
    assert (unread["seq"], unread["hex"]) == (1, "ff")
    assert unread["error"]
    assert event["name"] == "x"


def test_a_damaged_log_is_printed_up_to_the_damage(manyclass, url, tmp_path):
    stored(url, Event.forget_class("x"))
    stored(url, Event.forget_class("y"))
    change(tmp_path / "store.db", "UPDATE events SET body = x'00' WHERE last_seq = 2")
    result = manyclass("store", "log", url, exit_code=1)
    assert [each["name"] for each in lines(result)] == ["x"]
    assert "the log is damaged at event 2" in result.stderr


def test_a_trimmed_log_is_printed_from_its_first_event(manyclass, url):
    with closing(open_store(url, float)) as store:
        for name in "xyz":
            store.append([bytes(Event.forget_class(name))])
        store.save_snapshot(2, [b""])
        store.trim(2)
    assert [each["seq"] for each in lines(manyclass("store", "log", url))] == [3]


# --- snapshots ------------------------------------------------------------------------------------


@pytest.fixture
def model():
    model = Model(Options())
    model.apply(1, Event.learn(Instance(["puck"]), ["hockey"]))
    return model


def test_the_sections_of_a_snapshot_are_printed(manyclass, url, model):
    with closing(open_store(url, lambda: 1e9)) as store:
        store.save_snapshot(0, Model(Options()).dump())
        store.save_snapshot(1, model.dump())
        head, *sections = lines(manyclass("store", "snapshot", url))  # while it is in use
    assert head["taken_at"] == "2001-09-09T01:46:40.000+00:00"
    assert head["facts"]["seq"] == 1
    names = next(each for each in sections if each["section"] == "feature_names")
    assert (names["dtype"], names["shape"], names["bytes"], names["whole"]) == ("|u1", [4], 4, True)
    before = lines(manyclass("store", "snapshot", url, "--seq", 0))
    assert before[0]["facts"]["seq"] == 0
    other = next(each for each in before[1:] if each["section"] == "feature_names")
    assert other["digest"] != names["digest"]


def test_a_state_in_a_file_is_printed_with_its_damage(manyclass, model, tmp_path):
    file = tmp_path / "state.snapshot"
    data = b"".join(model.dump())
    file.write_bytes(data)
    head, *sections = lines(manyclass("store", "snapshot", f"file:{file}"))
    assert head.keys() == {"facts"}
    assert all(each["whole"] for each in sections)
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    _, *sections = lines(manyclass("store", "snapshot", f"file:{file}"))
    assert [each["whole"] for each in sections].count(False) == 1


def test_snapshots_that_are_not_there_are_one_line(manyclass, url, tmp_path):
    stored(url, Event.forget_class("x"))
    none = manyclass("store", "snapshot", url, exit_code=1)
    assert "has no snapshot yet" in none.stderr
    with closing(open_store(url, float)) as store:
        for seq in (0, 1):
            store.save_snapshot(seq, Model(Options()).dump())
    missing = manyclass("store", "snapshot", url, "--seq", 7, exit_code=1)
    assert f"there is no snapshot 7; {url} has 0, 1" in missing.stderr
    unread = manyclass("store", "snapshot", f"file:{tmp_path}/none", exit_code=1)
    assert "cannot be read" in unread.stderr
    (tmp_path / "other").write_text("x" * 100)
    other = manyclass("store", "snapshot", f"file:{tmp_path}/other", exit_code=1)
    assert "not a snapshot" in other.stderr
    for result in (none, missing, unread, other):
        assert len(result.stderr.splitlines()) == 1
    redis = manyclass("store", "log", "redis://user:secret@127.0.0.1/0", exit_code=2)
    assert "is not sqlite:PATH" in redis.stderr
    assert "secret" not in redis.stderr
    no_store = manyclass("store", "log", f"sqlite:{tmp_path}/none.db", exit_code=1)
    assert "there is no store" in no_store.stderr


# --- find -----------------------------------------------------------------------------------------


def place_names(result):
    return [line.split("\t")[0] for line in result.stdout.splitlines()[:-1]]


def test_words_are_found_until_a_rebuild_has_erased_them(manyclass, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    kept = {"text": "ein Sack Laub", "classes": ["waste"], "source": "ben"}
    erased = {"text": "Müller, Gärtnerweg 7", "classes": ["waste"], "source": "anna"}
    with serving(store=url) as served, Client(served.url) as client:
        client.learn_many([kept, erased])
        client.take_snapshot()
        client.give_for_review([{"text": "noch ein MÜLLER", "id": "m-1", "source": "anna"}])
        client.give_for_review([{"text": "noch ein Sack", "id": "m-2", "source": "ben"}])
        found = manyclass("store", "find", url, "muller", "Gärtnerweg 7", exit_code=1)
        assert {"event 2 of the history", "snapshot 2", "instance m-1 of the queue of review"} <= {
            *place_names(found)
        }
        assert "event 2 of the history\tmuller, Gärtnerweg 7\n" in found.stdout
        assert {"the bytes of store.db-wal", "the bytes of store.db.waiting"} <= {
            *place_names(found)
        }
        client.delete_events(source="anna")
        still = place_names(manyclass("store", "find", url, "muller", exit_code=1))
        assert {"event 2 of the history", "snapshot 2"} <= {*still}
        assert "instance m-1 of the queue of review" not in still
        client.rebuild()
        none = manyclass("store", "find", url, "muller", "Gärtnerweg")
        assert re.fullmatch(
            r"found nowhere in \d events? of the log, 1 of the history, \d snapshots?,"
            r" 1 of the queue of review, and the bytes of \d files\n",
            none.stdout,
        )
        assert (
            "event 1 of the history\tLaub"
            in manyclass("store", "find", url, "Laub", exit_code=1).stdout
        )


def test_the_bytes_of_deleted_rows_are_searched_too(manyclass, tmp_path):
    path = tmp_path / "store.db"
    with closing(open_store(f"sqlite:{path}", float)) as store:
        store.append([bytes(Event.learn(Instance(["kowalczyk"]), ["a"]))])
        store.save_snapshot(1, Model(Options()).dump())
        store.trim(1)
    found = manyclass("store", "find", f"sqlite:{path}", "Kowalczyk", exit_code=1)
    assert place_names(found) == ["the bytes of store.db"]


def test_a_name_is_not_found_across_two_names_of_a_snapshot(manyclass, url, model):
    model.apply(2, Event.learn(Instance(["kowal", "czyk"]), ["x"]))
    with closing(open_store(url, float)) as store:
        store.save_snapshot(2, model.dump())
    found = manyclass("store", "find", url, "kowalczyk", "czyk", exit_code=1)
    [words] = [line.split("\t")[1] for line in found.stdout.splitlines() if "snapshot" in line[:9]]
    assert words == "czyk"


def test_places_that_cannot_be_searched_are_said(manyclass, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    with serving(store=url) as served, Client(served.url) as client:
        client.learn({"text": "ein Sack", "classes": ["waste"]})
        client.give_for_review([{"text": "noch ein Sack", "id": "m-2"}])
        client.take_snapshot()
    change(tmp_path / "store.db", "UPDATE segments SET body = x'00'")
    (tmp_path / "store.db.waiting").write_bytes(b"no database")
    result = manyclass("store", "find", url, "Kowalczyk", exit_code=1)
    assert place_names(result) == [
        "the history up to event 1",
        "the rest of the queue of review",
    ]
    assert "found nowhere in" in result.stdout
    assert "2 places could not be searched" in result.stderr
    manyclass("store", "find", "redis://127.0.0.1:6379/0", "a", exit_code=2)
    manyclass("store", "find", url, " ", exit_code=2)

import json
import time

import httpx
import pytest

from manyclass.client.client import Client
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.store import open_store
from manyclass.training.listing import text_of
from tests.service.serving import serving


@pytest.fixture
def model():
    learner = make(Options(margin_threshold=0))
    for _ in range(3):
        learner.learn({"puck": 2, "ål": 1}, ["hockey"])
    learner.learn(["ball"], ["baseball"])
    return Model.of(learner, 4)


@pytest.fixture
def file(model, tmp_path):
    file = tmp_path / "model.snapshot"
    file.write_bytes(b"".join(model.dump()))
    return file


def test_a_file_is_printed_as_text(manyclass, model, file):
    result = manyclass("export", file)
    assert result.stdout_bytes.decode().splitlines() == [*text_of(model)]
    assert result.stdout.splitlines()[:2] == ["class\tbaseball\t1", "class\thockey\t3"]
    assert result.stdout.endswith("\n")


def test_a_file_is_printed_as_json(manyclass, file):
    result = manyclass("export", file, "--format", "jsonl")
    assert [json.loads(line) for line in result.stdout.splitlines()][-1] == {
        "feature": "ål",
        "times_seen": 3,
        "rating": pytest.approx(0.3),
        "edges": [{"class": "hockey", "weight": 1.0}],
    }


def test_all_classes_that_a_ranking_can_have_are_printed(manyclass, model, file):
    model.apply(5, Event.learn(Instance([], [1.0, 2.0]), ["curling"]))
    model.apply(6, Event.describe("chess", {"title": "Chess"}))
    file.write_bytes(b"".join(model.dump()))
    classes = [f"class\t{each}" for each in ("baseball\t1", "chess\t0", "curling\t1", "hockey\t3")]
    assert manyclass("export", file).stdout.splitlines()[:4] == classes


def test_a_store_is_printed_with_the_events_behind_its_snapshot(manyclass, model, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    store = open_store(url, time.time)
    store.save_snapshot(4, model.dump())
    event = Event.learn(Instance(["bat"]), ["baseball"])
    store.append([bytes(event)])
    store.close()
    result = manyclass("export", "--store", url)
    assert "feature\tbat\t1" in result.stdout.splitlines()
    model.apply(5, event)
    assert result.stdout.splitlines() == [*text_of(model)]


@pytest.mark.parametrize("arguments", [(), ("file", "--store", "sqlite:x.db")])
def test_one_thing_is_to_be_named(manyclass, arguments):
    result = manyclass("export", *arguments, exit_code=2)
    assert "a FILE or --store URL" in result.stderr


def test_a_source_without_an_index_is_one_line(manyclass, file, tmp_path):
    missing = manyclass("export", tmp_path / "missing", exit_code=1)
    assert missing.stderr.startswith(f"manyclass: {tmp_path}/missing cannot be read: ")
    file.write_bytes(file.read_bytes()[:-1])
    damaged = manyclass("export", file, exit_code=1)
    assert damaged.stderr.startswith(f"manyclass: {file}: section '")
    no_store = manyclass("export", "--store", f"sqlite:{tmp_path}/none.db", exit_code=1)
    assert "there is no store" in no_store.stderr
    open_store(f"sqlite:{tmp_path}/empty.db", time.time).close()
    empty = manyclass("export", "--store", f"sqlite:{tmp_path}/empty.db", exit_code=1)
    assert "the store has no snapshot" in empty.stderr
    for result in (missing, damaged, no_store, empty):
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1


# --- events ---------------------------------------------------------------------------------------

EVENTS = [
    {"text": 'A puck,\u2028 "saved"', "classes": ["hockey"], "event_id": "e/1", "source": "anna"},
    {"features": {"ball": 2.5, "fence": 1.0}, "classes": ["baseball", "sports"], "weight": 3.0},
    {"features": {"ice": 1.0}, "classes": ["hockey"], "not": ["baseball"]},
    {"text": "ice", "not": ["baseball"], "source": "ben"},
    {"features": {"ice": 1.0}, "classes": ["ål"], "parents": {"ål": "sports"}},
    {"text": "mistaken", "classes": ["golf"], "not": ["hockey"], "event_id": "e/2"},
    {"text": "unwanted", "classes": ["golf"], "event_id": "e/3"},
]
CORRECTED = {"text": "mistaken", "classes": ["hockey"], "event_id": "e/2"}
EXPORTED = [*EVENTS[:5], CORRECTED]


def teach(url):
    with Client(url) as client:
        for event in EVENTS:
            httpx.post(f"{url}/learn", json=event).raise_for_status()
        client.learn(EVENTS[0])  # a retry
        client.correct("e/2", ["hockey"])
        client.delete_event("e/3")


def served(tmp_path, name):
    """Return a context manager of a service on a store of its own in the folder."""
    return serving(store=f"sqlite:{tmp_path / name}.db")


def as_json(result):
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]


def test_events_of_a_service_and_of_its_store_are_learned_again(manyclass, tmp_path):
    with served(tmp_path, "one") as one:
        teach(one.url)
        exported = manyclass("export", "--events", "--url", one.url)
        assert as_json(exported) == EXPORTED
        assert exported.stderr == "exported 6 events, from event 1 of the log on\n"
        report = manyclass("rebuild", "--url", one.url)
        assert "1 corrected, 1 deleted" in report.stdout
        assert manyclass("export", "--events", "--url", one.url).stdout == exported.stdout
    stored = manyclass("export", "--events", "--store", f"sqlite:{tmp_path}/one.db")
    assert stored.stdout_bytes == exported.stdout_bytes
    file = tmp_path / "events.jsonl"
    file.write_bytes(exported.stdout_bytes)
    with served(tmp_path, "two") as two:
        learned = manyclass("learn", file, "--url", two.url)
        assert "learned 6 in" in learned.stderr
        again = manyclass("export", "--events", "--url", two.url)
        named = [{k: v for k, v in event.items() if k != "event_id"} for event in as_json(again)]
        sourced = [{"batch": "events.jsonl", **event} for event in EXPORTED]
        assert named == [{k: v for k, v in e.items() if k != "event_id"} for e in sourced]
        assert as_json(again)[0]["event_id"] == "e/1"


def test_exported_events_have_their_vectors(manyclass, tmp_path):
    numbers = [0.60009765625, -0.800048828125]
    events = [
        {"text": "net", "vector": numbers, "classes": ["hockey"]},
        {"features": {}, "vector": numbers, "classes": ["hockey"]},
        {"text": "net", "classes": ["hockey"]},
    ]
    with served(tmp_path, "one") as one:
        for event in events:
            httpx.post(f"{one.url}/learn", json=event).raise_for_status()
        assert as_json(manyclass("export", "--events", "--url", one.url)) == events
        with Client(one.url) as client:
            shown = [(each.dimension, each.vector) for each in client.events()]
        assert shown == [(None, None), (2, None), (2, None)]
    stored = manyclass("export", "--events", "--store", f"sqlite:{tmp_path}/one.db")
    assert as_json(stored) == events


def digest_of(url):
    return httpx.get(f"{url}/stats?digest=yes").json()["digest"]


VECTORS = [
    {"vector": [1.0, 0.2, -0.3], "classes": ["a"], "event_id": "e-1"},
    {"text": "a net", "vector": [0.1, 1.0, 0.3], "classes": ["b", "a"], "event_id": "e-2"},
    {"text": "a puck", "classes": ["b"], "event_id": "e-3"},
    {"vector": [0.3, 0.1, 1.0], "classes": ["c"], "event_id": "e-4"},
]
COLUMNS = ["--class-separator", "; ", "--id-column", "event_id", "--vector-column", "vector"]


@pytest.mark.parametrize(
    ("name", "options"),
    [("events.jsonl", []), *((f"events.{kind}", COLUMNS) for kind in ("csv", "tsv", "xlsx"))],
)
def test_exported_vectors_give_an_equal_state(manyclass, tmp_path, name, options):
    file = tmp_path / name
    with served(tmp_path, "one") as one:
        for event in VECTORS:
            httpx.post(f"{one.url}/learn", json=event).raise_for_status()
        expected = digest_of(one.url)
        out = ["--out", file] if options else []
        exported = manyclass("export", "--events", *out, "--url", one.url)
    if not options:
        file.write_bytes(exported.stdout_bytes)
    with served(tmp_path, "two") as two:
        manyclass("learn", file, *options, "--url", two.url)
        assert digest_of(two.url) == expected


def test_events_of_a_killed_service_are_in_its_store_without_retries(manyclass, tmp_path):
    url = f"sqlite:{tmp_path}/killed.db"
    store = open_store(url, time.time)
    store.save_snapshot(0, Model(Options()).dump())
    events = [
        Event.learn(Instance(["a"]), ["x"], "e-1", 5),
        Event.learn(Instance(["a"]), ["x"], "e-1", 5),
        Event.learn(Instance(["b"]), ["y"], "e-2", 6),
        Event.amend(3, Instance(["b"]), ["z"], ["y"]),
    ]
    store.append([bytes(event) for event in events])
    store.close()
    exported = manyclass("export", "--events", "--store", url)
    assert [event["classes"] for event in as_json(exported)] == [["x"], ["z"]]


def test_exported_events_are_trained_with_weights_and_without_wrong_classes(manyclass, tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in EXPORTED))
    out = tmp_path / "made.snapshot"
    result = manyclass("train", file, "--out", out, exit_code=1)
    assert "read 4 instances" in result.stderr
    assert "`not` is learned by a service only" in result.stderr
    listed = manyclass("export", out).stdout.splitlines()
    assert "class\thockey\t2" in listed


def test_events_are_not_in_a_file_nor_in_a_store_without_history(manyclass, file, nobody):
    refused = manyclass("export", file, "--events", exit_code=2)
    assert "a FILE has no events" in refused.stderr
    manyclass("export", "--events", "--url", nobody, exit_code=3)


def test_exported_classes_have_their_present_names(manyclass, tmp_path):
    with served(tmp_path, "renamed") as one, Client(one.url) as client:
        client.learn({"text": "a puck", "classes": ["hokey"], "not": ["golf"]})
        client.learn({"text": "a ball", "classes": ["golf"], "not": ["hokey"]})
        client.rename_class("hokey", "hockey")
        exported = as_json(manyclass("export", "--events", "--url", one.url))
        assert [(each["classes"], each["not"]) for each in exported] == [
            (["hockey"], ["golf"]),
            (["golf"], ["hockey"]),
        ]
    stored = manyclass("export", "--events", "--store", f"sqlite:{tmp_path}/renamed.db")
    assert as_json(stored) == exported

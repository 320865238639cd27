import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.store import open_store
from manyclass.training.listing import text_of


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
    assert result.stdout_bytes.decode().splitlines() == [*text_of(model.learner)]
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
    assert result.stdout.splitlines() == [*text_of(model.learner)]


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
    assert "the store holds no snapshot" in empty.stderr
    for result in (missing, damaged, no_store, empty):
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1


def test_an_output_that_is_full_is_one_line(file):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "manyclass", "export", str(file)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == (
        "manyclass: standard output cannot be written: No space left on device\n"
    )

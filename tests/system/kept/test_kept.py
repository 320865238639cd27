"""Stores that release 0.1.0 left go on: see make.py, which wrote them."""

import json

import pytest

from tests.redis_server import RedisServer
from tests.system.kept.make import (
    FILES,
    HERE,
    LESSONS,
    REDIS_SETTINGS,
    SETTINGS,
    answers,
    call,
    kept,
    lesson,
    unpack,
)
from tests.system.process import Service

ANSWERS = json.loads((HERE / "answers.json").read_text())


@pytest.fixture
def in_a_file(tmp_path):
    """Yield a service on the SQLite store, not yet started."""
    with Service(tmp_path, **SETTINGS) as service:
        for name in FILES:
            service.store.with_name(name.replace("killed", "store")).write_bytes(kept(name))
        yield service


def test_a_store_in_sqlite_has_the_same_state(in_a_file):
    in_a_file.start()
    assert answers(in_a_file) == ANSWERS["sqlite"]


def test_its_history_is_learned_again_with_the_amended_event(in_a_file):
    in_a_file.start()
    call(in_a_file, "POST", "/rebuild")
    rebuilt = answers(in_a_file)
    assert rebuilt["digest"] != ANSWERS["sqlite"]["digest"]
    assert rebuilt == ANSWERS["rebuilt"]


def test_it_learns_on_and_starts_again(in_a_file):
    in_a_file.start()
    assert call(in_a_file, "POST", "/learn", lesson(LESSONS - 1))["duplicates"] == 1
    learned = call(in_a_file, "POST", "/learn", lesson(LESSONS))
    assert learned["seq"] == ANSWERS["sqlite"]["seq"] + 1
    found = answers(in_a_file)
    assert found["digest"] != ANSWERS["sqlite"]["digest"]
    in_a_file.stop()
    in_a_file.start()
    assert answers(in_a_file) == found


def test_the_bytes_of_events_in_redis_make_the_same_state(tmp_path):
    with RedisServer(tmp_path / "redis") as redis:
        with redis.client() as client:
            unpack(json.loads(kept("redis.json")), client)
        with Service(tmp_path, store=redis.url, **REDIS_SETTINGS) as service:
            service.start()
            assert answers(service) == ANSWERS["redis"]
            assert call(service, "POST", "/learn", lesson(LESSONS))["accepted"] == 1


def test_the_files_are_small():
    assert sum(file.stat().st_size for file in HERE.iterdir() if file.suffix != ".py") < 50_000

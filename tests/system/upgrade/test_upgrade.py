"""Stores, a log, a snapshot and an environment of commit 61b06d52 go on with this release.

`make.py` wrote the files with that release, which learned by version 9 of the rules. One of commit
825d67e, of version 1, has other features of texts.
"""

import json

import pytest

from manyclass.core.instance import Instance
from manyclass.core.model import Model
from tests.redis_server import RedisServer
from tests.system.process import PATIENCE, Service
from tests.system.upgrade.make import (
    HERE,
    LESSONS,
    PROBES,
    answer_to,
    answers,
    client_of,
    kept,
    lesson,
    probe,
)

ENVIRONMENT = json.loads((HERE / "environment.json").read_text())
ANSWERS = json.loads((HERE / "answers.json").read_text())
OF_THE_LEARNER = {  # variables that are options of the learner's specification since 825d67e
    **{"margin_threshold": 0.2, "min_weight": 0.02, "max_outdegree": 8, "rating": 2, "leak": "no"},
    **{"boolean": "no", "normalize": "l2", "sublinear": "yes", "tfidf": "no"},
    **{"retrieval_window": 5, "feature_memory": 20},
}


def in_a_file(folder, name="store.db", *ends):
    """Return a service on the SQLite file of this name, and the files with these ends beside it."""
    service = Service(folder, **ENVIRONMENT)
    for end in ("", *ends):
        service.store.with_name(f"store.db{end}").write_bytes(kept(name + end))
    return service


@pytest.fixture(params=["sqlite", "killed", pytest.param("redis", marks=pytest.mark.slow)])
def service(request, tmp_path):
    """Yield a service on a store of the older release, with its environment; end it."""
    if request.param != "redis":
        ends = {"sqlite": ["store.db", ".mark"], "killed": ["killed.db", ".mark", "-wal"]}
        with in_a_file(tmp_path, *ends[request.param]) as started:
            yield started
        return
    server = RedisServer(tmp_path / "redis", appendfsync=None)  # it reads the file at its start
    server.folder.mkdir()
    (server.folder / "dump.rdb").write_bytes(kept("redis.rdb"))
    with server, Service(tmp_path, store=server.url, **ENVIRONMENT) as started:
        yield started


def test_a_store_goes_on(service):
    service.start()
    with client_of(service) as client:
        found = answers(client)
        seq = found.pop("seq")
        assert seq > ANSWERS["seq"]  # learners were promoted
        assert found == {name: value for name, value in ANSWERS.items() if name != "seq"}
        events = [lesson(LESSONS + number) for number in range(100)]
        assert answer_to(client, "POST", "/learn", {"events": events})["seq"] == seq + len(events)
        learned = answers(client)
        assert learned["ranked"] != found["ranked"]
    service.kill()
    service.start()
    with client_of(service) as client:
        again = answers(client)
        assert again.pop("seq") > learned.pop("seq")
        assert again == learned
    service.stop()


def refusal_of(service):
    """Return the log of a service that refuses to start."""
    service.launch()
    assert service.process.wait(PATIENCE) != 0
    return service.log.read_text()


def test_the_environment_is_refused_with_what_to_write(tmp_path):
    service = in_a_file(tmp_path, "store.db", ".mark")
    former = {f"MANYCLASS_{name.upper()}": str(it) for name, it in OF_THE_LEARNER.items()}
    service.environment |= {**former, "MANYCLASS_LEARNER": "ff"}
    assert f"write MANYCLASS_LEARNER='{ENVIRONMENT['learner']}'" in refusal_of(service)


def test_a_store_with_other_features_of_texts_is_refused_as_it_is(tmp_path):
    """The release that wrote it can still read it."""
    service = in_a_file(tmp_path, "other_texts.db")
    before = service.store.read_bytes()
    said = refusal_of(service)
    assert "begin a new store, and teach it the texts and labels again" in said
    assert "the release that wrote this store still serves it" in said
    assert service.store.read_bytes() == before


def test_a_snapshot_ranks_equally():
    model = Model.load([kept("state.snapshot")])
    given = [probe(number) for number in range(PROBES)]
    probes = [
        model.text.instance_of(each["text"]).instance
        if "text" in each
        else Instance(each["features"])
        for each in given
    ]
    assert {
        each.label: [
            [[{"class": name, "score": score} for name, score in ranked], confidence]
            for ranked, confidence in (each.answer(probe, 5, None) for probe in probes)
        ]
        for each in model.enrolled
    } == ANSWERS["ranked"]

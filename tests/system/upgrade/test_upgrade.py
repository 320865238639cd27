"""Stores, a log, a snapshot and an environment of commit 825d67e go on with this release.

`make.py` wrote the files with that release, which learned by version 1 of the rules.
"""

import json

import pytest

from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
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
)

OLD_ENVIRONMENT = json.loads((HERE / "environment.json").read_text())
OF_THE_LEARNER = [  # variables that are options of the learner's specification since
    *("margin_threshold", "min_weight", "max_outdegree", "rating", "leak", "boolean", "normalize"),
    *("sublinear", "tfidf", "retrieval_window", "feature_memory"),
]
SPECIFICATION = (
    "ff(margin_threshold=0.2,min_weight=0.02,max_outdegree=8,rating=2,leak=no,"
    "retrieval_window=5,mass_cap=20)"
)
ENVIRONMENT = {
    **{name: value for name, value in OLD_ENVIRONMENT.items() if name not in OF_THE_LEARNER},
    "learner": SPECIFICATION,
}
ANSWERS = json.loads((HERE / "answers.json").read_text())
for part in ("ranked", "learners"):  # by today's names and defaults of options
    ANSWERS[part] = {
        Options.parse_logged(name).specification: it for name, it in ANSWERS[part].items()
    }
for learner in ANSWERS["learners"].values():
    for accuracy in learner["accuracy"].values():
        accuracy["taxonomic_loss"] = accuracy["parent_accuracy"] = None  # there was no taxonomy


def in_a_file(folder, name="store.db"):
    """Return a service on the SQLite file of this name."""
    service = Service(folder, **ENVIRONMENT)
    service.store.write_bytes(kept(name))
    return service


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def service(request, tmp_path):
    """Yield a service on a store of the older release, with its environment."""
    if request.param == "sqlite":
        yield in_a_file(tmp_path)
        return
    server = RedisServer(tmp_path / "redis", appendfsync=None)  # it reads the file at its start
    server.folder.mkdir()
    (server.folder / "dump.rdb").write_bytes(kept("redis.rdb"))
    with server:
        yield Service(tmp_path, store=server.url, **ENVIRONMENT)


def test_a_store_goes_on(service):
    service.start()
    with client_of(service) as client:
        found = answers(client)
        seq = found.pop("seq")
        retry = found["again"]  # it has a key that the older release did not have
        assert retry.pop("rank_before") == retry["rank"]
        assert seq > ANSWERS["seq"]  # the rules were raised, and learners promoted
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


def test_the_environment_is_refused_with_what_to_write(tmp_path):
    service = in_a_file(tmp_path)
    service.environment |= {
        f"MANYCLASS_{name.upper()}": str(value) for name, value in OLD_ENVIRONMENT.items()
    }
    service.launch()
    assert service.process.wait(PATIENCE) != 0
    assert f"write MANYCLASS_LEARNER='{SPECIFICATION}'" in service.log.read_text()


def test_a_killed_release_has_to_end_its_work_first(tmp_path):
    """The log holds events that a snapshot does not, and rules of this release would differ."""
    service = in_a_file(tmp_path, "killed.db")
    service.store.with_name("store.db-wal").write_bytes(kept("killed.db-wal"))
    service.launch()
    assert service.process.wait(PATIENCE) != 0
    assert "stop it by SIGTERM, so that it leaves a snapshot" in service.log.read_text()


def test_a_snapshot_ranks_equally():
    model = Model.load([kept("state.snapshot")])
    probes = [Instance(lesson(LESSONS + number)["features"]) for number in range(PROBES)]
    assert {
        each.label: [
            [[{"class": name, "score": score} for name, score in ranked], confidence]
            for ranked, confidence in (each.answer(probe, 5, None) for probe in probes)
        ]
        for each in model.enrolled
    } == ANSWERS["ranked"]

"""Writes the files beside it with the release that is installed, whose stores they hold.

python -m tests.system.upgrade.make, in the checkout of that release, with its environment. The
commit is named in test_upgrade.py. It is done again when texts have other features: `OLDEST_TEXTS`
of core/rules.py; `store.db` of the former release is then `other_texts.db`, which is refused.

`store.db` and `redis.rdb` were left by a clean stop, `killed.db` by a kill. All hold the same
events, of features and of texts. `state.snapshot` is the answer of GET /state, `answers.json` what
the service answered at the end, `environment.json` every setting that it was given.
"""

import json
import lzma
import random
import tempfile
from pathlib import Path

import httpx

from tests.redis_server import RedisServer
from tests.system.process import PATIENCE, Service

HERE = Path(__file__).parent
KEYS = {"admin_keys": "admin-key", "learn_keys": "learn-key", "rank_keys": "rank-key"}
SETTINGS = {
    "learner": "ff(margin_threshold=0.2,min_weight=0.02,max_outdegree=8,rating=2,leak=no,"
    "retrieval_window=5,mass_cap=20)",
    "shadows": "pa(replay=2,replay_size=20),svm(replay_size=20),oplt(arity=2,max_leaves=2),"
    "committee(members=ff(feature_memory=0)+ema(rate=0.5)+arow,vote=score)",
    "max_features": 50,
    "max_classes": 8,
    "max_bytes": 2**24,
    "store_seconds": 30,
    "snapshot_events": 0,
    "snapshot_seconds": 0,
    "snapshot_keep": 2,
    "reconfigure": "yes",
    "late_label_seconds": 600,
    "late_label_bytes": 2**20,
    "rank_wait_seconds": 2,
    "max_body_bytes": 2**20,
    "max_batch": 500,
    "max_features_per_instance": 100,
    "max_queue_events": 1000,
    "max_queue_bytes": 2**22,
    "insecure_open": "no",
    "host": "127.0.0.1",
    **KEYS,
}
LESSONS, PROBES = 300, 20
EVICTED = ("evicted_features", "evicted_classes")
COUNTS = ("features", "classes", "edges", "learned", *EVICTED, "accuracy")


def lesson(number):
    """Return an event whose classes and features are few, and sometimes rare; some are texts."""
    chance = random.Random(number)
    label = min(int(chance.expovariate(0.4)), 6)
    name = f"class {label}" if chance.random() < 0.9 else f"rare class {number % 9}"
    hints = [f"{name} word {chance.randrange(4)}" for _ in range(2)]
    words = [f"wörd {min(int(chance.expovariate(0.1)), 30)}" for _ in range(3)]
    if number % 3:
        given = {"features": {it: chance.choice([0.5, 1.0, 2.25]) for it in [*hints, *words]}}
    else:
        given = {"text": ", ".join([*words, *hints, "CAFÉ ☕"])}
    return given | {"classes": [name], "event_id": f"event {number}"}


def probe(number):
    """Return the instance of an event that is not taught."""
    given = lesson(LESSONS + number)
    return {name: given[name] for name in ("features", "text") if name in given}


def client_of(service):
    """Return a client of a running service with the key that may do everything."""
    return httpx.Client(
        base_url=service.url,
        headers={"authorization": f"Bearer {KEYS['admin_keys']}"},
        timeout=PATIENCE,
        verify=False,
    )


def answer_to(client, method, path, body=None):
    """Return the JSON of an answer, which must not be a refusal."""
    answer = client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def answers(client):
    """Return what each learner ranks, and all counts of learners, classes and events."""
    probes = [probe(each) for each in range(PROBES)]
    learners = answer_to(client, "GET", "/learners")["learners"]
    ranked = {}
    for name in sorted(each["learner"] for each in learners):
        answer_to(client, "POST", f"/learners/{name}/promote")
        results = answer_to(client, "POST", "/rank", {"instances": probes})["results"]
        ranked[name] = [[each["ranked"], each["confidence"]] for each in results]
    return {
        "ranked": ranked,
        "learners": {each["learner"]: {name: each[name] for name in COUNTS} for each in learners},
        "classes": answer_to(client, "GET", "/classes?limit=100")["classes"],
        "again": answer_to(client, "POST", "/learn", lesson(LESSONS - 1)),
        "seq": answer_to(client, "GET", "/stats")["seq"],
    }


def teach(client):
    """Learn, forget, go back to a snapshot, promote."""
    events = [lesson(number) for number in range(LESSONS)]
    answer_to(client, "POST", "/learn", {"events": events[: LESSONS // 2]})
    taken = answer_to(client, "POST", "/snapshots")["seq"]
    answer_to(client, "POST", "/learn", lesson(10 * LESSONS))
    answer_to(client, "POST", f"/snapshots/{taken}/restore")
    answer_to(client, "DELETE", "/classes/class 3")
    answer_to(client, "DELETE", "/features/wörd 1")
    answer_to(client, "POST", "/learners/pa(replay=2,replay_size=20)/promote")
    answer_to(client, "POST", "/learn", {"events": events[LESSONS // 2 :]})


def keep(name, data):
    """Write a file of these bytes, compressed."""
    (HERE / f"{name}.xz").write_bytes(lzma.compress(data, preset=9))


def kept(name):
    """Return the bytes of such a file."""
    return lzma.decompress((HERE / f"{name}.xz").read_bytes())


def live(service):
    """Let a service learn everything and stop; return what it answered before."""
    service.start()
    with client_of(service) as client:
        teach(client)
        found = answers(client)
        state = client.get("/state").content
    return found, state


def main():
    """Write all files."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder) / "redis") as redis:
        service = Service(Path(folder), **SETTINGS)
        found, state = live(service)
        service.kill()
        for end in ("", "-wal", ".mark"):
            keep(f"killed.db{end}", service.store.with_name(f"store.db{end}").read_bytes())
        service.start()
        service.stop()
        for end in ("", ".mark"):
            keep(f"store.db{end}", service.store.with_name(f"store.db{end}").read_bytes())
        keep("state.snapshot", state)
        shared = Service(Path(folder), store=redis.url, **SETTINGS)
        assert live(shared)[0] == found
        shared.stop()
        with redis.client() as client:
            client.save()
        keep("redis.rdb", (redis.folder / "dump.rdb").read_bytes())
    learners = found["learners"].values()
    assert all(each[count] for each in learners for count in EVICTED)
    for name, content in (("answers", found), ("environment", SETTINGS)):
        (HERE / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

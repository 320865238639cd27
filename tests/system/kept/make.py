"""Write the files beside it with the release that is installed: stores as it leaves them.

python -m tests.system.kept.make

The files are of release 0.1.0. They are written anew only before that release; a later release of
the same format reads them as they are.

`killed.db`, its log and its mark are a SQLite store whose process was killed: with a snapshot, a
segment of the history, an amended event, and a log behind them. `redis.json` has every key of a
store in Redis whose log no snapshot holds. `answers.json` is what the service answered before the
kill, and after a rebuild.
"""

import json
import lzma
import random
import shutil
import tempfile
from base64 import b64decode, b64encode
from pathlib import Path

import httpx

from tests.redis_server import RedisServer
from tests.system.process import PATIENCE, Service

HERE = Path(__file__).parent
FILES = ("killed.db", "killed.db-wal", "killed.db.mark")
SETTINGS = {
    "learner": "svm(replay_size=20)",
    "shadows": "ff(rating=2),committee(members=oplt(arity=2)+arow,vote=score)",
    "max_features": 50,
    "max_classes": 8,
    "snapshot_events": 0,
    "snapshot_seconds": 0,
    "snapshot_keep": 1,
    "rebuild_seconds": 0,
}
REDIS_SETTINGS = {"learner": "svm(replay=1,replay_size=20)", "max_features": 50, "max_classes": 8}
LESSONS, PROBES = 100, 5


def lesson(number):
    """Return an event whose classes and features are few; some are texts."""
    chance = random.Random(number)
    label = f"class {min(int(chance.expovariate(0.4)), 6)}"
    words = [f"{label} word {chance.randrange(4)}", f"wörd {chance.randrange(30)}"]
    given = {"classes": [label], "event_id": f"event {number}"}
    match number % 4:
        case 0:
            given |= {"text": f"{', '.join(words)}, CAFÉ ☕", "source": "anna"}
        case 1:
            given |= {"text": {"title": words[0], "body": words[1]}}
        case 2:
            given |= {"features": {word: chance.choice([0.5, 1.0, 2.25]) for word in words}}
        case _:
            given |= {"features": words}
    return given


def judged(number):
    """Return the same event with a weight, or with a class that is wrong."""
    return lesson(number) | ({"weight": 2.5} if number % 2 else {"not": ["class 9"]})


def probe(number):
    """Return the instance of an event that is not taught."""
    given = lesson(LESSONS + number)
    return {name: given[name] for name in ("features", "text") if name in given}


def call(service, method, path, body=None):
    """Return the JSON of an answer, which must not be a refusal."""
    url = service.url + path
    answer = httpx.request(method, url, json=body, timeout=PATIENCE, verify=False)
    assert answer.is_success, answer.text
    return answer.json()


def answers(service):
    """Return what the service ranks, counts and has learned."""
    stats = call(service, "GET", "/stats?digest=yes")
    instances = [probe(number) for number in range(PROBES)]
    results = call(service, "POST", "/rank", {"instances": instances})["results"]
    return {
        "seq": stats["seq"],
        "digest": stats["digest"],
        "ranked": [[each["ranked"], each["confidence"]] for each in results],
        "classes": call(service, "GET", "/classes?limit=100")["classes"],
        "events": call(service, "GET", "/events?limit=3")["events"],
    }


def teach(service):
    """Learn, place, forget, rename, promote and correct, with a snapshot amid."""
    events = [lesson(number) for number in range(LESSONS)]
    call(service, "POST", "/classes", {"parents": {"class 0": "group", "class 1": "group"}})
    call(service, "POST", "/learn", {"events": events[: LESSONS // 2]})
    call(service, "DELETE", "/features/wörd 1")
    call(service, "POST", "/classes/class 5", {"rename": "class five"})
    call(service, "POST", "/snapshots")
    call(service, "PUT", "/events/event 7", {"classes": ["class 2"]})
    call(service, "POST", "/learn", {"events": events[LESSONS // 2 :]})


def packed(client):
    """Return all keys of a Redis server that do not expire, with their values."""
    kept = {}
    for key in sorted(client.keys()):
        kind = client.type(key).decode()
        if client.ttl(key) != -1 or key.endswith((b":lease", b":processes")):
            continue
        if kind == "hash":
            value = sorted((_text(name), _text(each)) for name, each in client.hgetall(key).items())
        elif kind == "stream":
            value = [
                (_text(place), [(_text(name), _text(each)) for name, each in fields.items()])
                for place, fields in client.xrange(key)
            ]
        else:
            value = _text(client.get(key))
        kept[key.decode()] = [kind, value]
    return kept


def unpack(kept, client):
    """Write the keys of `packed` to a server."""
    for key, (kind, value) in kept.items():
        if kind == "hash":
            client.hset(key, mapping={_bytes(name): _bytes(each) for name, each in value})
        elif kind == "stream":
            for place, fields in value:
                entry = {_bytes(name): _bytes(each) for name, each in fields}
                client.xadd(key, entry, id=_bytes(place))
        else:
            client.set(key, _bytes(value))


def _text(data):
    return b64encode(data).decode()


def _bytes(text):
    return b64decode(text)


def write(name, data):
    """Write a file of these bytes, compressed."""
    (HERE / f"{name}.xz").write_bytes(lzma.compress(data, preset=9))


def kept(name):
    """Return the bytes of such a file."""
    return lzma.decompress((HERE / f"{name}.xz").read_bytes())


def main():
    """Write all files."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder) / "redis") as redis:
        with Service(Path(folder), **SETTINGS) as service:
            service.start()
            teach(service)
            call(service, "POST", "/learners/ff(rating=2)/promote")
            found["sqlite"] = answers(service)
            service.kill()
            for name in FILES:
                source = service.store.with_name(name.replace("killed", "store"))
                write(name, source.read_bytes())
            service.start()
            assert answers(service) == found["sqlite"]
            call(service, "POST", "/rebuild")
            found["rebuilt"] = answers(service)
        shared = Path(folder) / "shared"
        shared.mkdir()
        with Service(shared, store=redis.url, **REDIS_SETTINGS) as service:
            service.start()
            for number in range(LESSONS // 2):
                call(service, "POST", "/learn", judged(number))
            call(service, "PUT", "/events/event 7", {"classes": ["class 2"]})
            found["redis"] = answers(service)
            service.kill()
        with redis.client() as client:
            write("redis.json", json.dumps(packed(client)).encode())
        shutil.rmtree(shared)
    (HERE / "answers.json").write_text(json.dumps(found, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

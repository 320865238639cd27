"""Memory that runs out. Not with the tests of core: a sanitizer needs all addresses there are."""

import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from tests.system.process import PATIENCE, Service

LEARNS_TOO_MUCH = """
from pathlib import Path
from resource import RLIMIT_AS, getpagesize, setrlimit

from manyclass.core.errors import LearnerHalfChanged
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

index = Learner(Options())
index.learn(["a"], ["x"])
large = Instance([f"{number:04000}" for number in range(60_000)])  # 240 MB
taken = int(Path("/proc/self/statm").read_text().split()[0]) * getpagesize()
setrlimit(RLIMIT_AS, (taken + 2**26,) * 2)
try:
    index.learn(large, ["x"])
except MemoryError:
    print("no memory")
for call in (
    index.dump,
    lambda: index.features,
    lambda: index.rank(["a"]),
    lambda: index.learn(["a"], ["x"]),
    lambda: index.forget_class("x"),
):
    try:
        call()
    except LearnerHalfChanged as error:
        print(error)
"""


def test_an_index_half_changed_for_want_of_memory_answers_no_call():
    done = subprocess.run([sys.executable, "-c", LEARNS_TOO_MUCH], capture_output=True, text=True)
    refusal = "an error left the learner half changed: load it again from a snapshot"
    assert done.stdout.splitlines() == ["no memory", *[refusal] * 5], done.stderr


LEARNS_VECTORS = """
import sys
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, setrlimit

from manyclass.core.model import Model
from tests.system.test_full_memory import batch_of_vectors

model = Model.load([Path(sys.argv[1]).read_bytes()])
batch = batch_of_vectors(int(sys.argv[2]))
batch.begin(model.seq + 1)
taken = int(Path("/proc/self/statm").read_text().split()[0]) * getpagesize()
setrlimit(RLIMIT_AS, (taken + int(sys.argv[3]), RLIM_INFINITY))
errors = []
while batch.learned < len(batch) and len(errors) < 3:
    try:
        model.apply_batch(batch, 100)
    except MemoryError:
        errors.append("MemoryError")
        setrlimit(RLIMIT_AS, (RLIM_INFINITY, RLIM_INFINITY))
print(*errors)
print(model.digest())
"""


def batch_of_vectors(dimension):
    chance = np.random.default_rng(1)
    batch = EventBatch()
    for number in range(3):
        batch.add(Instance([f"w{number}"], chance.normal(size=dimension)), [f"c{number % 2}"])
    return batch


@pytest.mark.parametrize(("room", "errors"), [(16, "MemoryError"), (400, "")])
def test_an_event_that_a_learner_refuses_for_want_of_memory_is_not_counted_by_the_mixture(
    tmp_path, room, errors
):
    model = Model(Options())
    for number, event in enumerate(batch_of_vectors(3072).events(), 1):
        model.apply(number, event)
    file = tmp_path / "model"
    file.write_bytes(b"".join(model.dump()))
    arguments = [str(file), "3072", str(room << 20)]
    done = subprocess.run(
        [sys.executable, "-c", LEARNS_VECTORS, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for event in batch_of_vectors(3072).events():
        model.apply(model.seq + 1, event)
    assert done.stdout.splitlines() == [errors, model.digest()]


LEARNS_TOO_LONG_A_VECTOR = """
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, setrlimit

from manyclass.core.errors import LearnerHalfChanged
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from tests.system.test_full_memory import batch_of_vectors

model = Model(Options())
events = batch_of_vectors(3072).events()
taken = int(Path("/proc/self/statm").read_text().split()[0]) * getpagesize()
setrlimit(RLIMIT_AS, (taken + 2**20, RLIM_INFINITY))
try:
    for number, event in enumerate(events, 1):
        model.evidence.learn(event, number)
except MemoryError:
    print("no memory")
setrlimit(RLIMIT_AS, (RLIM_INFINITY, RLIM_INFINITY))
for call in (
    lambda: model.apply(1, event),
    lambda: model.rank(event.instance),
    lambda: model.evidence.forget("c0"),
    model.dump,
):
    try:
        call()
    except LearnerHalfChanged as error:
        print(error)
"""


def test_evidence_half_changed_for_want_of_memory_answers_no_call():
    done = subprocess.run(
        [sys.executable, "-c", LEARNS_TOO_LONG_A_VECTOR], capture_output=True, text=True
    )
    refusal = "an error left the learner half changed: load it again from a snapshot"
    assert done.stdout.splitlines() == ["no memory", *[refusal] * 4], done.stderr


def many_calls(service, turn):
    """Make calls of all kinds, the first of which need memory; return their statuses by path."""
    large = [f"{turn} {number:06}".ljust(900, "x") for number in range(300)]
    seen = []
    with httpx.Client(base_url=service.url, timeout=PATIENCE) as http:
        for method, path, body in (
            ("POST", "/learn", {"features": large, "classes": [f"c{turn}"]}),
            ("POST", "/learn", {"features": ["a"], "classes": ["x"]}),
            ("POST", "/learn", {"text": "some words", "classes": ["x"]}),
            ("POST", "/rank", {"features": ["a"]}),
            ("GET", "/livez", None),
            ("GET", "/readyz", None),
            ("GET", "/stats", None),
            ("GET", "/openapi.json", None),
            ("GET", "/classes?limit=1000", None),
            ("GET", "/metrics", None),
        ):
            answer = http.request(method, path, json=body)
            seen.append((path.partition("?")[0], answer.status_code))
            if answer.status_code == 503:
                assert int(answer.headers["retry-after"]) >= 1
    return seen


@pytest.mark.parametrize("room", [16, 80], ids="{} MiB".format)
def test_a_process_without_memory_refuses_and_goes_on_when_there_is_some(tmp_path, room):
    with Service(tmp_path, workers=1) as service:
        service.start()
        before = [each for turn in range(3) for each in many_calls(service, turn)]
        assert {status for _, status in before} == {200}
        pid = service.process.pid
        taken = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
        limit = taken + room * 2**20
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        with ThreadPoolExecutor(4) as callers:
            turns = callers.map(many_calls, [service] * 40, range(3, 43))
            seen = [each for turn in turns for each in turn]
        assert not service.has_ended()
        statuses = {status for _, status in seen}
        assert statuses == {200, 503} or (room > 16 and statuses == {200})
        assert {status for path, status in seen if path == "/livez"} == {200}

        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        after = many_calls(service, 43)
        assert {status for path, status in after if path != "/readyz"} == {200}
        seen = before + seen + after
        learned = sum(each == ("/learn", 200) for each in seen)
        # an event may be learned whose answer says that this is not known
        assert learned <= last_seq(service) <= sum(path == "/learn" for path, _ in seen)
        digest = digest_of(service)
        service.kill()
        service.start()
        assert digest_of(service) == digest


def last_seq(service):
    return digest_of(service)[0]


def digest_of(service):
    """Return the number of the last event, and the digest of the state."""
    stats = httpx.get(f"{service.url}/stats?digest=yes", timeout=PATIENCE).json()
    return stats["seq"], stats["digest"]

"""With a full disk the service refuses to learn, goes on ranking, and learns again when it can."""

import re
import resource
import signal

import httpx
import pytest

from tests.service.serving import until
from tests.system.process import Service, learned

ROOM = 400_000  # bytes that a file may grow to; a file system that is full answers much the same


def fill_the_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path, snapshot_events=0) as service:
        yield service.start(preexec=fill_the_disk)


def paused_by(http):
    """Return the lines of the metrics that say that learning is paused."""
    lines = http.get("/metrics").text.splitlines()
    return "".join(each for each in lines if re.match(r"manyclass_learning_paused.* 1\.0", each))


def event(number):
    return {
        "features": {f"f{number}-{n}": n + 0.5 for n in range(80)},
        "classes": [f"c{number}"],
        "event_id": f"e{number}",
    }


def test_refuses_to_learn_and_goes_on_ranking(service):
    with httpx.Client(base_url=service.url) as http:
        acknowledged, refused = [], 0
        for number in range(2000):
            answer = http.post("/learn", json=event(number))
            if answer.status_code == 200:
                acknowledged.append(number)
            else:
                refused += 1
            if refused == 20:  # after the first ones a checkpoint may have made a little room
                break
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["content-type"] == "application/problem+json"
        before = learned(service.url)
        assert before == {f"c{number}": 1 for number in acknowledged}

        last = acknowledged[-1]
        ranked = http.post("/rank", json={"features": event(last)["features"]}).json()
        assert ranked["ranked"][0]["class"] == f"c{last}"
        assert http.post("/learn", json=event(3000)).status_code == 503
        assert learned(service.url) == before
        ready = http.get("/readyz")
        assert ready.status_code == 200
        assert not ready.json()["learns"]
        assert "manyclass_learning_paused" in paused_by(http)

        room_again = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, room_again)
        until(lambda: http.get("/readyz").json()["learns"])  # without an event
        assert not paused_by(http)
        assert http.post("/learn", json=event(3000)).status_code == 200
    service.kill()
    service.start()
    assert learned(service.url) == before | {"c3000": 1}

"""The lag of a second process behind the first.

Each turn sends the first an event. After the response, the second gets a ranking request with the
`min_seq` of this event, then one without: the difference of their times is the lag. At last the
`seq` of both is read at once.
"""

import json
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

PAUSE = 0.005  # between two turns: some hundred a second load neither process


@dataclass
class Lag:
    """The measurements of all turns."""

    learned: list[float] = field(default_factory=list)  # seconds until the second answered
    any: list[float] = field(default_factory=list)  # the same of a ranking that may be older
    events: list[int] = field(default_factory=list)  # of lag; negative if the second leads
    refused: int = 0  # rankings that timed out


def send(connection: HTTPConnection, path: str, body: dict[str, object]) -> None:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})


def receive(connection: HTTPConnection) -> dict[str, Any] | None:
    """Return the body of a response; None unless the status is 200."""
    answer = connection.getresponse()
    content = answer.read()
    return json.loads(content) if answer.status == 200 else None


def ask(connection: HTTPConnection, path: str, body: dict[str, object]) -> dict[str, Any] | None:
    send(connection, path, body)
    return receive(connection)


def watch(first_port: int, second_port: int, features: list[str], seconds: float) -> Lag:
    """Take turns for so many seconds."""
    lag = Lag()
    first = HTTPConnection("127.0.0.1", first_port, timeout=60)
    second = HTTPConnection("127.0.0.1", second_port, timeout=60)
    instance = {"features": features}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        learned = ask(first, "/learn", {**instance, "classes": ["lag"]})
        if learned is not None:
            began = time.perf_counter()
            seen = ask(second, "/rank", {**instance, "min_seq": learned["seq"]})
            met = time.perf_counter()
            ask(second, "/rank", instance)
            if seen is None:
                lag.refused += 1
            else:
                lag.learned.append(met - began)
            lag.any.append(time.perf_counter() - met)
        send(first, "/rank", instance)
        send(second, "/rank", instance)
        states = receive(first), receive(second)
        if states[0] is not None and states[1] is not None:
            lag.events.append(states[0]["seq"] - states[1]["seq"])
        time.sleep(PAUSE)
    first.close()
    second.close()
    return lag

"""The longest time the event loop spends on one callback, for the worst bodies of 8 MiB.

python -m load_tests.stretches [--learner svm] [--only TEXT] [--bytes 8388608]

Each body is sent to a service of its own in this process. CPU time is that of the event loop's
thread in one callback; the last column divides it by that of an empty request on the same service.
The exit status is 1 when a stretch exceeds --limit.
"""

import argparse
import asyncio
import gc
import gzip
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.service.config.settings import Settings
from manyclass.service.http.app import App, create_app

PIECE_BYTES = 65_536  # a server hands a body on in pieces of this size
JSON = "application/json"
NDJSON = "application/x-ndjson"
RANK, LEARN = "/rank", "/learn"
CLASSES = 50  # of the classes that are explained


@dataclass(frozen=True)
class Body:
    """A request with a body, and the requests that prepare the service for it."""

    path: str
    data: bytes
    media_type: str = JSON
    gzipped: bool = False
    before: "list[Body]" = field(default_factory=list)


@dataclass
class Sent:
    """The answer to a body, and the CPU time of the event loop for it."""

    status: int
    answer_bytes: int
    longest: float  # seconds of one callback
    total: float
    callbacks: int


# --- bodies ---------------------------------------------------------------------------------------


def text_of(path: str, text: str) -> Body:
    return Body(path, _json({"text": text} | _labels(path)))


def features_of(path: str, features: bytes) -> Body:
    return Body(path, b"{" + _labels_begun(path) + b'"features":' + features + b"}")


def many_of(path: str, each: bytes, size: int) -> Body:
    """Return a body with as many copies of an element as the size allows."""
    place = b"events" if path == LEARN else b"instances"
    count = max(1, (size - 32) // (len(each) + 1))
    return Body(path, b'{"%s":[' % place + b",".join([each] * count) + b"]}")


def gzipped(path: str, data: bytes, media_type: str = JSON) -> Body:
    return Body(path, gzip.compress(data), media_type, gzipped=True)


def numbered(count: int, size: int, prefix: str = "") -> dict[str, int]:
    """Features whose names are filled up to about `size` bytes of JSON."""
    width = max(1, size // count - 5)
    return {f"{prefix}{number}".ljust(width, "x")[:4096]: 1 for number in range(count)}


def bodies(size: int, most_features: int = 10_000) -> Iterator[tuple[str, Body]]:
    """Yield the worst bodies of at most `size` bytes, by name."""
    room = size - 200
    for path in (RANK, LEARN):
        for name, body in of_both(path, room, most_features):
            yield f"{path} {name}", body
    for name, body in (*of_learning(room, most_features), *of_streams(room)):
        yield f"/learn {name}", body
    for name, body in of_ranking(room, most_features):
        yield f"/rank {name}", body


def of_both(path: str, room: int, most_features: int) -> Iterator[tuple[str, Body]]:
    """Yield bodies to rank or to learn."""
    texts = {
        "text without words": "." * room,
        "text of blanks": " " * room,
        "text without words, two bytes a character": "¡" * (room // 2),
        "text of dots with a sigma": "." * (room - 4) + "Σ",
        "text of one word": "a" * room,
        "text of many words": "a " * (room // 2),
        "text of few words far apart": ("a" + " " * 2000) * (room // 2001),
    }
    for name, text in texts.items():
        yield name, text_of(path, text)
    escaped = b'"text":"' + b"\\u00e9" * (room // 6) + b'"}'
    yield "text of escapes", Body(path, b"{" + _labels_begun(path) + escaped)
    many = b"{" + b",".join(b'"%d":1' % number for number in range(room // 12)) + b"}"
    yield "700,000 features", features_of(path, many)
    names = b"[" + b'"a",' * (room // 4) + b'"a"]'
    yield "an array of 2,000,000 names", features_of(path, names)
    yield "700,000 features, one escaped", features_of(path, b'{"\\u0061":1,' + many[1:])
    most = numbered(most_features - 1, room)
    yield "the most features", features_of(path, _json(most))
    twice = _json(most)[:-1] + b"," + _json(dict([next(iter(most.items()))]))[1:]
    yield "the most features, one twice", features_of(path, twice)
    yield "a number of 8 MiB", features_of(path, b'{"a":1' + b"0" * room + b"}")
    yield "deep JSON", features_of(path, b"[" * room)
    element = _json({"features": ["a"]} | _labels(path))
    yield "300,000 elements", many_of(path, element, room)
    yield "4,000,000 elements", many_of(path, b"1", room)
    each = (room - 1000 * 40) // 1000
    wide = _json({"features": numbered(each // 14, each)} | _labels(path))
    yield "1,000 elements of many features", many_of(path, wide, 1000 * (len(wide) + 1))
    odd = wide.replace(b"0", b"\\u0030")
    fitting = room // (len(odd) + 1) * (len(odd) + 1)
    yield "elements of features with escapes", many_of(path, odd, fitting)
    dots = _json({"text": "." * (each - 30)} | _labels(path))
    yield "1,000 texts without words", many_of(path, dots, 1000 * (len(dots) + 1))
    half = _json({"text": "." * (room // 2 - 60)} | _labels(path))
    yield "two long texts", many_of(path, half, room)
    yield "gzip of zeros", gzipped(path, b"0" * room)
    bomb = gzip.compress(b" " * (1 << 30)) if room > 1 << 20 else b""
    yield "gzip of 1 GiB", Body(path, bomb, gzipped=True)
    empty = gzip.compress(b"")
    yield "gzip of empty members", Body(path, empty * (room // 4 // len(empty)), gzipped=True)
    yield "gzip of a text", gzipped(path, _json({"text": "." * room} | _labels(path)))


def of_learning(room: int, most_features: int) -> Iterator[tuple[str, Body]]:
    """Yield bodies with many classes or many events."""
    begun = b'{"features":["a"],'
    many = b'"classes":[' + b'"a",' * (room // 4) + b'"a"]}'
    yield "2,000,000 classes", Body(LEARN, begun + many)
    crowded = _json({"features": ["a"], "classes": [f"{n:05}" for n in range(950)]})
    yield "1,000 events of 950 classes", many_of(LEARN, crowded, room)
    again = b'"classes":[' + b'"a",' * 990 + b'"a"],'
    repeated = again * (room // len(again)) + b'"classes":["a"]}'
    yield "classes again and again", Body(LEARN, begun + repeated)
    once = b'{"features":["a"],"classes":["b"],"event_id":"%d"}'
    events = b",".join(once % number for number in range(1000))
    yield "1,000 events with ids", Body(LEARN, b'{"events":[' + events + b"]}")
    large = {"features": numbered(most_features, room - 20_000)}
    labels = {"classes": [str(number) for number in range(20)]}
    yield "the most features and classes", Body(LEARN, _json(large | labels))
    few = {"id": "i", "features": numbered(most_features, most_features * 15)}
    late = [{"id": "i", "classes": ["a"], "event_id": str(number)} for number in range(1000)]
    yield (
        "1,000 labels of a ranked instance",
        Body(LEARN, _json({"events": late}), before=[Body(RANK, _json(few))]),
    )


def of_ranking(room: int, most_features: int) -> Iterator[tuple[str, Body]]:
    """Yield bodies with long answers, after the events that they need."""
    for count, instances in ((most_features, 1), (1000, 20)):
        one = {"features": numbered(count, room // instances)}
        taught = [
            Body(LEARN, _json(one | {"classes": [f"{n:03}" for n in range(first, first + 10)]}))
            for first in range(0, CLASSES, 10)
        ]
        asked = {"instances": [one] * instances, "k": CLASSES, "explain": True}
        yield f"explain of {instances} x {CLASSES}", Body(RANK, _json(asked), before=taught)
    named = [f"{number:03}" + "\\" * 4000 for number in range(1000)]
    taught = [
        Body(LEARN, _json({"features": ["a"], "classes": named[first : first + 200]}))
        for first in range(0, 1000, 200)
    ]
    asked = {"instances": [{"features": ["a"]}] * 20, "k": 1000}
    yield "an answer of 160 MB", Body(RANK, _json(asked), before=taught)


def of_streams(room: int) -> Iterator[tuple[str, Body]]:
    """Yield streams of events, and single lines."""
    line = _json({"features": ["a"], "classes": ["a"]}) + b"\n"
    yield "a stream of short lines", Body(LEARN, line * (room // len(line)), NDJSON)
    yield "a stream of empty lines", Body(LEARN, b"\n" * room, NDJSON)
    yield "a stream of bad lines", Body(LEARN, b"1\n" * (room // 2), NDJSON)
    long_line = _json({"text": "." * room, "classes": ["a"]}) + b"\n"
    yield "a line without words", Body(LEARN, long_line, NDJSON)
    wide_line = b'{"features":["a"],"classes":[' + b'"a",' * (room // 4) + b'"a"]}'
    yield "a line of 2,000,000 classes", Body(LEARN, wide_line, NDJSON)
    line = _json({"features": numbered(1000, 60_000), "classes": ["a"]}) + b"\n"
    lines = line * (room // len(line))
    yield "a stream of wide lines", Body(LEARN, lines, NDJSON)
    yield "a gzipped stream of wide lines", gzipped(LEARN, lines, NDJSON)


def _labels(path: str) -> dict[str, object]:
    return {"classes": ["a"]} if path == LEARN else {}


def _labels_begun(path: str) -> bytes:
    return b'"classes":["a"],' if path == LEARN else b""


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# --- measuring ------------------------------------------------------------------------------------


class Stretches:
    """CPU time of each callback of the event loop in this thread."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.total = 0.0
        self.callbacks = 0

    def add(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)
        self.total += seconds
        self.callbacks += 1


@contextmanager
def watched() -> Iterator[Stretches]:
    """Measure every callback that begins inside."""
    stretches = Stretches()
    run = asyncio.Handle._run  # type: ignore[attr-defined]  # the one place all callbacks pass

    def timed(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        stretches.add(time.thread_time() - began)

    with patch.object(asyncio.Handle, "_run", timed):
        yield stretches


async def send(app: App, body: Body) -> Sent:
    """Send a body as a server would, and read the whole answer."""
    headers = [(b"content-type", body.media_type.encode()), (b"host", b"127.0.0.1")]
    if body.gzipped:
        headers.append((b"content-encoding", b"gzip"))
    pieces = [body.data[at : at + PIECE_BYTES] for at in range(0, len(body.data), PIECE_BYTES)]
    coming = iter(pieces or [b""])
    left = len(pieces or [b""])
    status = answer_bytes = 0

    async def receive() -> dict[str, object]:
        nonlocal left
        await asyncio.sleep(0)
        left -= 1
        return {"type": "http.request", "body": next(coming), "more_body": left > 0}

    async def take(message: dict[str, Any]) -> None:
        nonlocal status, answer_bytes
        status = message.get("status", status)
        answer_bytes += len(message.get("body", b""))

    scope = {"type": "http", "method": "POST", "path": body.path, "headers": headers}
    with watched() as stretches:
        await asyncio.ensure_future(app(scope, receive, take))
    return Sent(status, answer_bytes, stretches.longest, stretches.total, stretches.callbacks)


async def measure(body: Body, learner: str, size: int) -> tuple[Sent, Sent]:
    """Measure a body on a service of its own, and an empty request on the same service."""
    app = create_app(Settings(store="memory:", learner=learner, max_body_bytes=size))
    async with app.api.router.lifespan_context(app.api):
        while app.engine.status == "recovering":
            await asyncio.sleep(0.01)
        for each in body.before:
            sent = await send(app, each)
            if sent.status != 200:
                raise SystemExit(f"a request that prepares the service was answered {sent.status}")
        nothing = Body(body.path, b"{}")
        await send(app, nothing)
        empty = await send(app, nothing)
        return await send(app, body), empty


def main() -> None:
    parser = argparse.ArgumentParser(description="The longest stretches of the event loop.")
    parser.add_argument("--learner", default=DEFAULT_LEARNER)
    parser.add_argument("--only", default="", help="bodies whose name contains this")
    parser.add_argument("--bytes", type=int, default=8 * 2**20, help="size of a body")
    parser.add_argument("--limit", type=float, default=50, help="milliseconds a stretch may last")
    chosen = parser.parse_args()
    print(f"{'body':52} {'status':>6} {'longest ms':>10} {'total ms':>9} {'x empty':>8}")
    over = []
    gc.collect()
    gc.freeze()  # as the server does
    for name, body in bodies(chosen.bytes):
        if chosen.only not in name:
            continue
        sent, empty = asyncio.run(measure(body, chosen.learner, chosen.bytes))
        longest, total = 1000 * sent.longest, 1000 * sent.total
        ratio = sent.longest / empty.longest
        print(f"{name:52} {sent.status:6} {longest:10.1f} {total:9.1f} {ratio:8.0f}", flush=True)
        if longest > chosen.limit:
            over.append(name)
    if over:
        sys.exit(f"longer than {chosen.limit:g} ms: {', '.join(over)}")


if __name__ == "__main__":
    main()

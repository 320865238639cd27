"""The calls of the console's pages on a large store: their times and the sizes of their answers.

python -m benchmarks.console [--classes 100000] [--features 1000000] [--events 200000] [--rounds 20]

A service on SQLite is taught drawn events of several sources, one of which is rare and old, and
ranks instances that then wait for a label. It is started anew from its store; each call is made
once, the first time after the start (`cold`), then by rounds over all calls: at rest (`warm`), and
each after an event more was taught (`learning`), which no cached answer survives. Then chromium, if
it is installed, opens each page anew: the time until its heading is drawn and until it is at rest,
what was transferred, and the rows it has. Limits: no call takes more than 200 ms, in no round; the
first page is there within a second; no page has more than 300 rows.
"""

import json
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import islice
from shutil import which
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from benchmarks.process import ServerProcess, service
from benchmarks.report import Report, add_json_option

LIMIT_MS: Final = 200.0
FIRST_PAGE_MS: Final = 1000.0
MOST_ROWS: Final = 300
PAGES: Final = (
    *("try", "import", "review", "quality", "names", "names?class=class%201"),
    *("names?feature=common%201", "live", "events", "operate"),
)
BATCH: Final = 1000
COMMON: Final = 20_000  # features that many events have
COMMON_OF_EVENT: Final = 8
RARE_SOURCE: Final = 100  # events of it, the first ones
SOURCES: Final = ("shop", "desk", "console", "import")
IDLE_MS: Final = 500  # without a request, until Playwright calls a page idle
WAITING: Final = 5_000  # instances ranked for a label
TEXT_EVERY: Final = 20  # one event in so many is a text

Event = dict[str, object]


class Call(NamedTuple):
    """A call as a page of the console makes it."""

    page: str
    method: str
    path: str
    body: object = None


def drawn(classes: int, features: int, events: int) -> Iterator[Event]:
    """Yield events that name every class and every feature; common features fall as words do."""
    random = np.random.default_rng(0)
    own = -(-(features - COMMON) // events)  # features that one event has and no other
    for at in range(events):
        common = random.zipf(1.2, COMMON_OF_EVENT) % COMMON
        names = [f"common {each}" for each in common] + [
            f"feature {at * own + each}" for each in range(own)
        ]
        cls = at if at < classes else int(random.zipf(1.1)) % classes
        event: Event = {"classes": [f"class {cls}"], "event_id": f"id {at}"}
        event["source"] = "rare" if at < RARE_SOURCE else SOURCES[at % len(SOURCES)]
        if at % TEXT_EVERY:
            event["features"] = names
        else:
            event["text"] = " ".join(name.replace(" ", "") for name in names)
        yield event


def prepare(server: ServerProcess, events: Iterator[Event]) -> None:
    """Teach all events, rank instances, and take a snapshot."""
    while batch := list(islice(events, BATCH)):
        server.request("POST", "/learn", json.dumps({"events": batch}).encode())
    server.request("POST", "/snapshots")


def rank_some(server: ServerProcess, events: Iterator[Event]) -> None:
    """Rank instances, which then wait for a label."""
    while batch := list(islice(events, BATCH)):
        kept = [{k: v for k, v in each.items() if k in ("features", "text")} for each in batch]
        server.request("POST", "/rank", json.dumps({"instances": kept, "k": 5}).encode())


def calls_of(server: ServerProcess) -> list[Call]:
    """Return the calls of the pages, with the names that are the dearest to show."""
    pairs = json.loads(server.request("GET", "/confusions?last=1000&limit=1"))["pairs"]
    first, true = (pairs[0]["ranked_first"], pairs[0]["true"]) if pairs else ("class 0", "class 1")
    text = "common1 common2 common3 feature7 common19"
    return [
        Call("all", "GET", "/readyz"),
        Call("all", "GET", "/stats"),
        Call("all", "GET", "/snapshots"),
        Call("all", "GET", "/review?limit=1"),
        Call("all", "GET", "/classes?limit=12&prefix=class+7"),
        Call("try", "POST", "/rank", {"text": text, "k": 8, "explain": True, "id": "console"}),
        Call("try", "GET", "/operating-points?target=0.95&curve=false"),
        Call("review", "GET", "/review?limit=5&reviewer=anna"),
        Call("review", "GET", "/review?limit=5&reviewer=anna&strategy=random"),
        Call("review", "GET", "/review?limit=5&reviewer=anna&strategy=suspect"),
        Call("quality", "GET", "/operating-points?by=class&window=newest&limit=1"),
        Call("quality", "GET", "/operating-points?by=class&limit=100"),
        Call("quality", "GET", "/quality?last=10000&seconds=0.1"),
        Call(
            "quality",
            "GET",
            "/quality/classes?last=10000&sort=errors&limit=25&after=0&seconds=0.1",
        ),
        Call("quality", "GET", "/confusions?last=10000&limit=50&seconds=0.1"),
        Call("quality", "GET", "/suspects?last=10000&limit=20&seconds=0.1"),
        Call("quality", "GET", f"/classes/{quote(first)}?limit=1000"),
        Call("quality", "GET", f"/classes/{quote(true)}?limit=1000"),
        Call("names", "GET", "/classes?limit=50"),
        Call("names", "GET", "/classes?limit=50&order=events"),
        Call("names", "GET", "/classes?limit=50&order=newest"),
        Call("names", "GET", "/classes?limit=50&prefix=class+77"),
        Call("names", "GET", "/classes?limit=50&prefix=class+7&after=class+77777"),
        Call("names", "GET", "/classes/class%201?limit=30"),
        Call("names", "GET", "/events?class=class%201&limit=5"),
        Call("names", "GET", "/events?class=class%2099999&limit=5"),
        Call("names", "GET", "/features?limit=50"),
        Call("names", "GET", "/features?limit=50&prefix=feature+77"),
        Call("names", "GET", "/features?limit=50&after=feature+7777"),
        Call("names", "GET", "/features/common%201"),
        Call("names", "GET", "/features/feature%207777"),
        Call("live", "GET", "/metrics"),
        Call("live", "GET", "/learners"),
        Call("live", "GET", "/events?limit=1000"),
        Call("events", "GET", "/events?limit=20"),
        Call("events", "GET", "/events?limit=20&order=oldest"),
        Call("events", "GET", "/events?limit=20&wrong=true"),
        Call("events", "GET", "/events?limit=20&source=shop"),
        Call("events", "GET", "/events?limit=20&source=rare"),
        Call("events", "GET", "/events?limit=20&source=nobody"),
        Call("events", "GET", "/events?limit=20&text=common7"),
        Call("events", "GET", "/events?limit=20&text=nowhere"),
        Call("events", "GET", "/events?limit=20&class=class%2050"),
        Call("events", "GET", "/events/seq:7"),
        Call("events", "GET", "/events/id%201000"),
        Call("operate", "GET", "/rebuild"),
        Call("operate", "GET", "/settings"),
    ]


class Timed(NamedTuple):
    """The milliseconds of a call, and the bytes of its answer."""

    ms: float
    size: int


def timed(connection: HTTPConnection, call: Call) -> Timed:
    """Make a call; SystemExit unless it is answered by 200."""
    body = None if call.body is None else json.dumps(call.body)
    began = time.perf_counter()
    connection.request(call.method, call.path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    ms = 1000 * (time.perf_counter() - began)
    if answer.status != 200:
        raise SystemExit(f"{call.method} {call.path}: {answer.status} {content[:500]!r}")
    return Timed(ms, len(content))


def opened(browser: Browser, url: str, page: str) -> dict[str, str | float]:
    """Return the figures of a page that a new browser profile opens."""
    context = browser.new_context()
    shown = context.new_page()
    sizes: list[int] = []
    shown.on("response", lambda answer: sizes.append(len(answer.body())))
    began = time.perf_counter()
    shown.goto(f"{url}/console#/{page}", wait_until="commit")
    shown.wait_for_selector("main[data-page] h1")
    drawn_ms = 1000 * (time.perf_counter() - began)
    shown.wait_for_load_state("networkidle")
    idle_ms = 1000 * (time.perf_counter() - began) - IDLE_MS
    figures: dict[str, str | float] = {
        "page": page,
        "heading ms": drawn_ms,
        "at rest ms": max(drawn_ms, idle_ms),
        "rows": shown.locator("main tr, main li").count(),
        "elements": shown.locator("main *").count(),
        "kB": sum(sizes) / 1000,
    }
    context.close()
    return figures


def browse(report: Report, url: str) -> None:
    """Report the figures of all pages, if there is a browser."""
    chromium = which("chromium")
    if chromium is None:
        return report.say("no chromium: the pages are not opened")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened(browser, url, "try")  # the browser's own start
        rows = [opened(browser, url, page) for page in PAGES]
        browser.close()
    report.table("Pages", rows)
    report.limit("first page, ms", float(rows[0]["heading ms"]), FIRST_PAGE_MS)
    report.limit("most rows of a page", max(float(row["rows"]) for row in rows), MOST_ROWS)
    return None


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=20)
    add_json_option(parser)
    options = parser.parse_args()
    report = Report(options)
    size = (options.classes, options.features, options.events)
    with tempfile.TemporaryDirectory(prefix="manyclass-") as folder:
        store = f"sqlite:{folder}/store.db"
        with service(store, {0, 1}) as server:
            prepare(server, drawn(*size))
        with service(store, {0, 1}) as server:
            stats = json.loads(server.request("GET", "/stats"))
            rank_some(server, islice(drawn(*size), WAITING))
            calls = calls_of(server)
        with service(store, {0, 1}) as server:
            rank_some(server, islice(drawn(*size), WAITING))
            connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
            cold = [timed(connection, call) for call in calls]
            warm = [[timed(connection, call).ms for call in calls] for _ in range(options.rounds)]
            learning = []
            for at in range(options.rounds):
                ended = []
                for call in calls:
                    event = {"text": f"one more {at}", "classes": ["class 7"], "source": "shop"}
                    timed(connection, Call("", "POST", "/learn", event))
                    ended.append(timed(connection, call).ms)
                learning.append(ended)
            connection.close()
            browse(report, f"http://127.0.0.1:{server.port}")
    rows = [
        {
            "call": f"{call.method} {call.path}",
            "page": call.page,
            "cold ms": first.ms,
            "warm ms": median(each[at] for each in warm),
            "slowest": max(each[at] for each in warm),
            "learning ms": median(each[at] for each in learning),
            "slowest ": max(each[at] for each in learning),
            "bytes": first.size,
        }
        for at, (call, first) in enumerate(zip(calls, cold, strict=True))
    ]
    contents = ", ".join(f"{stats[name]:,} {name}" for name in ("classes", "features", "edges"))
    report.table(f"{contents}, {stats['seq']:,} events, {options.rounds} rounds", rows)
    for row in rows:
        slowest = max(float(row[name]) for name in ("cold ms", "slowest", "slowest "))
        if slowest > LIMIT_MS:
            report.limit(f"{row['call']}, ms", slowest, LIMIT_MS)
    report.limit("slowest of all, ms", max(max(r) for r in [*warm, *learning]), LIMIT_MS)
    report.close()


if __name__ == "__main__":
    main()

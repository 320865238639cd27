"""A disk that is really full: how soon each place says so, and how soon learning goes on.

python -m load_tests.full_disk [--mebibytes 24] [--patience 40] [--source DIR] [--json FILE]

The store is on a small file system in memory, which this program mounts where only it and its
children see it: as root, or as a user who may have namespaces. Another file fills it. The time
begins with the first batch that gets 503 (with --silent, the only one). Then the other file is
deleted. `--source` runs the service of another checkout instead, for a comparison.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

import httpx
from playwright.sync_api import Page, sync_playwright

from benchmarks.process import ServerProcess, service
from benchmarks.report import Report
from load_tests.own_service import parser_of
from tests.console.looking import chromium

MOUNTED = "MANYCLASS_TEST_MOUNTS"  # in the environment of the part that has mounts of its own
BATCH = 200
STEP = 0.02  # seconds between two looks
MOST_SECONDS = 2.0  # until a place says what is so
PAGE_SECONDS = 0.2  # more for the browser, which draws

Places = dict[str, Callable[[], bool]]  # by name; true when it says that learning is paused


def main() -> None:
    chosen = options()
    if MOUNTED not in os.environ:
        sys.exit(in_own_namespace())
    report = Report(chosen)
    with TemporaryDirectory() as folder, small_disk(Path(folder), chosen.mebibytes) as disk:
        cores = os.sched_getaffinity(0)
        store = f"sqlite:{disk / 'store.db'}"
        with service(store, cores, source=chosen.source) as server, page_of(server) as page:
            rows = measured(server, page, disk, chosen)
    report.table("Seconds until each place says so", rows)
    for row in rows:
        most = MOST_SECONDS + PAGE_SECONDS * ("console" in str(row["place"]))
        for what in ("paused", "goes on"):
            report.limit(f"{row['place']}, {what}", float(row[what] or "inf"), most)
    report.close()


def options() -> argparse.Namespace:
    parser = parser_of("Fill the disk of a service of its own.")
    parser.add_argument("--mebibytes", type=int, default=24, help="size of the disk")
    parser.add_argument("--patience", type=float, default=40.0, help="seconds to wait for a place")
    parser.add_argument("--silent", action="store_true", help="send no batch after the refused one")
    return parser.parse_args()


def in_own_namespace() -> int:
    """Run this program again where its mounts are its own; return its status."""
    users = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *users, "--mount", sys.executable, "-m", "load_tests.full_disk"]
    return run([*command, *sys.argv[1:]], env=os.environ | {MOUNTED: "1"}, check=False).returncode


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[Path]:
    """Yield a folder on a file system of this size."""
    size = f"size={mebibytes}m"
    run(["mount", "-t", "tmpfs", "-o", size, "manyclass-test", folder], check=True)
    try:
        yield folder
    finally:
        run(["umount", "--lazy", folder], check=True)


@contextmanager
def page_of(server: ServerProcess) -> Iterator[Page]:
    """Yield the page Operate of the console in a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/console#/operate")
        page.get_by_role("heading", name="Health").wait_for()
        yield page
        browser.close()


def measured(
    server: ServerProcess, page: Page, disk: Path, chosen: argparse.Namespace
) -> list[dict[str, float | str | None]]:
    """Return the seconds until each place says that learning is paused, and that it goes on."""
    client = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60)
    assert learn(client) == HTTPStatus.OK
    places = places_of(client, page)
    assert not any(says() for says in places.values())
    filler = disk / "filler"
    fill(filler)
    while learn(client) == HTTPStatus.OK:
        fill(filler)
    ended = threading.Event()
    sender = threading.Thread(target=send, args=(server.port, ended))
    if not chosen.silent:
        sender.start()
    paused = seconds_until(places, True, chosen.patience)
    print(*state(client), sep="\n")
    ended.set()
    if not chosen.silent:
        sender.join()
    filler.unlink()
    goes_on = seconds_until(places, False, chosen.patience)
    assert learn(client) == HTTPStatus.OK
    return [
        {"place": name, "paused": paused[name], "goes on": goes_on[name] if paused[name] else None}
        for name in places
    ]


def places_of(client: httpx.Client, page: Page) -> Places:
    def metrics(line: str) -> bool:
        return line in client.get("/metrics").text

    return {
        "/readyz": lambda: client.get("/readyz").json().get("learns") is False,
        "manyclass_store_full": lambda: metrics("manyclass_store_full 1.0"),
        "manyclass_learning_paused": lambda: metrics(
            'manyclass_learning_paused{reason="store_full"} 1.0'
        ),
        "console, banner": lambda: page.locator(".banner", has_text="is paused").is_visible(),
        "console, Operate": lambda: page.get_by_text("The service ranks. Teaching").is_visible(),
    }


def state(client: httpx.Client) -> Iterator[str]:
    """Yield lines that describe the service while its disk is full."""
    ready = client.get("/readyz")
    shown = {key: value for key, value in ready.json().items() if key != "recovery"}
    yield f"/readyz {ready.status_code} {json.dumps(shown)}"
    yield f"/rank {client.post('/rank', json={'text': 'word 1'}).status_code}"


def seconds_until(places: Places, wanted: bool, patience: float) -> dict[str, float | None]:
    """Return the seconds until each place says it, None for one that has not said it in time."""
    began = time.monotonic()
    found: dict[str, float | None] = dict.fromkeys(places)
    while None in found.values() and time.monotonic() - began < patience:
        for name, says in places.items():
            if found[name] is None and says() is wanted:
                found[name] = round(time.monotonic() - began, 2)
        time.sleep(STEP)
    return found


def learn(client: httpx.Client) -> int:
    """Send a batch; return the status of the answer."""
    events = [
        {"text": f"word {number} of {time.monotonic_ns()}" * 20, "classes": [f"c{number}"]}
        for number in range(BATCH)
    ]
    return client.post("/learn", json={"events": events}).status_code


def send(port: int, ended: threading.Event) -> None:
    """Send batches, a second apart as Retry-After says, until the end."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while not ended.wait(1.0):
            learn(client)


def fill(path: Path) -> None:
    """Write to a file until the disk is full."""
    with path.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


if __name__ == "__main__":
    main()

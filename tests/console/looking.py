"""Helpers of the tests of the console: the browser's program, events to teach, faults of pages."""

import csv
import gzip
import io
import json
import re
import shutil
from importlib.resources import files

import httpx
from axe_playwright_python.sync_playwright import Axe

from manyclass.client.client import Client

PAGES = ("try", "import", "review", "quality", "names", "live", "events", "operate")
SEVERE = ("serious", "critical")
# said by the browser of any refusal, and of 503, which asks to come again
REFUSED = re.compile("the server responded with a status of (4|503)")


def chromium():
    """Return the path of the browser."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError("these tests need chromium: apt-get install chromium")


def questions(number=600):
    """Return the first questions to a bank, as events."""
    packed = files("manyclass.service.samples").joinpath("banking77.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return [json.loads(line) for line in lines[:number]]


def batched(events, size):
    """Return the events in lists of at most so many."""
    return [events[begin : begin + size] for begin in range(0, len(events), size)]


def learned(url, number, key=None):
    """Teach the service questions to a bank."""
    with Client(url, key) as client:
        for some in batched(questions(number), 500):
            client.learn_many(some, source="bank")


def ranked(url, *texts):
    """Have texts ranked, which then wait for their labels."""
    for text in texts:
        httpx.post(f"{url}/rank", json={"text": text}).raise_for_status()


def watched(context, origin):
    """Return a list that gets every error of the context's pages, and every foreign request."""
    faults = []

    def watch_request(request):
        if not request.url.startswith((f"{origin}/", "data:", "blob:")):
            faults.append(f"request of {request.url}")

    def watch_message(message):
        if message.type == "error" and not REFUSED.search(message.text):
            faults.append(message.text)

    context.on("request", watch_request)
    context.on("console", watch_message)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    return faults


def severe_faults(page):
    """Return the serious and critical faults that axe-core finds in a page."""
    found = Axe().run(page).response
    assert found["passes"]
    return [
        (each["id"], [node["html"][:120] for node in each["nodes"]])
        for each in found["violations"]
        if each["impact"] in SEVERE
    ]


def overflow(page):
    """Return by how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def settled(page, name):
    """Wait until a page of the console is drawn."""
    page.wait_for_selector(f"main[data-page={name}] h1")
    page.wait_for_function("!document.querySelector('main .hint')?.textContent.startsWith('…')")


def as_csv(rows, delimiter=","):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue().encode()


def choose(page, name, content):
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )

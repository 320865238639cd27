"""Teaching that is paused is said on every page, with the reason, and goes on by itself."""

import httpx
import pytest
from playwright.sync_api import expect

from manyclass.service.store.errors import StoreFull
from tests.console.looking import PAGES, as_csv, choose
from tests.service.faulty import FaultyStore

pytestmark = pytest.mark.slow  # needs chromium

BANNER = "Teaching is paused: the storage of the service is full."
LONG = 30_000


@pytest.fixture
def full(serve):
    """Return a service, and its store, which has no room."""
    store = FaultyStore()
    served = serve(opened=store)
    event = {"text": "a lost card", "classes": ["card"]}
    assert httpx.post(f"{served.url}/learn", json=event).status_code == 200
    store.append_error = StoreFull("no room", "make room on the disk")
    assert httpx.post(f"{served.url}/learn", json=event).status_code == 503
    return served, store


def test_every_page_says_so_until_there_is_room(full, look):
    served, store = full
    page = look(served, "try")
    for name in PAGES:
        page.goto(f"{served.url}/console#/{name}")
        expect(page.locator(".banner")).to_contain_text(BANNER, timeout=LONG)
    teaching = page.get_by_label("Health", exact=True).get_by_role("row", name="Teaching")
    expect(teaching).to_contain_text("Teaching is paused", timeout=LONG)
    expect(
        page.get_by_text("The reason: the store is full; make room on the disk.")
    ).to_be_visible()
    expect(page.locator(".pulse")).to_have_text("teaching is paused")
    store.append_error = None
    expect(teaching).to_contain_text("works", timeout=LONG)
    expect(page.locator(".banner")).to_be_empty()


def test_an_import_waits_and_goes_on(full, look):
    served, store = full
    page = look(served, "import")
    rows = [[f"question {number}", f"topic {number % 3}"] for number in range(150)]
    choose(page, "topics.csv", as_csv([["text", "label"], *rows]))
    page.get_by_role("button", name="Teach the file").click()
    progress = page.get_by_role("region", name="Progress")
    expect(progress).to_contain_text(f"{BANNER} It continues by itself", timeout=LONG)
    store.append_error = None
    expect(progress).to_contain_text("150 rows read: learned 150", timeout=LONG)
    expect(progress).not_to_contain_text("paused")
    assert httpx.get(f"{served.url}/stats").json()["seq"] == 151

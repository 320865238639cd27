"""After an outage each page reads again what it could not, without a click."""

import re

import httpx
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow  # needs chromium

PAGES = {
    "review": "No message waits for a label",
    "names": "Classes and words",
    "names?class=age_limit": "age_limit",
    "events": "verify_top_up",
    "quality": "First suggestion right",
    "operate": "Snapshots",
    "try?text=card": "card",
}


def is_read(url):
    """Return whether a page reads an address, and not the console, the pulse or the statistics."""
    return not re.search("/(console|readyz|stats)", url)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_when_the_service_answers_again(taught, look, name):
    httpx.get(f"{taught.url}/quality", params={"seconds": 5}, timeout=60)
    page = look(taught, "live")
    page.evaluate("localStorage.setItem('manyclass-reviewer', 'anna')")
    page.route(is_read, lambda route: route.fulfill(status=503, json={"detail": "It is away."}))
    page.goto(f"{taught.url}/console#/{name}")
    problem = page.locator("main .problem", has_text="It is away.").first
    expect(problem).to_be_visible()
    page.wait_for_timeout(1500)  # it goes on for a while
    page.unroute_all()
    expect(page.get_by_text("It is away.")).to_have_count(0, timeout=15_000)
    expect(page.locator("main")).to_contain_text(PAGES[name])

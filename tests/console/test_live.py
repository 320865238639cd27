"""Live: figures that move with the traffic, and a promotion."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import questions, ranked

pytestmark = pytest.mark.slow  # needs chromium


@pytest.fixture
def two_learners(serve):
    return serve(taught=600, shadows=("ff",))


def chart(page, title):
    return page.locator("figure.chart", has_text=title)


def test_the_accuracy_of_the_past_and_the_reliability_are_drawn(two_learners, look):
    page = look(two_learners, "live")
    accuracy = chart(page, "Accuracy of the suggestions")
    expect(accuracy.locator("polyline")).to_have_count(3)
    points = accuracy.locator("polyline").first.get_attribute("points").split()
    assert len(points) == 6  # of a hundred events each
    expect(chart(page, "How sure, and how often right").locator("circle").first).to_be_visible()
    assert chart(page, "Words by the number of classes").locator("rect").count() > 5


def test_rankings_and_events_show_up(two_learners, look):
    page = look(two_learners, "live")
    throughput = chart(page, "Messages taught and suggestions made")
    expect(throughput.locator("polyline")).to_have_count(2, timeout=15_000)
    ranked(two_learners.url, *(each["text"] for each in questions(50)))
    expect(chart(page, "Time per suggestion").locator("polyline").first).to_be_attached(
        timeout=20_000
    )
    httpx.post(f"{two_learners.url}/learn", json={"text": "x", "classes": ["new"]})
    expect(page.locator(".facts-list dd").first).to_have_text("601", timeout=10_000)
    expect(page.get_by_text("of 4.0 GiB")).to_be_visible()


def test_the_line_breaks_where_the_page_was_asleep(two_learners, look):
    page = look(two_learners, "live")
    memory = chart(page, "Memory of the learners").locator("polyline")
    expect(memory).to_have_count(1, timeout=15_000)
    page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            setTimeout(() => delete document.hidden, 14_000);
        }"""
    )
    expect(memory).to_have_count(2, timeout=30_000)
    expect(chart(page, "Messages taught and suggestions made").locator("polyline")).to_have_count(4)


def test_the_age_of_the_newest_event_is_told(two_learners, look):
    page = look(two_learners, "live")
    told = page.get_by_text("each with its suggestions before it was taught")
    expect(told).to_contain_text("Over the last 600 messages")
    expect(told).to_contain_text(re.compile(r"the newest \d+(\.\d)? m?s ago, \d{4}-"))


def test_what_was_read_stays_when_the_page_is_loaded_again(two_learners, look):
    page = look(two_learners, "live")
    memory = chart(page, "Memory of the learners").locator("polyline")
    expect(memory).to_have_count(1, timeout=15_000)
    since = page.get_by_text("Read every two seconds since").inner_text()
    before = len(memory.get_attribute("points").split())
    page.reload()
    expect(memory).to_have_count(1)
    assert len(memory.get_attribute("points").split()) >= before
    expect(page.get_by_text("Read every two seconds since")).to_have_text(since)


def test_a_shadow_is_promoted(two_learners, look):
    page = look(two_learners, "live")
    rows = page.get_by_label("Learners", exact=True).locator("tbody tr")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("button", name="Promote ff").click()
    page.get_by_role("dialog").get_by_role("button", name="Promote").click()
    expect(rows.first.locator("code")).to_have_text("ff", timeout=20_000)
    assert httpx.get(f"{two_learners.url}/learners").json()["learners"][0]["learner"] == "ff"


def test_the_weights_of_titles_and_embeddings_are_shown(serve, look):
    served = serve(taught=20)
    page = look(served, "live")
    expect(page.get_by_text("Over the last 20 messages")).to_be_visible()
    expect(page.get_by_text("In a suggestion, words count 1")).to_have_count(0)
    httpx.put(f"{served.url}/classes/x", json={"title": "An example", "vector": [1, 2]})
    page = look(served, "live")
    shown = re.compile(r"words count 1, titles count [\d.]+, embeddings 8\.")
    expect(page.get_by_text(shown)).to_be_visible()

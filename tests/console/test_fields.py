"""Texts of fields, as title and body: imported, tried, listed and reviewed."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.test_import import as_csv, choose, teach

pytestmark = pytest.mark.slow  # needs chromium

FIELDS = {"title": "Ice hockey", "body": "The goalie saved it"}
ROWS = [
    ["title", "body", "label"],
    ["Ice hockey", "a puck", "sports"],
    ["A card", "", "bank"],
    ["My card", "puck", "bank"],
]


def texts_of(served):
    events = httpx.get(f"{served.url}/events", params={"order": "oldest"}).json()["events"]
    return [each["text"] for each in events]


def test_columns_are_kept_apart_if_the_user_says_so(empty, look):
    page = look(empty, "import")
    choose(page, "messages.csv", as_csv(ROWS))
    expect(page.get_by_text("title, body are put together to one text.")).to_be_visible()
    for name in ("title", "body"):
        page.get_by_label(f"Role of {name}").select_option("part of the text, kept apart")
    expect(page.get_by_text("A word in one of title, body is told")).to_be_visible()
    teach(page)
    expect(page.get_by_text("learned 3, skipped 0 duplicates")).to_be_visible()
    assert texts_of(empty) == [
        {"title": "Ice hockey", "body": "a puck"},
        {"title": "A card"},
        {"title": "My card", "body": "puck"},
    ]


def test_a_part_and_a_text_are_not_mixed(empty, look):
    page = look(empty, "import")
    choose(page, "messages.csv", as_csv(ROWS))
    page.get_by_label("Role of body").select_option("part of the text, kept apart")
    expect(page.get_by_text("A row is one text, parts of a text")).to_be_visible()
    expect(page.get_by_role("button", name="Teach the file")).to_be_disabled()


def test_exported_events_are_imported_with_their_parts(empty, look):
    lines = [{"text": FIELDS, "classes": ["sports"]}, {"text": "a card", "classes": ["bank"]}]
    page = look(empty, "import")
    choose(page, "events.jsonl", "".join(json.dumps(each) + "\n" for each in lines).encode())
    expect(page.get_by_label("Role of text")).to_have_value("text")
    teach(page)
    assert texts_of(empty) == [FIELDS, "a card"]


def test_title_and_body_are_ranked_apart_and_put_together_again(empty, look):
    for label, title in (("sports", "hockey"), ("bank", "card")) * 3:
        body = {"text": {"title": title, "body": "saved"}, "classes": [label]}
        httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page = look(empty)
    page.get_by_label("Text to rank").fill("hockey")
    page.get_by_role("button", name="Title and body apart").click()
    page.get_by_label("title", exact=True).fill("card")
    expect(page.locator(".bars .name").first).to_have_text("bank")
    tinted = page.locator("p.tinted")
    expect(tinted).to_have_text(["title card", "body hockey"])
    expect(tinted.locator("mark")).to_have_text(["card"])
    page.locator(".bars .name").first.click()
    expect(page.locator(".moved")).to_contain_text("bank was 1st, now 1st")
    assert texts_of(empty)[-1] == {"title": "card", "body": "hockey"}
    page.get_by_role("button", name="One text again").click()
    expect(page.get_by_label("Text to rank")).to_have_value("card hockey")


def test_parts_of_other_names_are_added(empty, look):
    httpx.post(f"{empty.url}/learn", json={"text": {"tags": "ice"}, "classes": ["sports"]})
    page = look(empty)
    page.get_by_role("button", name="Title and body apart").click()
    page.get_by_role("button", name="Add a part").click()
    page.get_by_label("Name of part 3").fill("tags")
    page.get_by_label("tags", exact=True).fill("ice")
    expect(page.locator(".bars .name").first).to_have_text("sports")
    expect(page.locator("p.tinted")).to_have_text(["tags ice"])


def test_a_long_text_of_parts_that_waits_for_a_label_is_shown_cut(empty, look):
    long = {"title": "Ice hockey", "body": "goalie " * 1000}
    httpx.post(f"{empty.url}/rank", json={"text": long, "id": "m1"}).raise_for_status()
    page = look(empty, "review")
    shown = page.get_by_label("The instance to label").locator("p.text")
    expect(shown.first).to_have_text("title Ice hockey")
    expect(shown.last).to_contain_text("body goalie goalie")
    assert shown.last.inner_text().endswith("…")

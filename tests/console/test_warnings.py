"""Warnings of the service are shown wherever something was ranked or taught, and bad rows alone are
rejected."""

import csv
import json

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import as_csv, choose, ranked
from tests.console.test_fields import texts_of
from tests.console.test_import import teach

pytestmark = pytest.mark.slow  # needs chromium

LONG = "long" * 1025  # bytes, more than a name may have
TOO_LONG = (
    "A word of the text is longer than a name may be (4096 bytes, with its field) and is left out."
)
NO_WORDS = "The text has no words."


def lines_of(*objects):
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


def test_try_shows_the_warnings_of_a_ranking_and_of_an_event(taught, look):
    page = look(taught)
    box = page.get_by_label("Text of the message")
    warning = page.locator(".warning")
    box.fill("???")
    expect(warning).to_have_text(NO_WORDS)
    expect(page.locator(".nothing")).to_have_text("No word of this text is known yet.")
    box.fill("where is my card")
    expect(page.locator(".bars li").first).to_be_visible()
    expect(warning).to_have_count(0)
    box.fill(f"where is my card {LONG}")
    expect(warning).to_have_text(TOO_LONG)
    page.locator(".bars button").first.click()
    expect(page.get_by_role("status").filter(has=page.locator(".moved"))).to_contain_text(TOO_LONG)


def test_review_says_the_warnings_of_its_events(taught, look):
    ranked(taught.url, "where is my card")
    page = look(taught, "review")
    page.get_by_label("Your name").fill("anna")
    page.keyboard.press("Enter")

    def with_warning(route):
        answer = route.fetch()
        warnings = [{"detail": "The instance with this id has no features.", "pointer": "#/id"}]
        route.fulfill(response=answer, json=answer.json() | {"warnings": warnings})

    page.route("**/learn", with_warning)
    page.reload()  # all of its requests come there
    expect(page.locator(".chips button").first).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The message with this id has no words.")).to_be_visible()


def test_import_collects_warnings_by_their_kind(empty, look):
    texts = ["a puck", "???", LONG, f"a {LONG}", "!", f"b {LONG}", *["ice"] * 60, "..."]
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text", "label"], *([text, "x"] for text in texts)]))
    table = page.get_by_role("region", name="Warnings")
    expected = [
        f"{NO_WORDS} 3 3",
        f"{TOO_LONG} No other word remains. 1 4",
        f"{TOO_LONG} 2 5",
    ]
    teach(page)
    expect(table.locator("tbody tr")).to_have_count(3)
    assert [
        each.replace("\t", " ") for each in table.locator("tbody tr").all_inner_texts()
    ] == expected
    with page.expect_download():
        page.get_by_role("button", name="Save suggestions as CSV").click()
    expect(page.get_by_text("67 rows read: suggested classes for 67")).to_be_visible()
    assert [
        each.replace("\t", " ") for each in table.locator("tbody tr").all_inner_texts()
    ] == expected


def test_many_kinds_of_warnings_are_counted_together(empty, look):
    rows = [[" ".join([LONG] * number), "x"] for number in range(1, 15)]
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text", "label"], *rows]))
    teach(page)
    last = page.get_by_role("region", name="Warnings").locator("tbody tr").nth(10)
    expect(last).to_have_text("other warnings412")


def test_a_bad_row_alone_is_rejected_when_it_is_taught_and_ranked(empty, look):
    fields = [{"title": "a", "body": str(number)} for number in range(6)]
    fields[1]["body"] = 7
    fields[2]["n" * 251] = "b"
    fields[3] |= {str(number): "c" for number in range(15)}
    fields[4]["title"] = "\ud800"
    page = look(empty, "import")
    choose(page, "a.jsonl", lines_of(*({"text": each, "label": "x"} for each in fields)))
    expect(page.get_by_label("Role of text")).to_have_value("text")
    notes = page.get_by_label("What the rows say")
    said = "1 row will be rejected, the first in line 2: the field body of text is a number"
    expect(notes).to_contain_text(f"To teach the file: {said}")
    expect(notes).to_contain_text(f"To save suggestions: {said}")
    rejected = page.get_by_label("Rejected lines").locator("tbody tr")
    reasons = (
        "2the field body of text is a number, not a text",
        f"3the field {'n' * 40} of the text: a field name has 251 bytes",
        "4a text has 1 to 16 fields, not 17",
        "5The body is not JSON",
    )
    teach(page)
    expect(page.get_by_text("6 rows read: learned 2, ")).to_be_visible()
    expect(rejected).to_have_count(4)
    for row, reason in zip(rejected.all(), reasons, strict=True):
        expect(row).to_contain_text(reason)
    assert texts_of(empty) == [fields[0], fields[5]]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save suggestions as CSV").click()
    with download.value.path().open(newline="", encoding="utf-8-sig") as file:
        found = list(csv.DictReader(file))
    assert [json.loads(each["text"]) for each in found] == [fields[0], fields[5]]
    expect(rejected).to_have_count(4)
    for row, reason in zip(rejected.all(), reasons, strict=True):
        expect(row).to_contain_text(reason)


def test_rows_without_a_class_are_ranked(empty, look):
    httpx.post(f"{empty.url}/learn", json={"text": "ice", "classes": ["x"]}).raise_for_status()
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text", "label"], ["ice", "x"], ["a puck", ""]]))
    notes = page.get_by_label("What the rows say")
    expect(notes).to_contain_text("1 row to teach: 1 class, 1 row without a class.")
    expect(notes).not_to_contain_text("rejected")
    with page.expect_download():
        page.get_by_role("button", name="Save suggestions as CSV").click()
    expect(page.get_by_text("2 rows read: suggested classes for 2")).to_be_visible()

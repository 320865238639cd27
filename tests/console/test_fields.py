"""Texts of fields, as title and body: imported, tried, listed and reviewed."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import as_csv, choose
from tests.console.test_import import teach

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
        page.get_by_label(f"Role of {name}").select_option("separate part of the text")
    expect(page.get_by_text("The same word in two of title, body counts")).to_be_visible()
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
    page.get_by_label("Role of body").select_option("separate part of the text")
    expect(page.get_by_text("A row is one text, parts of a text")).to_be_visible()
    expect(page.get_by_role("button", name="Teach the file")).to_be_disabled()


def test_a_part_alone_is_said_to_need_its_name(empty, look):
    page = look(empty, "import")
    choose(page, "messages.csv", as_csv([["body", "label"], ["a puck", "sports"]]))
    page.get_by_label("Role of body").select_option("separate part of the text")
    expect(page.get_by_text("body is the only part: messages need")).to_be_visible()
    expect(page.get_by_text("The same word in two of")).to_have_count(0)
    mail = json.dumps({"mail": FIELDS, "label": "sports"}).encode()
    choose(page, "mails.jsonl", mail)
    page.get_by_label("Role of mail").select_option("separate part of the text")
    expect(page.get_by_text("Teach the first row")).to_be_visible()
    expect(page.get_by_text("The same word in two of")).to_have_count(0)
    expect(page.get_by_text("is the only part")).to_have_count(0)


def test_exported_events_are_imported_with_their_parts(empty, look):
    lines = [{"text": FIELDS, "classes": ["sports"]}, {"text": "a card", "classes": ["bank"]}]
    page = look(empty, "import")
    choose(page, "events.jsonl", "".join(json.dumps(each) + "\n" for each in lines).encode())
    expect(page.get_by_label("Role of text")).to_have_value("text")
    teach(page)
    assert texts_of(empty) == [FIELDS, "a card"]


@pytest.mark.parametrize("role", ["text", "field"])
def test_fields_of_a_column_of_another_name_are_a_text(empty, look, role):
    lines = [{"mail": FIELDS, "label": "sports"}, {"mail": {"body": "a card"}, "label": "bank"}]
    page = look(empty, "import")
    choose(page, "mails.jsonl", "".join(json.dumps(each) + "\n" for each in lines).encode())
    page.get_by_role("button", name="Take these roles").click()
    expect(page.get_by_label("Role of mail")).to_have_value("text")
    page.get_by_label("Role of mail").select_option(role)
    teach(page)
    expect(page.get_by_text("learned 2, skipped 0 duplicates")).to_be_visible()
    assert texts_of(empty) == [FIELDS, {"body": "a card"}]


def test_fields_and_another_column_of_a_text_are_refused_with_the_way_on(empty, look):
    page = look(empty, "import")
    line = {"subject": "a puck", "mail": FIELDS, "label": "sports"}
    choose(page, "mails.jsonl", json.dumps(line).encode() + b"\n")
    for role in ("text", "field"):
        for name in ("subject", "mail"):
            page.get_by_label(f"Role of {name}").select_option(role)
        expect(page.get_by_text("1 row will be rejected").first).to_contain_text(
            "mail has the fields of a whole text: give no other column the role text"
        )


def test_title_and_body_are_ranked_apart_and_put_together_again(empty, look):
    for label, title in (("sports", "hockey"), ("bank", "card")) * 3:
        body = {"text": {"title": title, "body": "saved"}, "classes": [label]}
        httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page = look(empty)
    page.get_by_label("Text of the message").fill("hockey")
    page.get_by_role("button", name="Separate title and body").click()
    page.get_by_label("title", exact=True).fill("card")
    expect(page.locator(".bars .name").first).to_have_text("bank")
    tinted = page.locator("p.tinted")
    expect(tinted).to_have_text(["title card", "body hockey"])
    expect(tinted.locator("mark")).to_have_text(["card"])
    page.locator(".bars .name").first.click()
    expect(page.locator(".moved")).to_contain_text("bank was suggestion no. 1, now no. 1")
    assert texts_of(empty)[-1] == {"title": "card", "body": "hockey"}
    page.get_by_role("button", name="One text again").click()
    expect(page.get_by_label("Text of the message")).to_have_value("card hockey")


def test_parts_of_other_names_are_added(empty, look):
    page = look(empty)
    page.get_by_role("button", name="Separate title and body").click()
    page.get_by_role("button", name="Add a part").click()
    expect(page.get_by_label("Name of part 3")).to_be_focused()
    httpx.post(f"{empty.url}/learn", json={"text": {"tags": "ice"}, "classes": ["sports"]})
    page.get_by_label("Name of part 3").fill("tags")
    page.get_by_label("tags", exact=True).fill("ice")
    expect(page.locator(".bars .name").first).to_have_text("sports")
    expect(page.locator("p.tinted")).to_have_text(["tags ice"])


def test_the_parts_offered_have_the_names_that_were_taught(empty, look):
    for label, title in (("sports", "hockey"), ("bank", "card")) * 3:
        body = {"text": {"Body": "saved", "Title": title}, "classes": [label]}
        httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    httpx.post(f"{empty.url}/learn", json={"text": "a goal", "classes": ["sports"]})
    page = look(empty)
    hint = page.get_by_text("The newest texts with parts have Title, Body.")
    page.get_by_label("Text of the message").fill("hello")
    expect(page.get_by_text("No word of this text is known yet")).to_be_visible()
    expect(hint).to_be_visible()
    page.get_by_label("Text of the message").fill("saved")
    page.get_by_role("button", name="Separate title and body").click()
    names = page.get_by_label("Name of part")
    expect(names).to_have_count(2)
    assert [each.input_value() for each in names.all()] == ["Title", "Body"]
    expect(page.get_by_label("Body", exact=True)).to_have_value("saved")
    labels = [page.get_by_text(each, exact=True).first for each in ("Name of part 2", "Body")]
    tops = [each.bounding_box()["y"] for each in labels]
    assert tops[0] == tops[1]
    page.get_by_label("Title", exact=True).fill("card")
    expect(page.locator(".bars .name").first).to_have_text("bank")
    expect(hint).to_have_count(0)
    names.first.fill("title")
    expect(hint).to_be_visible()


def test_the_parts_taught_meanwhile_are_said_if_nothing_is_known(empty, look):
    page = look(empty)
    page.get_by_role("button", name="Separate title and body").click()
    body = {"text": {"Subject": "hockey"}, "classes": ["sports"]}
    httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page.get_by_label("title", exact=True).fill("hockey")
    expect(page.get_by_text("No word of this text is known yet")).to_be_visible()
    expect(page.get_by_text("The newest texts with parts have Subject.")).to_be_visible()


def test_the_usual_parts_are_offered_without_a_history(serve, look):
    page = look(serve(history=False))
    page.get_by_label("Text of the message").fill("a puck")
    page.get_by_role("button", name="Separate title and body").click()
    expect(page.get_by_label("title", exact=True)).to_have_value("")
    expect(page.get_by_label("body", exact=True)).to_have_value("a puck")


def test_a_long_text_of_parts_that_waits_for_a_label_is_shown_cut(empty, look):
    long = {"title": "Ice hockey", "body": "goalie " * 1000}
    httpx.post(f"{empty.url}/rank", json={"text": long, "id": "m1"}).raise_for_status()
    page = look(empty, "review")
    page.get_by_label("Your name").fill("anna")
    page.keyboard.press("Enter")
    shown = page.get_by_label("The message to label").locator("p.text")
    expect(shown.first).to_have_text("title Ice hockey")
    expect(shown.last).to_contain_text("body goalie goalie")
    cut = page.get_by_label("The message to label").get_by_text("… a part of it is cut")
    expect(cut).to_be_visible()


def test_parts_without_a_name_of_their_own_are_not_ranked(empty, look):
    page = look(empty)
    page.get_by_role("button", name="Separate title and body").click()
    page.get_by_label("title", exact=True).fill("a puck")
    httpx.post(f"{empty.url}/learn", json={"text": {"my tags": "ice"}, "classes": ["sports"]})
    expect(page.locator("p.tinted")).to_have_text(["title a puck"])
    page.get_by_role("button", name="Add a part").click()
    name = page.get_by_label("Name of part 3")
    expect(name).to_be_focused()
    page.get_by_label("Text", exact=True).fill("ice")
    asked = []
    page.on("request", lambda each: asked.append(each.url) if "/rank" in each.url else None)
    said = page.get_by_role("alert")
    for typed, fault in (
        ("  ", "Part 3 has no name. Name it, or take its text away."),
        (" title", "Another part is named title too. Choose another name for part 3."),
    ):
        name.fill(typed)
        expect(said.filter(has_text=fault)).to_be_visible()
        expect(page.locator("p.tinted")).to_have_count(0)
        expect(name).to_have_attribute("aria-invalid", "true")
    page.get_by_role("link", name="Operate").click()
    page.get_by_role("heading", name="Operate").wait_for()
    page.get_by_role("link", name="Try").click()
    expect(name).to_have_value(" title")
    page.wait_for_timeout(300)
    assert asked == []
    name.fill("")
    name.press_sequentially("my tags")
    expect(page.locator("p.tinted")).to_have_text(["title a puck", "my tags ice"])
    expect(page.locator(".bars .name").first).to_have_text("sports")
    expect(said.filter(has_text="part")).to_have_count(0)
    page.get_by_label("title", exact=True).fill("")
    name.fill("title")  # of an empty part there is nothing to lose
    expect(page.locator("p.tinted")).to_have_text(["title ice"])


def test_the_focus_goes_to_the_new_boxes(empty, look):
    page = look(empty)
    expect(page.get_by_label("Text of the message")).to_be_focused()
    page.get_by_role("button", name="Separate title and body").press("Enter")
    expect(page.get_by_label("title", exact=True)).to_be_focused()
    page.get_by_role("button", name="Add a part").press("Enter")
    expect(page.get_by_label("Name of part 3")).to_be_focused()
    page.get_by_role("button", name="One text again").press("Enter")
    expect(page.get_by_label("Text of the message")).to_be_focused()

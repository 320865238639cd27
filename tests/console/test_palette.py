"""The search of the console over pages, classes and messages, and the name of the service."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import settled, severe_faults

pytestmark = pytest.mark.slow  # needs chromium


def test_a_page_and_a_class_are_found_by_the_keyboard(taught, look):
    page = look(taught, "operate")
    settled(page, "operate")
    page.keyboard.press("/")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    page.keyboard.type("im")
    expect(page.get_by_role("option").first).to_have_text("Page Import")
    assert severe_faults(page) == []
    page.keyboard.press("Enter")
    settled(page, "import")
    page.keyboard.press("Control+k")
    page.keyboard.type("card_a")
    expect(page.get_by_role("option", name="card_arrival")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    first = page.get_by_role("option").first.inner_text().removeprefix("Class ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=first, exact=True)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_class_is_found_whether_its_first_letter_is_a_capital_or_not(empty, look):
    for name in ("Abfall", "abwasser"):
        body = {"text": "a bin", "classes": [name]}
        httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page = look(empty, "operate")
    settled(page, "operate")
    for typed in ("abf", "Abw"):
        page.keyboard.press("/")
        page.keyboard.type(typed)
        name = {"abf": "Abfall", "Abw": "abwasser"}[typed]
        expect(page.get_by_role("option", name=f"Class {name}")).to_be_visible()
        page.keyboard.press("Escape")


def test_a_slash_that_is_typed_into_a_field_is_a_letter(taught, look):
    page = look(taught)
    page.get_by_label("Text of the message").fill("either")
    page.get_by_label("Text of the message").press("/")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_messages_are_found_by_their_words(taught, look):
    page = look(taught, "operate")
    page.get_by_role("button", name="Search").click()
    page.keyboard.type("lost my card")
    page.get_by_role("option", name="with “lost my card”").click()
    settled(page, "events")
    expect(page.get_by_label("Words", exact=True)).to_have_value("lost my card")
    expect(page.locator(".list > li").first).to_contain_text("lost my card")


def test_the_service_has_the_name_that_it_was_given(serve, look):
    page = look(serve(title="City of Bern, mail"), "import")
    expect(page.get_by_role("link", name="City of Bern, mail")).to_be_visible()
    expect(page).to_have_title("Import · City of Bern, mail")

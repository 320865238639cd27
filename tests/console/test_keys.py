"""Keys: asked for once; a rank key sees, a learn key teaches, an admin key operates."""

import pytest
from playwright.sync_api import expect

from tests.console.looking import PAGES, settled, severe_faults
from tests.service.serving import KEYS

pytestmark = pytest.mark.slow  # needs chromium


@pytest.fixture
def keyed(serve):
    return serve(taught=300, **KEYS)


def enter(page, key):
    page.get_by_label("Access key").fill(key)
    page.get_by_role("button", name="Continue").click()


def test_a_key_is_asked_for_once_in_a_tab(keyed, look):
    page = look(keyed)
    expect(page.get_by_role("heading", name="Enter an access key")).to_be_visible()
    assert severe_faults(page) == []
    enter(page, "wrong")
    expect(page.get_by_role("alert")).to_have_text("This key is unknown.")
    enter(page, "a")
    settled(page, "try")
    expect(page.locator(".key")).to_contain_text("admin key")
    page.reload()
    settled(page, "try")
    assert page.evaluate("localStorage.length") == 0
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Enter an access key")).to_be_visible()


def test_a_rank_key_sees(keyed, look):
    page = look(keyed)
    enter(page, "r")
    settled(page, "try")
    page.get_by_label("Text of the message").fill("where is my card")
    expect(page.locator(".bars li").first).to_be_visible()
    expect(page.locator(".bars button").first).to_be_disabled()
    expect(page.get_by_text("To teach, a key of the scope learn is needed.")).to_be_visible()
    for name in PAGES:
        page.goto(f"{keyed.url}/console#/{name}")
        settled(page, name)
        page.wait_for_load_state("networkidle")
        assert page.locator(".problem").count() == 0, name
        assert severe_faults(page) == [], name


def test_a_learn_key_teaches_and_corrects(keyed, look):
    page = look(keyed)
    enter(page, "l")
    settled(page, "try")
    page.get_by_label("Text of the message").fill("where is my card")
    page.locator(".bars button").nth(1).click()
    expect(page.locator(".moved")).to_contain_text("was suggestion no. 2")
    expect(page.locator(".pulse")).to_have_attribute("data-seq", "301")
    expect(page.get_by_text("To undo it, a key of the scope admin is needed.")).to_be_visible()
    page.goto(f"{keyed.url}/console#/events")
    item = page.locator(".list > li").first
    expect(item.get_by_role("button", name="Correct")).to_be_enabled()
    expect(item.get_by_role("button", name="Erase")).to_be_disabled()


def test_an_admin_key_operates(keyed, look):
    page = look(keyed, "operate")
    enter(page, "a")
    page.get_by_role("button", name="Take one now").click()
    expect(page.get_by_text("A snapshot of change 300 is taken")).to_be_visible()
    page.get_by_text("Take a snapshot as curl").click()
    shown = page.locator(".call[open] pre").first.inner_text()
    assert "$MANYCLASS_KEY" in shown
    assert "Bearer a" not in shown

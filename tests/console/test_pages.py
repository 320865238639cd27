"""Every page: accessible, in light and dark, with a keyboard and on a narrow screen; small."""

import pytest
from playwright.sync_api import expect

from tests.console.looking import PAGES, overflow, ranked, settled, severe_faults

pytestmark = pytest.mark.slow  # needs chromium

FIRST_PAGE_BYTES = 150_000
NARROW = {"width": 380, "height": 700}


@pytest.fixture
def lively(serve):
    """Return a service with two learners, events and instances to review."""
    served = serve(taught=600, shadows=("ff",))
    ranked(served.url, "my card is lost", "the money is gone", "who are you")
    return served


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(lively, look, scheme):
    page = look(lively, color_scheme=scheme)
    for name in PAGES:
        page.goto(f"{lively.url}/console#/{name}")
        settled(page, name)
        page.wait_for_load_state("networkidle")
        if name == "try":
            page.get_by_label("Text of the message").fill("my card is lost")
            page.locator(".bars li").first.wait_for()
        for summary in page.locator("main summary").all():
            summary.click()
        assert severe_faults(page) == [], (name, scheme)


def test_axe_finds_nothing_serious_in_details_and_dialogs(lively, look):
    page = look(lively, "names?class=card_arrival")
    page.get_by_role("button", name="Forget").click()
    assert severe_faults(page) == []
    page.goto(f"{lively.url}/console#/names?feature=card")
    page.get_by_label("Classes that it speaks most for or against").wait_for()
    assert severe_faults(page) == []
    page.goto(f"{lively.url}/console#/quality")
    page.get_by_text("Count again").wait_for()
    page.get_by_role("button", name="Compare").first.click()
    page.get_by_text("Examples taught as").wait_for()
    assert severe_faults(page) == []
    page.goto(f"{lively.url}/console#/events")
    page.get_by_role("button", name="Correct").first.click()
    assert severe_faults(page) == []


def test_no_page_is_wider_than_a_phone(lively, look):
    page = look(lively, viewport=NARROW)
    for name in (*PAGES, "names?class=card_arrival", "names?feature=card"):
        page.goto(f"{lively.url}/console#/{name}")
        settled(page, name.split("?")[0])
        page.wait_for_load_state("networkidle")
        assert overflow(page) <= 0, name


def test_the_first_page_is_small(browser, lively):
    page = browser.new_page()
    sizes = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    page.goto(f"{lively.url}/console")
    settled(page, "try")
    page.wait_for_load_state("networkidle")
    files = {url: size for url, size in sizes.items() if "/console" in url}
    page.close()
    assert len(files) > 10
    assert sum(files.values()) <= FIRST_PAGE_BYTES


def test_the_pages_are_reached_by_the_keyboard(lively, look):
    page = look(lively, "operate")
    settled(page, "operate")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the page")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Import")).to_be_focused()
    page.keyboard.press("Enter")
    settled(page, "import")
    expect(page.locator("main")).to_be_focused()
    assert page.title() == "Import · manyclass"
    expect(page.get_by_role("link", name="Import")).to_have_attribute("aria-current", "page")


def test_teaching_needs_no_pointer(lively, look):
    page = look(lively)
    expect(page.get_by_label("Text of the message")).to_be_focused()
    page.keyboard.type("my card is lost")
    expect(page.locator(".tinted")).to_have_text("my card is lost")  # rankings of "my" came before
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    second = page.locator(".bars button").nth(1)
    expect(second).to_be_focused()
    name = second.locator(".name").inner_text()
    expect(page.get_by_text("Tinted words speak for").locator("strong")).to_have_text(name)
    page.keyboard.press("Enter")
    expect(page.locator(".moved")).to_contain_text(f"{name} was suggestion no. 2")


def test_a_service_that_ends_is_seen_to_end(serve, browser):
    served = serve()
    page = browser.new_page()
    page.goto(f"{served.url}/console")
    expect(page.locator(".pulse")).to_have_text("ready")
    served.stop()
    expect(page.locator(".pulse")).to_have_text("no connection", timeout=15_000)
    page.close()


def test_below_a_path_of_a_proxy_every_address_is_relative(look, lively, browser):
    page = browser.new_page()
    page.route(
        "**/some/path/**",
        lambda route: route.fulfill(
            response=page.request.fetch(
                route.request.url.replace("/some/path", ""),
                method=route.request.method,
                headers=route.request.headers,
                data=route.request.post_data,
            )
        ),
    )
    page.goto(f"{lively.url}/some/path/console#/names?class=card_arrival")
    page.get_by_label("Words that speak most for it").wait_for()
    page.unroute_all(behavior="wait")  # the page polls: a call may be under way
    page.close()

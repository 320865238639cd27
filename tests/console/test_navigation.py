"""The row of pages on a phone: it shows that there is more, and the page and the link in use."""

import pytest
from playwright.sync_api import expect

from tests.console.looking import PAGES, settled

pytestmark = pytest.mark.slow  # needs chromium

NARROW = {"width": 380, "height": 700}
FADE = 40  # pixels in which a link is hard to read


def sides(page):
    """Return the sides on which the row of pages fades."""
    row = page.get_by_role("navigation", name="Pages")
    style = row.evaluate(
        "row => ['--left', '--right'].map(each => getComputedStyle(row).getPropertyValue(each))"
    )
    return [side for side, size in zip(("left", "right"), style, strict=True) if size != "0px"]


def expect_in_view(page, link, faded):
    """Wait until a link lies in the row of pages, apart from the sides on which it fades."""
    row = page.get_by_role("navigation", name="Pages").bounding_box()
    begin = row["x"] + FADE * ("left" in faded)
    end = row["x"] + row["width"] - FADE * ("right" in faded)
    page.wait_for_function(
        """([link, begin, end]) => {
          const { left, right } = link.getBoundingClientRect();
          return left >= begin && right <= end;
        }""",
        arg=[link.element_handle(), begin, end],
    )


def test_the_row_of_pages_fades_where_it_goes_on(empty, look):
    page = look(empty, "try", viewport=NARROW)
    settled(page, "try")
    row = page.get_by_role("navigation", name="Pages")
    expect(row).to_have_class("more-right")
    assert sides(page) == ["right"]
    row.evaluate("row => row.scrollTo(100, 0)")
    expect(row).to_have_class("more-left more-right")
    assert sides(page) == ["left", "right"]
    row.evaluate("row => row.scrollTo(row.scrollWidth, 0)")
    expect(row).to_have_class("more-left")
    assert sides(page) == ["left"]
    page.set_viewport_size({"width": 1000, "height": 700})
    expect(row).to_have_class("")
    assert row.evaluate("row => getComputedStyle(row).maskImage") == "none"


def test_the_page_in_view_stands_in_the_row(empty, look):
    page = look(empty, "try", viewport=NARROW)
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(links).to_have_count(len(PAGES))
    assert len({link.bounding_box()["y"] for link in links.all()}) == 1
    for name in PAGES:
        page.goto(f"{empty.url}/console#/{name}")
        settled(page, name)
        present = page.locator("nav [aria-current]")
        expect(present).to_have_count(1)
        expect_in_view(page, present, sides(page))
    page.set_viewport_size({"width": 320, "height": 700})  # a phone that is turned
    expect_in_view(page, page.locator("nav [aria-current]"), ["left"])


def test_a_link_that_has_the_focus_stands_in_the_row(empty, look):
    page = look(empty, "try", viewport=NARROW)
    settled(page, "try")
    page.get_by_role("link", name="manyclass").focus()
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    for at in range(len(PAGES)):
        page.keyboard.press("Tab")
        expect(links.nth(at)).to_be_focused()
        expect_in_view(page, links.nth(at), ["left"] * (at > 2) + ["right"] * (at < len(PAGES) - 2))
    page.keyboard.press("Enter")
    settled(page, PAGES[-1])


def test_a_link_at_the_edge_stays_under_the_pointer(empty, look):
    page = look(empty, "try", viewport=NARROW)
    settled(page, "try")
    box = page.get_by_role("link", name="Classes").bounding_box()
    assert box["x"] + box["width"] > NARROW["width"]
    page.mouse.click(box["x"] + 5, box["y"] + box["height"] / 2)
    settled(page, "names")


def test_an_opened_page_begins_at_its_top(taught, look):
    page = look(taught, "events", viewport=NARROW)
    settled(page, "events")
    page.locator(".list > li").nth(19).wait_for()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.evaluate("location.hash = '#/operate'")
    settled(page, "operate")
    expect(page.locator("main")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("navigation", name="Pages")).to_be_in_viewport()

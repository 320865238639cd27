"""The look of the console: bars of probabilities, texts of charts, edges of tables, empty pages."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.looking import settled

pytestmark = pytest.mark.slow  # needs chromium

BODY = 16  # pixels of a letter
DATE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d$")


def typed(page, text):
    """Type a text, and return the items of its suggestions."""
    page.get_by_label("Text of the message").fill(text)
    expect(page.locator(".tinted")).to_have_text(text)
    items = page.locator(".bars li")
    items.first.wait_for()
    return items


def test_a_bar_is_as_long_as_its_probability(taught, look):
    page = look(taught, reduced_motion="reduce")
    items = typed(page, "when will my card come")
    expect(items.locator(".share")).to_have_count(items.count())
    for item in items.all():
        percent = int(item.locator(".share").inner_text().removesuffix(" %"))
        bar, row = (item.locator(each).bounding_box() for each in (".bar", "button"))
        assert 100 * bar["width"] / row["width"] == pytest.approx(percent, abs=1)
    assert items.locator(".bar.line").count() == 0


def test_without_probabilities_a_line_shows_the_strength(serve, look):
    page = look(serve(taught=50), reduced_motion="reduce")
    items = typed(page, "when will my card come")
    expect(page.locator(".confidence")).to_contain_text("Until then a line shows how strongly")
    assert items.locator(".share").count() == 0
    assert {bar.bounding_box()["height"] for bar in items.locator(".bar").all()} == {3}


def test_below_the_limit_and_without_one_a_person_decides(taught, look):
    page = look(taught)
    points = {"newest": {"targets": [{"target": 0.95, "point": None}]}}
    page.route("**/operating-points*", lambda route: route.fulfill(json=points))
    page.reload()
    typed(page, "when will my card come")
    sure = page.locator(".confidence")
    expect(sure).to_contain_text("Not sure: let a person decide.")
    expect(sure).to_contain_text("No limit makes 95 % of the answers right yet")
    points["newest"]["targets"][0]["point"] = {"limit": 0.001}
    page.reload()
    typed(page, "when will my card come")
    expect(sure).to_contain_text("Sure enough.")
    expect(sure).not_to_contain_text("let a person decide")


def test_a_score_stands_behind_its_bar(taught, look):
    page = look(taught, "names?class=card_arrival")
    items = page.get_by_label("Words that speak most for it").locator("li")
    expect(items).to_have_count(30)
    for item in (items.first, items.last):
        bar, score = (item.locator(each).bounding_box() for each in (".weight", ".score"))
        assert 0 < score["x"] - bar["x"] - bar["width"] < BODY
    assert items.last.locator(".weight").bounding_box()["width"] < bar["x"]


@pytest.mark.parametrize("width", [1000, 380])
def test_the_texts_of_charts_are_as_small_as_others(taught, look, width):
    page = look(taught, "live", viewport={"width": width, "height": 700})
    texts = page.locator("figure.chart text")
    expect(page.locator("figure.chart", has_text="per second").locator("polyline")).to_have_count(
        2, timeout=15_000
    )
    assert texts.count() > 10
    for text in texts.all():
        assert 0.6 * BODY < text.bounding_box()["height"] <= 1.1 * BODY
    edges = page.locator("figure.chart", has_text="Accuracy of the suggestions").locator("svg")
    box = edges.bounding_box()
    last = edges.locator("text").last.bounding_box()
    assert box["x"] + box["width"] - last["x"] - last["width"] == pytest.approx(12, abs=2)


def test_the_accuracy_of_the_page_live_has_dates(taught, look):
    page = look(taught, "live")
    chart = page.locator("figure.chart", has_text="Accuracy of the suggestions")
    expect(chart.locator("polyline")).to_have_count(3)
    for at in (-2, -1):
        expect(chart.locator("text").nth(at)).to_have_text(DATE)


def test_a_table_that_scrolls_shows_it_at_its_edges(taught, look):
    page = look(taught, "live", viewport={"width": 380, "height": 700})
    table = page.locator(".scroll[aria-label=Learners]")
    expect(table).to_have_css("background-attachment", "local, local, scroll, scroll")
    assert table.evaluate("each => each.scrollWidth > each.clientWidth")


@pytest.mark.parametrize("name", ["try", "review", "quality", "names", "live", "events"])
def test_an_empty_page_says_what_to_do(empty, look, name):
    page = look(empty, name)
    settled(page, name)
    if name == "review":
        page.get_by_label("Your name").fill("Anna")
        page.keyboard.press("Enter")
    expect(page.locator("main").get_by_role("link", name="import").first).to_be_visible()
    assert "0.0 %" not in page.locator("table").all_inner_texts()


def test_a_page_with_a_fault_says_so_and_is_shown_again(browser, taught):
    page = browser.new_page()
    faults = []
    page.on("console", lambda message: faults.append(message.text))
    page.goto(f"{taught.url}/console#/operate")
    settled(page, "operate")
    page.route("**/classes?*", lambda route: route.fulfill(json={"classes": [None], "next": None}))
    page.goto(f"{taught.url}/console#/names")
    alert = page.get_by_role("alert").filter(has_text="This page cannot be shown:")
    expect(alert).to_be_visible()
    assert any("TypeError" in each for each in faults)
    page.unroute_all()
    page.get_by_role("button", name="Show it again").click()
    expect(page.get_by_role("link", name="card_arrival")).to_be_visible()
    expect(alert).to_have_count(0)
    page.goto(f"{taught.url}/console#/operate")
    settled(page, "operate")
    page.close()

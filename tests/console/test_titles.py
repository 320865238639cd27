"""Titles of classes: shown in front of the names, found in every picker, changed and taken back."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import overflow, ranked, settled, severe_faults

pytestmark = pytest.mark.slow  # needs chromium

TITLES = {
    "card_arrival": ("When does my card come?", ["Kartenlieferung"]),
    "card_linking": ("Link a card", []),
    "new_class": ("Brandneu", ["Über Neues"]),
}


@pytest.fixture
def titled(serve):
    """Return a service with titles of some classes, one of which has no label yet."""
    served = serve(taught=600)
    classes = [
        {"class": name, "title": title, "alt_labels": others, "description": f"About {name}."}
        for name, (title, others) in TITLES.items()
    ]
    httpx.post(f"{served.url}/classes", json={"classes": classes}).raise_for_status()
    return served


def named(name):
    return f"{TITLES[name][0]} {name}"


def described(served, name):
    shown = httpx.get(f"{served.url}/classes/{name}").json()
    return shown["title"], shown["description"], shown["alt_labels"]


def test_suggestions_have_the_title_in_front_of_the_name(titled, look):
    page = look(titled)
    page.get_by_label("Text of the message").fill("when will my card arrive")
    first = page.locator('.bars li[data-class="card_arrival"]')
    expect(first.locator(".name")).to_have_text(named("card_arrival"))
    expect(first.locator("button")).to_have_attribute(
        "title", "Teach: this is When does my card come?"
    )
    first.locator("button").hover()
    expect(page.get_by_text("Tinted words speak")).to_contain_text("When does my card come?")
    first.locator("button").click()
    expect(page.locator(".moved")).to_contain_text(named("card_arrival"))


def test_a_class_is_picked_by_its_title_or_another_name(titled, look):
    page = look(titled)
    page.get_by_label("Text of the message").fill("when will my card arrive")
    field = page.get_by_label("Another class")
    options = page.locator("datalist option")
    field.fill("does my")
    expect(options).to_have_count(1)
    expect(options).to_have_attribute("value", "card_arrival")
    expect(options).to_have_attribute("label", "When does my card come?")
    field.fill("kartenl")
    expect(options).to_have_attribute("label", "When does my card come? · Kartenlieferung")
    field.fill("When does my card come?")  # typed whole, it is not the name of a new class
    page.get_by_role("button", name="Teach", exact=True).click()
    question = page.get_by_role("group", name="A new class")
    question.get_by_role("button", name=named("card_arrival")).click()
    expect(page.locator(".moved")).to_contain_text(named("card_arrival"))


def test_the_search_over_everything_finds_titles(titled, look):
    page = look(titled)
    page.get_by_role("button", name="Search").click()
    page.get_by_label("Find a page, a class or a message").fill("uber neu")
    option = page.get_by_role("option", name=named("new_class"))
    option.click()
    expect(page.get_by_role("heading", name=named("new_class"))).to_be_visible()
    expect(page.get_by_text("No label yet")).to_be_visible()


def test_lists_of_classes_and_messages_show_titles(titled, look):
    page = look(titled, "names")
    rows = page.get_by_label("Classes", exact=True).locator("tbody tr")
    page.get_by_label("Find a class").fill("BRAND")
    expect(rows).to_have_text([f"{named('new_class')}no label yet"])
    expect(page.get_by_label("Order")).to_be_disabled()
    page = look(titled, "events?class=card_arrival")
    expect(page.locator(".list .tag").first).to_have_text(named("card_arrival"))
    page.get_by_role("button", name="Correct").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Its label is When does my card come?.")
    page = look(titled, "names?feature=card")
    expect(page.get_by_role("link", name=named("card_linking"))).to_be_visible()


def test_quality_shows_titles_and_finds_classes_by_them(titled, look):
    page = look(titled, "quality")
    page.get_by_label("Find a class").fill("kartenlieferung")
    rows = page.locator(".by-class tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.locator("a").first).to_have_text(named("card_arrival"))


def test_review_shows_titles_on_chips_and_in_sentences(titled, look):
    ranked(titled.url, "when will my card arrive")
    page = look(titled, "review")
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    chip = page.locator(".chip", has_text="When does my card come?")
    expect(chip.locator(".name")).to_have_text(named("card_arrival"))
    chip.click()
    page.get_by_role("button", name="Send (Enter)").click()
    expect(page.get_by_text("Labelled as When does my card come?.")).to_be_visible()


def test_places_in_the_taxonomy_are_shown_by_titles_and_found_by_them(titled, look):
    parents = {"card_arrival": "k-1", "card_linking": "k-1"}
    for body in ({"parents": parents}, {"classes": [{"class": "k-1", "title": "Plastikkarten"}]}):
        httpx.post(f"{titled.url}/classes", json=body).raise_for_status()
    ranked(titled.url, "when will my card arrive")
    page = look(titled, "review")
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    chip = page.locator(".chip", has_text="When does my card come?")
    expect(chip.locator("> small")).to_have_text("Plastikkarten")
    page.keyboard.press("n")
    page.keyboard.type("plastik")
    option = page.locator('datalist option[value="card_linking"]')
    expect(option).to_have_attribute("label", "Link a card (Plastikkarten)")
    page = look(titled, "names?class=card_arrival")
    expect(page.get_by_role("link", name="All messages of When does my card come?")).to_be_visible()


def test_a_description_is_changed_and_taken_back(titled, look):
    before = described(titled, "card_arrival")
    page = look(titled, "names?class=card_arrival")
    expect(page.get_by_text("Other names: Kartenlieferung.")).to_be_visible()
    page.get_by_role("button", name="Describe").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_label("Title").fill(" Card on its way ")
    dialog.get_by_label("Description").fill("")
    dialog.get_by_label("Other names").fill("Kartenlieferung\n\n Lieferung \nLieferung")
    dialog.get_by_text("As curl and Python").click()
    expect(dialog.locator("pre").first).to_contain_text('"description":null')
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Card on its way card_arrival")).to_be_visible()
    assert described(titled, "card_arrival") == (
        "Card on its way",
        None,
        ["Kartenlieferung", "Lieferung"],
    )
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The former description is back.")).to_be_visible()
    expect(page.get_by_role("heading", name=named("card_arrival"))).to_be_visible()
    assert described(titled, "card_arrival") == before


def test_the_first_title_of_a_service_is_shown_at_once(taught, look):
    page = look(taught, "names?class=card_arrival")
    page.get_by_role("button", name="Describe").click()
    page.get_by_role("dialog").get_by_label("Title").fill("On its way")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".list .tag").first).to_have_text("On its way card_arrival")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("its title, description and other names")


def test_without_titles_none_are_asked_for(taught, look):
    page = look(taught)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{taught.url}/console#/events")
    expect(page.locator(".list .tag").first).to_be_visible()
    page.wait_for_timeout(200)
    assert not [each for each in asked if each.endswith("/titles")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["try", "names", "events", "quality", "names?class=card_arrival"])
def test_pages_with_titles_are_accessible(titled, look, scheme, name):
    page = look(titled, name, color_scheme=scheme)
    settled(page, name.partition("?")[0])
    if name == "try":
        page.get_by_label("Text of the message").fill("when will my card arrive")
        page.locator(".titled").first.wait_for()
    assert severe_faults(page) == []
    page.set_viewport_size({"width": 380, "height": 740})
    assert overflow(page) <= 0

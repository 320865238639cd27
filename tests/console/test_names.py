"""Classes and words: found by prefix, shown with weights and examples, renamed, forgotten."""

import httpx
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow  # needs chromium


def test_classes_are_found_by_their_names(taught, look):
    page = look(taught, "names")
    rows = page.get_by_label("Classes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Next classes").click()
    expect(rows).to_have_count(27)
    page.get_by_role("button", name="Previous classes").click()
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Next classes").click()
    page.get_by_label("Order").select_option("most messages first")
    expect(rows).to_have_count(50)
    most = httpx.get(f"{taught.url}/classes?order=events&limit=1").json()["classes"][0]
    expect(rows.first).to_have_text(f"{most['class']}{most['learned']}")
    page.get_by_role("button", name="Next classes").click()
    expect(rows).to_have_count(27)
    page.get_by_label("Find a class").fill("card_a")
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="card_arrival").click()
    expect(page.get_by_role("heading", name="card_arrival")).to_be_visible()
    expect(page.get_by_label("Words that speak most for it").locator("li")).to_have_count(30)
    expect(page.locator(".list > li .tag").first).to_have_text("card_arrival")
    expect(page.get_by_text("With ~ in front: a part of words")).to_be_visible()
    page.get_by_label("Words that speak most for it").get_by_role("link", name="~").first.click()
    expect(page.get_by_text("With ~ in front: a part of words")).to_be_visible()
    page = look(taught, "names?feature=card")
    expect(page.get_by_text("A word in")).to_be_visible()
    expect(page.get_by_text("With ~ in front")).to_have_count(0)


def test_a_feature_is_found_by_its_beginning_and_forgotten(taught, look):
    page = look(taught, "names")
    rows = page.get_by_label("Words", exact=True).locator("tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_label("Word begins with").fill("card")
    expect(rows.first).to_have_text(
        f"card{httpx.get(f'{taught.url}/features/card').json()['times_seen']}"
    )
    page.get_by_role("link", name="card", exact=True).click()
    detail = httpx.get(f"{taught.url}/features/card").json()
    expect(page.get_by_text(f"in {detail['times_seen']} messages")).to_be_visible()
    page.get_by_role("button", name="Forget").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"its links to {detail['outdegree']} classes")
    assert httpx.get(f"{taught.url}/features/card").status_code == 200
    dialog.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", name="Classes and words")).to_be_visible()
    assert httpx.get(f"{taught.url}/features/card").status_code == 404


def test_the_features_of_a_part_are_said_to_begin_with_its_name(empty, look):
    body = {"text": {"Body": "Invoice"}, "classes": ["bank"]}
    httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page = look(empty, "names")
    expect(
        page.get_by_text("Of a part kept apart, behind its name as it is written")
    ).to_be_visible()
    page.get_by_label("Word begins with").fill("Body:invoice")
    rows = page.get_by_label("Words", exact=True).locator("tbody tr")
    expect(rows).to_have_text(["Body:invoice1"])


def test_a_class_is_renamed_merged_and_forgotten(taught, look):
    page = look(taught, "names?class=card_arrival")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Its new name").fill("a/b ☃?")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="a/b ☃?")).to_be_visible()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Its new name").fill("country_support")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).not_to_be_empty()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("its links to 30 or more words")
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", name="Classes and words")).to_be_visible()
    assert httpx.get(f"{taught.url}/classes/a%2Fb%20%E2%98%83%3F").status_code == 404


def test_a_merge_says_on_the_page_of_the_other_class_how_many_messages_moved(taught, look):
    page = look(taught, "names?class=card_arrival")
    expect(page.get_by_role("heading", name="card_arrival")).to_be_visible()
    events = httpx.get(f"{taught.url}/events?class=card_arrival&limit=1000").json()["events"]
    httpx.delete(f"{taught.url}/events/{events[0]['key']}").raise_for_status()
    page.get_by_role("button", name="Merge into another").click()
    page.get_by_label("Into the class").fill("country_support")
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("heading", name="country_support")).to_be_visible(timeout=30_000)
    merged = f"card_arrival is merged into country_support, and {len(events) - 1} messages moved."
    expect(page.get_by_text(merged)).to_be_in_viewport()


def test_numbers_that_wait_for_a_rebuild_are_said_to_wait(taught, look):
    said = "The numbers include the former labels of 1 corrected or erased message until the next"
    page = look(taught, "names")
    expect(page.get_by_label("Classes", exact=True).locator("tbody tr")).to_have_count(50)
    expect(page.get_by_text(said)).to_have_count(0)
    httpx.delete(f"{taught.url}/events/seq:3").raise_for_status()
    expect(page.get_by_text(said)).to_be_visible(timeout=30_000)
    page = look(taught, "names?class=card_arrival")
    expect(page.get_by_text(said)).to_be_visible()
    httpx.post(f"{taught.url}/rebuild", timeout=60).raise_for_status()
    expect(page.get_by_text(said)).to_have_count(0, timeout=30_000)


def test_an_unknown_name_is_said_to_be_unknown(taught, look):
    page = look(taught, "names?feature=of%20no%20event")
    expect(page.get_by_role("alert").first).not_to_be_empty()


def test_the_taxonomy_opens_node_by_node(taught, look):
    tree = {"card_arrival": "cards", "lost_or_stolen_card": "cards", "cards": "bank"}
    httpx.post(f"{taught.url}/classes", json={"parents": tree}).raise_for_status()
    page = look(taught, "names")
    nodes = page.get_by_label("Taxonomy")
    expect(nodes.get_by_role("link")).to_have_text(["bank"])
    nodes.get_by_text("bank").locator("..").click(position={"x": 4, "y": 8})
    expect(nodes.get_by_role("link")).to_have_text(["bank", "cards"])
    nodes.locator("summary").nth(1).click(position={"x": 4, "y": 8})
    expect(nodes.get_by_role("link")).to_have_count(4)
    nodes.get_by_role("link", name="card_arrival").click()
    expect(page.get_by_text("Position in the taxonomy: bank")).to_be_visible()

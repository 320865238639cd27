"""Review: the least certain first, labelled by the keyboard."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import ranked

pytestmark = pytest.mark.slow  # needs chromium

TEXTS = ("the machine took my cash", "hello there friend", "why is my transfer so late")


@pytest.fixture
def waiting(taught):
    ranked(taught.url, *TEXTS)
    return taught


def listed(served):
    return httpx.get(f"{served.url}/review").json()["instances"]


def newest(served):
    return httpx.get(f"{served.url}/events", params={"limit": 1}).json()["events"][0]


def shown(page):
    return page.locator("main section.card")


def test_keys_choose_name_skip_and_undo(waiting, look):
    order = [each["id"] for each in listed(waiting)]
    page = look(waiting, "review")
    expect(shown(page)).to_have_attribute("data-id", order[0])
    second = page.locator(".bars .name").nth(1).inner_text()
    page.keyboard.press("2")
    expect(page.get_by_text(f"Taught as {second}")).to_be_visible()
    assert newest(waiting)["classes"] == [second]
    expect(shown(page)).to_have_attribute("data-id", order[1])
    page.keyboard.press("s")
    expect(shown(page)).to_have_attribute("data-id", order[2])
    page.keyboard.press("n")
    page.keyboard.type("s1 new class")  # in the field, keys are letters
    page.keyboard.press("Enter")
    expect(page.get_by_text("s1 new class is a new class.")).to_be_visible()
    expect(page.get_by_role("button", name="Create s1 new class")).to_be_focused()
    assert newest(waiting)["classes"] == [second]
    page.keyboard.press("Enter")
    expect(page.get_by_text("Taught as s1 new class")).to_be_visible()
    assert newest(waiting)["classes"] == ["s1 new class"]
    page.keyboard.press("u")
    expect(page.get_by_text("s1 new class is taken back")).to_be_visible()
    assert newest(waiting)["classes"] == [second]
    expect(shown(page)).to_have_attribute("data-id", order[2])
    first = page.locator(".bars .name").first.inner_text()
    page.keyboard.press("1")
    expect(page.get_by_text(f"Taught as {first}")).to_be_visible()
    assert newest(waiting)["classes"] == [first]
    page.get_by_role("button", name="Show the skipped ones again").click()
    expect(shown(page)).to_have_attribute("data-id", order[1])


def test_an_instance_that_the_service_dropped_is_taught_by_its_text(waiting, look):
    page = look(waiting, "review")
    text = shown(page).locator(".text").inner_text()
    page.keyboard.press("2")
    expect(page.get_by_text("Taught as")).to_be_visible()
    expect(shown(page).locator(".text")).not_to_have_text(text)
    page.keyboard.press("u")
    expect(shown(page).locator(".text")).to_have_text(text)

    def dropped(route):
        if "id" in route.request.post_data_json:
            route.fulfill(status=404, json={"detail": "dropped"})
        else:
            route.continue_()

    page.route("**/learn", dropped)
    first = page.locator(".bars .name").first.inner_text()
    page.keyboard.press("1")
    expect(page.get_by_text(f"Taught as {first}")).to_be_visible()
    event = newest(waiting)
    assert (event["text"], event["classes"]) == (text, [first])
    expect(shown(page).locator(".text")).not_to_have_text(text)


def test_a_key_that_is_held_labels_once(waiting, look):
    order = [each["id"] for each in listed(waiting)]
    page = look(waiting, "review")
    expect(shown(page)).to_have_attribute("data-id", order[0])
    page.keyboard.down("1")
    expect(shown(page)).to_have_attribute("data-id", order[1])
    page.keyboard.down("1")  # as it repeats
    page.wait_for_timeout(300)
    expect(shown(page)).to_have_attribute("data-id", order[1])


def test_keys_go_on_while_the_list_is_read_again(waiting, look):
    order = [each["id"] for each in listed(waiting)]
    page = look(waiting, "review")
    expect(shown(page)).to_have_attribute("data-id", order[0])
    with page.expect_request("**/review*"):
        page.route("**/review*", lambda route: None)  # the answer stays out
        event = {"text": "taught by another", "classes": ["elsewhere"]}
        assert httpx.post(f"{waiting.url}/learn", json=event).status_code == 200
    for following in order[1:]:
        page.keyboard.press("1")
        expect(shown(page)).to_have_attribute("data-id", following)
    page.unroute_all(behavior="ignoreErrors")


def test_a_text_is_shown_as_it_was_sent_and_instances_of_a_source_alone(waiting, look):
    body = {"text": "Where is MY card?", "source": "inbox"}
    assert httpx.post(f"{waiting.url}/rank", json=body).status_code == 200
    page = look(waiting, "review")
    expect(page.get_by_text("4 wait")).to_be_visible()
    page.get_by_label("Source").fill("inbox")
    expect(shown(page).locator(".text")).to_have_text("Where is MY card?")
    expect(page.get_by_text("1 wait")).to_be_visible()
    page.get_by_label("Source").fill("nowhere")
    expect(page.get_by_text("Nothing waits for a label")).to_be_visible()


def test_a_misspelt_class_is_replaced(waiting, look):
    page = look(waiting, "review")
    shown(page).wait_for()
    page.keyboard.press("n")
    page.keyboard.type("exchange_rat")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="exchange_rate", exact=True).click()
    expect(page.get_by_text("Taught as exchange_rate")).to_be_visible()


def test_keys_can_be_turned_off(waiting, look):
    page = look(waiting, "review")
    shown(page).wait_for()
    page.get_by_label("Keys").uncheck()
    before = len(listed(waiting))
    page.keyboard.press("1")
    page.keyboard.press("s")
    page.wait_for_timeout(300)
    assert len(listed(waiting)) == before
    page.locator(".bars button").first.click()
    expect(page.get_by_text("Taught as")).to_be_visible()


def test_new_instances_are_seen_after_the_next_event(taught, look):
    page = look(taught, "review")
    expect(page.get_by_text("Nothing waits for a label")).to_be_visible()
    ranked(taught.url, TEXTS[0])
    httpx.post(f"{taught.url}/learn", json={"text": "x", "classes": ["y"]})
    expect(shown(page)).to_be_visible(timeout=10_000)

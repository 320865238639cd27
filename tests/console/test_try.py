"""Try: an unknown text, taught once, makes its paraphrase right, and an undo takes it back."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import severe_faults

pytestmark = pytest.mark.slow  # needs chromium


def type_text(page, text):
    """Type a text, and wait for the ranking of all of it: those of its beginnings come before."""
    box = page.get_by_label("Text of the message")
    box.fill("")
    box.press_sequentially(text)
    expect(page.locator(".tinted")).to_have_text(text)


def teach(page, name):
    """Teach a class that is not there yet."""
    page.get_by_label("Another class").fill(name)
    page.get_by_role("button", name="Teach", exact=True).click()
    page.get_by_role("button", name=f"Create {name}").click()
    page.mouse.move(0, 0)  # so that no class is under the pointer


def test_the_first_minute(taught, look):
    page = look(taught)
    type_text(page, "my kitten is hungry")
    expect(page.locator(".bars")).not_to_contain_text("pets")
    teach(page, "pets")
    expect(page.locator(".moved")).to_have_text("pets was not among the suggestions, now no. 1.")
    type_text(page, "a hungry kitten")
    expect(page.locator(".bars .name").first).to_have_text("pets")
    expect(page.locator(".tinted mark.for", has_text="kitten")).to_be_visible()
    page.get_by_text("Why pets").click()
    expect(page.get_by_label("Words that speak for pets")).to_contain_text("kitten")


def test_a_click_teaches_a_lower_class_and_the_bars_move(taught, look):
    page = look(taught)
    type_text(page, "top up my card with my card")
    third = page.locator(".bars .name").nth(2)
    name = third.inner_text()
    third.click()
    expect(page.locator(".moved")).to_contain_text(f"{name} was suggestion no. 3, now")
    event = httpx.get(f"{taught.url}/events/seq:601").json()
    assert (event["text"], event["classes"]) == ("top up my card with my card", [name])
    assert event["source"] == "console"


def test_the_order_after_teaching_is_the_new_one(taught, look):
    page = look(taught)
    type_text(page, "top up my card with my card")
    names = page.locator(".bars .name")
    expect(names).to_have_count(8)
    third = names.nth(2).inner_text()
    names.nth(2).click()
    expect(page.locator(".moved")).to_contain_text(f"{third} was suggestion no. 3, now no. 1")
    expect(names.first).to_have_text(third)


def test_it_says_when_a_person_should_decide(taught, look):
    points = {"newest": {"targets": [{"target": 0.95, "point": {"limit": 0.9}}]}}
    page = look(taught, "operate")
    page.route("**/operating-points*", lambda route: route.fulfill(json=points))
    confidences = {"unsure": 0.5, "sure": 0.95}

    def answer(route):
        confidence = confidences[route.request.post_data_json["text"]]
        route.fulfill(json=route.fetch().json() | {"confidence": confidence})

    page.route("**/rank", answer)
    page.get_by_role("link", name="Try").click()
    page.get_by_label("Text of the message").fill("unsure")
    expect(page.get_by_text("Not sure: let a person decide.")).to_be_visible()
    how_often = page.get_by_text(
        "Suggestions with a probability from 90.0 % on were right in at least 95 % of the cases."
    )
    expect(how_often).to_be_visible()
    page.get_by_label("Text of the message").fill("sure")
    expect(page.get_by_text("Sure enough.")).to_be_visible()
    expect(how_often).to_be_visible()
    points["newest"]["targets"][0]["point"] = None
    page.reload()
    page.get_by_label("Text of the message").fill("sure")
    expect(page.get_by_text("No limit makes 95 % of the answers right yet")).to_be_visible()


def test_several_classes_are_taught_as_one_message(taught, look):
    page = look(taught)
    type_text(page, "top up my card with my card")
    names = page.locator(".bars .name")
    expect(names).to_have_count(8)
    page.get_by_label("This message has several classes").check()
    expect(page.get_by_role("button", name="Teach 0 classes")).to_be_disabled()
    first, third = names.nth(0).inner_text(), names.nth(2).inner_text()
    names.nth(0).click()
    names.nth(1).click()
    names.nth(1).click()  # and not after all
    names.nth(2).click()
    expect(page.locator(".bars [aria-pressed=true]")).to_have_count(2)
    page.get_by_label("Another class").fill("brand new")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Create brand new").click()
    chosen = page.get_by_role("group", name="Chosen classes")
    expect(chosen.get_by_role("button", name="Remove brand new")).to_be_visible()
    assert severe_faults(page) == []
    chosen.get_by_role("button", name="Teach 3 classes").click()
    expect(page.locator(".moved")).to_contain_text(f"{first}, {third}, brand new was suggestion")
    event = httpx.get(f"{taught.url}/events/seq:601").json()
    assert event["classes"] == [first, third, "brand new"]
    assert httpx.get(f"{taught.url}/stats").json()["seq"] == 601
    expect(page.locator(".bars [aria-pressed=true]")).to_have_count(0)


def test_a_double_click_teaches_once(taught, look):
    page = look(taught)
    type_text(page, "top up my card with my card")
    page.locator(".bars li").nth(1).dblclick()
    expect(page.locator(".moved")).to_contain_text("was suggestion no.")
    page.wait_for_timeout(300)
    assert httpx.get(f"{taught.url}/stats").json()["seq"] == 601


def test_a_misspelt_class_is_asked_about(taught, look):
    page = look(taught)
    type_text(page, "is my new card on its way")
    page.get_by_label("Another class").fill("card_arival")
    page.keyboard.press("Enter")
    question = page.get_by_role("group", name="A new class")
    expect(question).to_contain_text("card_arival is a new class. Did you mean one of these?")
    expect(question.get_by_role("button").first).to_have_text("card_arrival")
    assert httpx.get(f"{taught.url}/stats").json()["seq"] == 600
    question.get_by_role("button", name="card_arrival", exact=True).click()
    expect(page.locator(".moved")).to_contain_text("card_arrival was")
    expect(question).to_have_count(0)
    assert httpx.get(f"{taught.url}/classes/card_arival").status_code == 404
    page.get_by_label("Another class").fill("card_arrival")
    page.keyboard.press("Enter")
    expect(page.locator(".pulse")).to_have_attribute("data-seq", "602")


def test_undo_deletes_the_event_and_a_rebuild_takes_its_part_out(taught, look):
    page = look(taught)
    type_text(page, "my kitten is hungry")
    teach(page, "pets")
    expect(page.locator(".bars .name").first).to_have_text("pets")
    page.get_by_role("button", name="Undo").click()
    said = "The message is hidden. It still influences the suggestions until the next rebuild."
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.locator(".moved")).to_have_count(0)
    assert httpx.get(f"{taught.url}/events/seq:601").status_code == 404
    page.get_by_role("button", name="Rebuild now").click()
    expect(page.get_by_text("Undone")).to_be_visible(timeout=60_000)
    expect(page.locator(".bars")).not_to_contain_text("pets")


def test_an_undo_goes_with_its_text_and_is_offered_once(taught, look):
    page = look(taught)
    type_text(page, "my kitten is hungry")
    teach(page, "pets")
    undo = page.get_by_role("button", name="Undo")

    def come_back():
        page.get_by_role("link", name="Operate").click()
        page.get_by_role("heading", name="Operate").wait_for()
        page.get_by_role("link", name="Try").click()
        expect(page.locator(".bars li").first).to_be_visible()

    come_back()
    undo.click()
    expect(page.get_by_text("The message is hidden")).to_be_visible()
    come_back()
    expect(page.get_by_label("Text of the message")).to_have_value("my kitten is hungry")
    expect(undo).to_have_count(0)
    page.locator(".bars button").nth(1).click()
    expect(undo).to_be_visible()
    page.get_by_label("Text of the message").fill("my card is lost")
    expect(undo).to_have_count(0)
    expect(page.locator(".moved")).to_have_count(0)


def test_without_a_history_the_undo_says_why_it_is_not_there(serve, look):
    page = look(serve(taught=100, history=False))
    type_text(page, "my kitten is hungry")
    teach(page, "pets")
    expect(page.get_by_text("No undo here")).to_be_visible()
    assert page.get_by_role("button", name="Undo").count() == 0


@pytest.mark.parametrize("parted", [False, True])
def test_the_tinted_copy_of_a_long_text_scrolls_in_its_box(taught, look, parted):
    page = look(taught)
    if parted:
        page.get_by_role("button", name="Separate title and body").click()
        # A text that is filled in before the focus has moved would go to the title.
        expect(page.get_by_label("title", exact=True)).to_be_focused()
    box = (
        page.get_by_label("body", exact=True)
        if parted
        else page.get_by_label("Text of the message")
    )
    box.fill("where is my card " * 6000)
    tints = page.get_by_role("group", name="The text with its words tinted")
    expect(tints.locator("p.tinted .hint")).to_have_text("… and 80,000 more characters")
    assert tints.evaluate("each => each.offsetHeight") < 300
    assert severe_faults(page) == []


def test_what_is_typed_does_not_wait_for_review(taught, look):
    page = look(taught)
    type_text(page, "where is my card")
    type_text(page, "my money is gone")
    page.get_by_text("These suggestions as curl and Python").click()
    expect(page.get_by_text('"keep":false')).to_be_visible()
    expect(page.get_by_text("keep=False")).to_be_visible()
    httpx.post(f"{taught.url}/rank", json={"text": "a b", "id": "f"}).raise_for_status()
    waiting = httpx.get(f"{taught.url}/review").json()["instances"]
    assert [each["id"] for each in waiting] == ["f"]


def test_an_empty_service_offers_the_questions_to_a_bank(empty, look):
    page = look(empty)
    page.get_by_role("button", name="77 banking intents").click()
    expect(page.get_by_text("1,925 of 1,925 messages")).to_be_visible(timeout=60_000)
    expect(page.locator(".chart polyline")).to_have_count(2)
    said = page.get_by_text("1,925 of 1,925 messages").inner_text()
    page.wait_for_timeout(2500)
    expect(page.get_by_text("1,925 of 1,925 messages")).to_have_text(said)  # the rate too
    page.get_by_role("button", name="my new card is still not here").click()
    expect(page.locator(".bars .name").first).to_have_text("card_arrival")
    events = httpx.get(f"{empty.url}/events", params={"limit": 1}).json()["events"]
    assert events[0]["source"] == "sample: 77 banking intents"
    page.reload()
    expect(page.get_by_label("Text of the message")).to_be_visible()
    assert page.get_by_text("has learned nothing yet").count() == 0


def test_a_service_of_vectors_alone_is_not_empty(empty, look):
    event = {"vector": [0.5, 1.0], "classes": ["refund"]}
    httpx.post(f"{empty.url}/learn", json=event).raise_for_status()
    page = look(empty)
    page.wait_for_load_state("networkidle")
    assert page.get_by_text("Start with a sample").count() == 0
    page.goto(f"{empty.url}/console#/names")
    expect(page.get_by_text("1 class and 0 words")).to_be_visible()
    page.goto(f"{empty.url}/console#/operate")
    expect(page.get_by_text("1 class, 0 words")).to_be_visible()


def test_it_reads_the_novel_until_it_is_stopped(empty, look):
    page = look(empty)
    page.get_by_role("button", name="Watch it read a novel").click()
    expect(page.locator(".reading mark")).to_be_visible(timeout=30_000)
    expect(page.locator(".chart polyline")).to_have_count(2, timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="they walked together _ the street").click()
    expect(page.locator(".bars li").first).to_be_visible()
    assert page.locator(".problem").count() == 0


def test_an_action_shows_itself_as_curl_and_python(taught, look):
    page = look(taught)
    type_text(page, "it isn't here")
    page.get_by_text("These suggestions as curl and Python").click()
    curl, python = page.locator(".call[open] pre").all_inner_texts()
    assert curl.startswith(f"curl {taught.url}/rank --json '")
    assert "isn'\\''t" in curl
    assert (
        'client.rank({"text": "it isn\'t here"}, k=8, explain=True, probabilities=True, keep=False)'
        in python
    )


def test_two_tabs_see_each_other(taught, look):
    one = look(taught)
    two = look(taught, context=one.context)
    for page in (one, two):
        type_text(page, "my kitten is hungry")
    teach(one, "pets")
    teach(two, "animals")
    for page in (one, two):
        expect(page.locator(".bars")).to_contain_text("pets", timeout=10_000)
        expect(page.locator(".bars")).to_contain_text("animals", timeout=10_000)
        expect(page.locator(".pulse")).to_have_attribute("data-seq", "602", timeout=10_000)


def test_words_of_a_title_speak_for_its_label(empty, look):
    httpx.put(f"{empty.url}/classes/c-1", json={"title": "Lost card"})
    page = look(empty, "try")
    page.get_by_label("Message").fill("my card was lost")
    expect(page.get_by_text("Lost card").first).to_be_visible()
    page.locator("details.votes summary").click()
    expect(page.locator("details.votes").get_by_text("lost", exact=True).first).to_be_visible()

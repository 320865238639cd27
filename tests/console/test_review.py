"""Review: messages are labelled by the keyboard, by several people, each once."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import overflow, ranked, severe_faults
from tests.service.serving import bearer

pytestmark = pytest.mark.slow  # needs chromium

TEXTS = ("the machine took my cash", "hello there friend", "why is my transfer so late")


@pytest.fixture
def waiting(taught):
    ranked(taught.url, *TEXTS)
    return taught


def listed(served):
    return httpx.get(f"{served.url}/review").json()["instances"]


def newest(served, number=0):
    events = httpx.get(f"{served.url}/events", params={"limit": number + 1}).json()["events"]
    return events[number]


def label(served, instance_id, *classes, **more):
    body = {"id": instance_id, "classes": classes} | more
    return httpx.post(f"{served.url}/learn", json=body)


def waits(number, done=0):
    """Return what the page says of the messages that wait and are done."""
    messages = "1 message waits" if number == 1 else f"{number} messages wait"
    return f"{messages}, {done} labelled by anna"


def shown(page):
    return page.locator("main section.card")


def chip(page, number):
    return page.locator(".chips button").nth(number - 1)


def name_of(page, number):
    return chip(page, number).locator(".name").inner_text()


@pytest.fixture
def review(look):
    """Return a function that opens the page for a reviewer, and waits for a message."""

    def open_review(served, name="anna", waits=True, **options):
        page = look(served, "review", **options)
        page.get_by_label("Your name").fill(name)
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"labelled by {name}")).to_be_visible()
        if waits:
            shown(page).wait_for()
        return page

    return open_review


# --- keys -----------------------------------------------------------------------------------------


def test_keys_choose_send_skip_reject_and_undo(waiting, review):
    order = [each["id"] for each in listed(waiting)]
    page = review(waiting)
    expect(shown(page)).to_have_attribute("data-id", order[0])
    expect(page.get_by_text(waits(3))).to_be_visible()
    first, second = name_of(page, 1), name_of(page, 2)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Choose a class first")).to_be_visible()
    for key in "213":
        page.keyboard.press(key)
    expect(chip(page, 3)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("3")
    expect(chip(page, 3)).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Labelled as {second}, {first}")).to_be_visible()
    event = newest(waiting)
    assert (event["classes"], event["reviewer"]) == ([second, first], "anna")
    assert (event["id"], event["event_id"]) == (order[0], f"label:{order[0]}")
    expect(shown(page)).to_have_attribute("data-id", order[1])
    expect(page.get_by_text(waits(2, 1))).to_be_visible()
    page.keyboard.press("s")
    expect(shown(page)).to_have_attribute("data-id", order[2])
    rejected = [name_of(page, number) for number in (1, 2)]
    page.keyboard.press("x")
    expect(page.get_by_text("None of these.")).to_be_visible()
    event = newest(waiting)
    assert (event["classes"], event["not"][:2], event["reviewer"]) == ([], rejected, "anna")
    expect(
        page.get_by_text("No message waits for a label, but for those you skipped")
    ).to_be_visible()
    undo = page.get_by_role("button", name="Undo (u)")
    expect(undo).to_be_enabled()
    page.keyboard.press("u")
    expect(page.get_by_text("“None of these” is taken back")).to_be_visible()
    expect(shown(page)).to_have_attribute("data-id", order[2])
    expect(page.get_by_text(waits(2, 1))).to_be_visible()
    assert newest(waiting)["id"] == order[0]
    page.keyboard.press("x")
    expect(page.get_by_text("None of these. The message waits")).to_be_visible()
    expect(undo).to_be_enabled()
    page.keyboard.press("u")
    expect(shown(page)).to_have_attribute("data-id", order[2])
    expect(undo).to_be_enabled()
    page.keyboard.press("u")
    expect(page.get_by_text(f"{second}, {first} is taken back")).to_be_visible()
    expect(shown(page)).to_have_attribute("data-id", order[0])
    expect(page.locator(".chips [aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Labelled as {first}")).to_be_visible()
    found = httpx.get(f"{waiting.url}/events", params={"id": order[0]}).json()["events"]
    assert [each["classes"] for each in found] == [[first]]
    expect(shown(page)).to_have_attribute("data-id", order[2])
    page.keyboard.press("s")
    page.get_by_role("button", name="Show the skipped ones again").click()
    expect(shown(page)).to_have_attribute("data-id", order[1])


def test_another_class_is_added_and_a_new_one_is_asked_about(waiting, review):
    page = review(waiting)
    page.keyboard.press("1")
    first = name_of(page, 1)
    page.keyboard.press("n")
    page.keyboard.type("exchange_rat")  # in the field, keys are letters
    page.keyboard.press("Enter")
    page.get_by_role("button", name="exchange_rate", exact=True).click()
    page.keyboard.press("n")
    page.keyboard.type("s1 new class")
    page.keyboard.press("Enter")
    expect(page.get_by_text("s1 new class is a new class.")).to_be_visible()
    page.get_by_role("button", name="Create s1 new class").click()
    expect(page.locator(".chips button", has_text="s1 new class")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Labelled as")).to_be_visible()
    assert newest(waiting)["classes"] == [first, "exchange_rate", "s1 new class"]


def test_a_key_that_is_held_labels_once(waiting, review):
    order = [each["id"] for each in listed(waiting)]
    page = review(waiting)
    page.keyboard.press("1")
    page.keyboard.down("Enter")
    expect(shown(page)).to_have_attribute("data-id", order[1])
    page.keyboard.press("1")
    page.keyboard.down("Enter")  # as it repeats
    page.wait_for_timeout(300)
    expect(shown(page)).to_have_attribute("data-id", order[1])


def test_keys_can_be_turned_off(waiting, review):
    page = review(waiting)
    page.get_by_label("Keys").uncheck()
    page.keyboard.press("1")
    page.keyboard.press("s")
    expect(chip(page, 1)).to_have_attribute("aria-pressed", "false")
    chip(page, 1).click()
    page.get_by_role("button", name="Send (Enter)").click()
    expect(page.get_by_text("Labelled as")).to_be_visible()


# --- the message in view --------------------------------------------------------------------------


def test_the_message_in_view_never_changes_by_itself(waiting, review):
    page = review(waiting)
    before = shown(page).get_attribute("data-id")
    page.keyboard.press("2")
    ranked(waiting.url, "no known word: zzz", "another one: yyy")
    label(waiting, before, "elsewhere", reviewer="ben")
    page.wait_for_timeout(3500)  # a list is read every three seconds
    expect(shown(page)).to_have_attribute("data-id", before)
    expect(chip(page, 2)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("way", ["Keep", "Replace"])
def test_another_label_is_a_question(waiting, review, way):
    page = review(waiting)
    instance_id, mine = shown(page).get_attribute("data-id"), name_of(page, 2)
    label(waiting, instance_id, "bens class", reviewer="ben")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    question = page.get_by_role("group", name="Two labels")
    expect(question).to_contain_text("ben labelled this message as “bens class”")
    page.keyboard.press("1")  # nothing changes while the question is there
    question.get_by_role("button", name=way).click()
    expect(shown(page)).not_to_have_attribute("data-id", instance_id)
    found = httpx.get(f"{waiting.url}/events", params={"id": instance_id}).json()["events"]
    expected = (["bens class"], "ben") if way == "Keep" else ([mine], "anna")
    assert [(each["classes"], each["reviewer"]) for each in found] == [expected]


def test_nobody_gets_what_another_one_has(waiting, review):
    anna = review(waiting, "anna")
    ben = review(waiting, "ben", waits=False)
    expect(ben.get_by_text("No message waits for a label")).to_be_visible()  # anna has all three
    ranked(waiting.url, "nobody has this yet")
    expect(shown(ben)).to_contain_text("nobody has this yet", timeout=10_000)
    expect(shown(anna)).not_to_contain_text("nobody has this yet")
    assert anna.context is not ben.context


def test_a_skipped_message_goes_to_another_one(waiting, review):
    anna = review(waiting, "anna")
    skipped = shown(anna).get_attribute("data-id")
    anna.keyboard.press("s")
    expect(anna.get_by_text("Skipped.")).to_be_visible()
    ben = review(waiting, "ben")
    expect(shown(ben)).to_have_attribute("data-id", skipped)


# --- choices --------------------------------------------------------------------------------------


def test_a_text_is_shown_as_it_was_sent_and_messages_of_a_source_alone(waiting, review):
    body = {"text": "Where is MY card?", "source": "inbox"}
    assert httpx.post(f"{waiting.url}/rank", json=body).status_code == 200
    page = review(waiting)
    expect(page.get_by_text(waits(4))).to_be_visible()
    page.get_by_label("Source").fill("inbox")
    expect(page.get_by_text(waits(1))).to_be_visible()
    while "MY card" not in shown(page).inner_text():
        before = shown(page).get_attribute("data-id")
        page.get_by_role("button", name="Skip (s)").click()
        expect(shown(page)).not_to_have_attribute("data-id", before)
    expect(shown(page).locator(".text")).to_have_text("Where is MY card?")
    page.get_by_role("button", name="Skip (s)").click()
    expect(page.get_by_text("No message waits for a label")).to_be_visible()


def test_messages_of_one_suggestion(waiting, review):
    wanted = listed(waiting)[-1]
    page = review(waiting)
    page.get_by_label("Order").select_option("of one suggestion")
    page.get_by_label("Suggestion", exact=True).fill(wanted["ranked"][0])
    number = sum(each["ranked"][0] == wanted["ranked"][0] for each in listed(waiting))
    expect(page.get_by_text(waits(number))).to_be_visible()


def test_only_messages_that_were_not_answered_automatically(waiting, review):
    body = {"text": "a cash machine or a card", "min_confidence": 1}
    assert httpx.post(f"{waiting.url}/rank", json=body).json()["abstained"]
    page = review(waiting)
    expect(page.get_by_text(waits(4))).to_be_visible()
    page.get_by_label("Only messages that were not answered automatically").check()
    expect(page.get_by_text(waits(1))).to_be_visible()
    expect(shown(page)).to_contain_text("answered without a class")
    page.get_by_label("Order").select_option("at random")  # an order of the same messages
    expect(page.get_by_text(waits(1))).to_be_visible()


def test_likely_wrong_labels_are_corrected_and_undone(taught, review):
    first = httpx.get(f"{taught.url}/suspects", params={"limit": 1}).json()["suspects"][0]
    key, before = first["event"]["key"], first["event"]["classes"]
    page = review(taught, waits=False)
    page.get_by_label("Order").select_option("likely wrong labels")
    expect(shown(page)).to_contain_text(f"Its label is “{before[0]}”, which is likely wrong.")
    assert name_of(page, 1) == first["suggested"]
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"The label is corrected: {first['suggested']}")).to_be_visible()
    event = httpx.get(f"{taught.url}/events/{key}").json()
    assert (event["classes"], event["reviewer"]) == ([first["suggested"]], "anna")
    page.keyboard.press("u")
    expect(page.get_by_text(f"{first['suggested']} is taken back")).to_be_visible()
    assert httpx.get(f"{taught.url}/events/{key}").json()["classes"] == before


def test_rows_of_a_file_are_labelled_with_their_batch(taught, review):
    body = {"instances": [{"text": "a letter", "id": "row-1"}], "batch": "letters.xlsx"}
    assert httpx.post(f"{taught.url}/review", json=body).status_code == 200
    page = review(taught)
    expect(shown(page)).to_contain_text("of letters.xlsx")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Labelled as")).to_be_visible()
    assert (newest(taught)["batch"], newest(taught)["text"]) == ("letters.xlsx", "a letter")


def test_a_message_that_the_service_dropped_is_taught_by_its_text(waiting, review):
    page = review(waiting)
    text = shown(page).locator(".text").inner_text()

    def dropped(route):
        if "id" in route.request.post_data_json:
            route.fulfill(status=404, json={"detail": "dropped"})
        else:
            route.continue_()

    page.route("**/learn", dropped)
    first = name_of(page, 1)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Labelled as {first}")).to_be_visible()
    event = newest(waiting)
    assert (event["text"], event["classes"], event["reviewer"]) == (text, [first], "anna")


# --- names ----------------------------------------------------------------------------------------


def test_a_name_is_asked_for_once(waiting, review):
    page = review(waiting)
    page.reload()
    expect(page.get_by_text("labelled by anna")).to_be_visible()
    page.get_by_role("button", name="Not you?").click()
    page.get_by_label("Your name").fill("ben")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("labelled by ben")).to_be_visible()


def test_the_name_of_the_key_is_that_of_the_reviewer(serve, look):
    served = serve(learn_keys=("secret",), admin_keys=("boss",))
    named = serve(learn_keys=("cem:secret",), admin_keys=("boss",))
    body = {"instances": [{"text": "a letter"}]}
    for each in (served, named):
        httpx.post(f"{each.url}/review", json=body, headers=bearer("secret"))
    page = look(named, "review")
    page.get_by_label("Key").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_text("labelled by cem")).to_be_visible()
    page = look(served, "review")
    page.get_by_label("Key").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your name")).to_be_visible()


# --- looks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_no_severe_fault_and_fits_a_phone(waiting, review, scheme):
    options = {"color_scheme": scheme, "viewport": {"width": 360, "height": 740}}
    page = review(waiting, **options)
    page.keyboard.press("1")
    label(waiting, shown(page).get_attribute("data-id"), "bens class", reviewer="ben")
    assert severe_faults(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Two labels")).to_be_visible()
    assert severe_faults(page) == []
    assert overflow(page) <= 0
    assert page.locator("main section.card").bounding_box()["width"] <= 360


def test_new_messages_are_seen_while_nothing_waits(taught, review):
    page = review(taught, waits=False)
    expect(page.get_by_text("No message waits for a label")).to_be_visible()
    ranked(taught.url, TEXTS[0])
    expect(shown(page)).to_be_visible(timeout=10_000)


def test_another_source_shows_its_own_messages_or_none(waiting, review):
    httpx.post(f"{waiting.url}/rank", json={"text": "a ball of ice", "source": "Petra"})
    page = review(waiting)
    expect(page.get_by_text(waits(4))).to_be_visible()  # all are in the queue
    before = listed(waiting)[0]["id"]
    page.get_by_label("Source").fill("nobody")
    expect(page.get_by_text(waits(0))).to_be_visible()
    expect(shown(page)).to_have_count(0)
    expect(page.get_by_text("this filter hides 4 other messages.")).to_be_visible()
    page.get_by_label("Source").fill("Petra")
    expect(shown(page)).to_contain_text("a ball of ice")
    page.get_by_label("Source").fill("")
    expect(shown(page)).to_have_attribute("data-id", before)


# --- second labels --------------------------------------------------------------------------------


def shares(served, *names, reviewer="ben"):
    """Label some waiting messages as another reviewer, who then has no lease of them."""
    for name in names:
        label(served, name, "bens class", reviewer=reviewer)


def test_a_labelled_message_is_given_to_a_second_reviewer(serve, review):
    served = serve(taught=600, review_twice=100)
    body = {"instances": [{"text": f"message {each}", "id": f"q-{each}"} for each in (1, 2)]}
    httpx.post(f"{served.url}/review", json=body).raise_for_status()
    shares(served, "q-1", "q-2")
    number = httpx.get(f"{served.url}/stats").json()["seq"]
    page = review(served)
    expect(page.get_by_text(waits(2))).to_be_visible()
    expect(shown(page)).to_contain_text("Another reviewer has labelled this message.")
    first = shown(page).get_attribute("data-id")
    expect(shown(page)).not_to_contain_text("bens class")
    expect(page.get_by_role("button", name="None of these (0)")).to_be_disabled()
    page.keyboard.press("n")
    page.keyboard.type("bens class")
    page.keyboard.press("Enter")
    expect(page.locator(".chips button", has_text="bens class")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You and another reviewer gave the same label")).to_be_visible()
    expect(page.get_by_text(waits(1, 1))).to_be_visible()
    expect(shown(page)).not_to_have_attribute("data-id", first)
    page.keyboard.press("1")
    mine = name_of(page, 1)
    page.keyboard.press("Enter")
    question = page.get_by_role("group", name="Two labels")
    expect(question).to_contain_text("ben labelled this message as “bens class”")
    expect(question).to_contain_text(
        f"; you: “{mine}”. Both labels are noted. Keep the first label"
    )
    question.get_by_role("button", name="Keep").click()
    agreement = page.get_by_role("region", name="Agreement")
    expect(agreement).to_contain_text("50 % of 2 messages have the same two labels.")
    expect(agreement).to_contain_text("κ is 0.00")
    agreement.get_by_text("Different labels (1)").click()
    expect(agreement.get_by_role("listitem")).to_contain_text(f"ben: bens class · anna: {mine}")
    assert severe_faults(page) == []
    assert httpx.get(f"{served.url}/stats").json()["seq"] == number  # nothing was taught
    agreement.get_by_role("link", name="Open it to decide").click()
    expect(page.get_by_role("list", name="Messages").locator("> li")).to_contain_text("bens class")


def test_without_second_labels_nothing_is_said_of_them(waiting, review):
    page = review(waiting)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Labelled as")).to_be_visible()
    page.wait_for_timeout(500)
    expect(page.get_by_role("region", name="Agreement")).to_have_count(0)
    page.get_by_text("Have some messages labelled twice").click()
    expect(page.get_by_text("MANYCLASS_REVIEW_TWICE=10")).to_be_visible()


# --- the taxonomy ---------------------------------------------------------------------------------


@pytest.fixture
def placed(waiting):
    """Return a service whose classes are below two names."""
    classes = httpx.get(f"{waiting.url}/classes", params={"limit": 100}).json()["classes"]
    names = [each["class"] for each in classes]
    parents = {name: "Cards" if "card" in name else "Other matters" for name in names}
    httpx.post(f"{waiting.url}/classes", json={"parents": parents}).raise_for_status()
    return waiting


def test_classes_are_shown_with_their_place_in_the_taxonomy(placed, review):
    page = review(placed)
    name = name_of(page, 1)
    place = "Cards" if "card" in name else "Other matters"
    expect(chip(page, 1).locator("small")).to_have_text(place)
    page.keyboard.press("n")
    page.keyboard.type("other ma")
    option = page.locator('datalist option[value="age_limit"]')
    expect(option).to_have_attribute("label", "age_limit (Other matters)")


def test_a_class_is_chosen_from_the_tree(placed, review):
    page = review(placed)
    page.get_by_text("Choose from the tree").click()
    page.locator(".tree").get_by_text("Cards", exact=True).click()
    page.get_by_role("button", name="card_arrival", exact=True).click()
    chosen = page.locator(".chips [aria-pressed=true]")
    expect(chosen.locator(".name")).to_have_text("card_arrival")
    assert severe_faults(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("Labelled as card_arrival")).to_be_visible()


# --- faults ---------------------------------------------------------------------------------------


def test_a_lost_connection_keeps_the_message_and_the_choice(waiting, look, review):
    page = review(waiting)
    before = shown(page).get_attribute("data-id")
    page.keyboard.press("2")
    mine = name_of(page, 2)
    page.route(lambda url: "/console" not in url, lambda route: route.fulfill(status=503, body=""))
    expect(page.get_by_text("The service is not ready.")).to_be_visible(timeout=10_000)
    page.keyboard.press("Enter")
    expect(page.locator("main .problem").first).to_be_visible()
    expect(shown(page)).to_have_attribute("data-id", before)
    expect(chip(page, 2)).to_have_attribute("aria-pressed", "true")
    page.unroute_all()
    expect(page.get_by_text("The service is not ready.")).to_have_count(0, timeout=10_000)
    expect(chip(page, 2)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Labelled as {mine}")).to_be_visible()


def test_the_undo_of_a_replacement_brings_the_former_label_back(waiting, review):
    page = review(waiting)
    instance_id = shown(page).get_attribute("data-id")
    label(waiting, instance_id, "bens class", reviewer="ben")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    question = page.get_by_role("group", name="Two labels")
    question.get_by_role("button", name="Replace").click()
    expect(shown(page)).not_to_have_attribute("data-id", instance_id)
    page.keyboard.press("u")
    expect(page.get_by_text("The label bens class of ben is back.")).to_be_visible()
    found = httpx.get(f"{waiting.url}/events", params={"id": instance_id}).json()["events"]
    assert [(each["classes"], each["reviewer"]) for each in found] == [(["bens class"], "ben")]


def test_the_key_of_a_person_undoes_a_replacement_too(serve, look):
    served = serve(learn_keys=("cem:secret", "ben:other"), admin_keys=("boss",))
    body = {"instances": [{"text": "a letter", "id": "q-1"}]}
    httpx.post(f"{served.url}/review", json=body, headers=bearer("secret"))
    page = look(served, "review")
    page.get_by_label("Key").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_text("labelled by cem")).to_be_visible()
    body = {"id": "q-1", "classes": ["bens class"]}
    httpx.post(f"{served.url}/learn", json=body, headers=bearer("other")).raise_for_status()
    page.get_by_label("Another class (n)").fill("mine")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Create mine").click()
    page.keyboard.press("Enter")
    question = page.get_by_role("group", name="Two labels")
    question.get_by_role("button", name="Replace").click()
    expect(page.get_by_text("Labelled as mine.")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("The label bens class of ben is back.")).to_be_visible()
    found = httpx.get(f"{served.url}/events/id:label:q-1", headers=bearer("secret")).json()
    assert found["classes"] == ["bens class"]


def test_a_queue_that_cannot_be_read_is_not_said_to_be_empty(taught, review):
    reason = "the store is full; make room on the disk"

    def answer(route):
        route.fulfill(json=route.fetch().json() | {"failing": failing, "instances": []})

    failing = reason
    page = review(taught, waits=False)
    page.route("**/review?**", answer)
    warning = page.locator("main p.warning")
    expect(warning).to_contain_text(reason)
    expect(page.get_by_text("No readable message waits for a label")).to_be_visible()
    failing = None
    expect(warning).to_have_count(0)
    expect(page.get_by_text("No message waits for a label")).to_be_visible()

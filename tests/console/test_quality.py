"""Quality: accuracy by class, confused classes, label errors, learners compared."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from manyclass.service.history import error_count
from tests.console.looking import learned, settled, severe_faults

pytestmark = pytest.mark.slow  # needs chromium


def counted(page):
    """Return the page when its figures are about all messages."""
    # The service counts in a thread of low priority, so that it takes long on a busy machine.
    expect(page.get_by_role("button", name="Count again")).to_be_enabled(timeout=30_000)
    return page


def confusions(served):
    return httpx.get(f"{served.url}/confusions", timeout=30).json()


def test_a_confused_pair_is_compared(taught, look):
    pair = confusions(taught)["pairs"][0]
    page = counted(look(taught, "quality"))
    first = page.get_by_label("Confused classes").locator("> li").first
    expect(first).to_contain_text(
        f"{pair['ranked_first']} was suggested first instead of {pair['true']}"
    )
    first.get_by_role("button", name="Compare").click()
    for name in (pair["ranked_first"], pair["true"]):
        expect(page.get_by_label(f"Words for {name}").locator("li").first).to_be_visible()
    examples = first.locator("ul.list > li")
    expect(examples).to_have_count(len(pair["events"]))


@pytest.fixture
def aged_counts(monkeypatch):
    """Let a count of any age be good enough for a call that does not wait for a newer one."""
    monkeypatch.setattr(error_count, "FRESH_SECONDS", float("inf"))


def test_a_message_that_was_erased_here_is_counted_no_more(taught, look, aged_counts):
    page = counted(look(taught, "quality"))
    expect(page.get_by_text("Over the newest 600 messages")).to_be_visible()
    page.goto(f"{taught.url}/console#/events")
    settled(page, "events")
    page.get_by_role("button", name="Erase “").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    expect(page.locator(".notice")).to_contain_text("is erased.")
    page.goto(f"{taught.url}/console#/quality")
    expect(page.get_by_text("Over the newest 599 messages")).to_be_visible()
    points = page.get_by_role("region", name="Right automatically")  # until a rebuild
    expect(points).to_contain_text("include the former labels of 1 corrected or erased message")


def test_a_class_renamed_here_has_its_new_name_in_the_count(taught, look, aged_counts):
    page = counted(look(taught, "quality"))
    table = page.get_by_label("Accuracy by class")
    table.get_by_role("button", name="Rename card_arrival", exact=True).click()
    page.get_by_label("Its new name").fill("card_comes")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(table.get_by_role("link", name="card_comes", exact=True)).not_to_have_count(0)
    expect(table.get_by_role("link", name="card_arrival", exact=True)).to_have_count(0)


def test_what_others_taught_is_counted_again_on_request(taught, look, aged_counts):
    page = counted(look(taught, "quality"))
    learned(taught.url, 1)
    page.get_by_role("button", name="Count again").click()
    expect(page.get_by_text("Over the newest 601 messages")).to_be_visible()


def test_an_example_is_corrected_to_the_class_ranked_first(taught, look):
    pair = confusions(taught)["pairs"][0]
    page = counted(look(taught, "quality"))
    first = page.get_by_label("Confused classes").locator("> li").first
    first.get_by_role("button", name="Compare").click()
    key = first.locator("ul.list > li").first.get_attribute("data-key")
    first.get_by_role("button", name="Correct").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("True class")).to_have_value(pair["ranked_first"])
    dialog.get_by_role("button", name="Correct", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text(re.compile("The label of “.+” is corrected"))).to_be_in_viewport()
    event = httpx.get(f"{taught.url}/events/{key}").json()
    assert event["classes"] == [pair["ranked_first"]]


def test_a_misspelt_correction_is_not_a_new_class_by_mistake(taught, look):
    page = counted(look(taught, "quality"))
    first = page.get_by_label("Suspects").locator("> li").first
    key = first.get_attribute("data-key")
    dialog = page.get_by_role("dialog")

    def correct(name):
        first.get_by_role("button", name="Correct").click()
        dialog.get_by_label("True class").fill(name)
        dialog.get_by_role("button", name="Correct", exact=True).click()

    correct("Card arival")
    expect(dialog).to_contain_text("Card arival is a new class. Did you mean one of these?")
    expect(dialog.locator("button.primary")).to_have_text(["card_arrival"])
    expect(dialog.get_by_role("button", name="card_arrival", exact=True)).to_be_focused()
    dialog.get_by_role("button", name="card_arrival", exact=True).click()
    expect(dialog.get_by_label("True class")).to_have_value("card_arrival")
    dialog.get_by_role("button", name="Correct", exact=True).click()
    expect(dialog).to_have_count(0)
    assert httpx.get(f"{taught.url}/events/{key}").json()["classes"] == ["card_arrival"]
    expect(page.locator(f'ul[aria-label="Suspects"] > li[data-key="{key}"]')).to_have_count(0)
    expect(page.get_by_role("button", name="Count again")).to_be_enabled()  # the lists are new
    first = page.locator("ul.list > li[data-key]").first
    key = first.get_attribute("data-key")
    correct("xyz")
    expect(dialog).to_contain_text("xyz is a new class.")
    expect(dialog.locator("button.primary")).to_have_text(["Create xyz"])
    dialog.get_by_role("button", name="Create xyz").click()
    expect(dialog).to_have_count(0)
    assert httpx.get(f"{taught.url}/events/{key}").json()["classes"] == ["xyz"]


def test_a_label_that_is_right_is_suspected_no_more(taught, look):
    page = counted(look(taught, "quality"))
    first = page.get_by_label("Suspects").locator("> li").last
    key = first.get_attribute("data-key")
    before = httpx.get(f"{taught.url}/events/{key}").json()["classes"]
    first.get_by_role("button", name="Keep the label of").click()
    expect(page.locator(f'ul[aria-label="Suspects"] > li[data-key="{key}"]')).to_have_count(0)
    expect(page.get_by_text(re.compile("The message “.+” keeps its label"))).to_be_in_viewport()
    event = httpx.get(f"{taught.url}/events/{key}").json()
    assert (event["classes"], event["corrected"]) == (before, True)


def test_more_pairs_are_shown_on_demand(taught, look):
    assert len(confusions(taught)["pairs"]) >= 50
    page = counted(look(taught, "quality"))
    listed = page.get_by_label("Confused classes").locator("> li")
    expect(listed).to_have_count(10)
    page.get_by_role("button", name="Show 50", exact=True).first.click()
    expect(listed).to_have_count(50)


def test_two_classes_are_merged(taught, look):
    pair = confusions(taught)["pairs"][0]
    page = counted(look(taught, "quality"))
    page.get_by_role("button", name="Compare").first.click()
    button = f"Merge {pair['ranked_first']} into {pair['true']}"
    page.get_by_role("button", name=button).click()
    found = httpx.get(f"{taught.url}/events", params={"class": pair["ranked_first"], "limit": 1000})
    moved = len(found.json()["events"])
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=30_000)
    merged = f"{pair['ranked_first']} is merged into {pair['true']}, and {moved} messages moved."
    expect(page.get_by_text(merged)).to_be_in_viewport()
    classes = httpx.get(f"{taught.url}/classes", params={"limit": 1000}).json()["classes"]
    names = {each["class"] for each in classes}
    assert pair["true"] in names
    assert pair["ranked_first"] not in names


def test_a_class_is_renamed(taught, look):
    page = counted(look(taught, "quality"))
    row = page.get_by_label("Accuracy by class").locator("tbody tr").first
    name = row.locator("a").first.inner_text()
    row.get_by_role("button", name="Rename").click()
    page.get_by_label("Its new name").fill("another name")
    page.get_by_role("dialog").get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert httpx.get(f"{taught.url}/classes/another name").json()["learned"] > 0
    assert name != "another name"


def test_a_wrong_label_is_suspected(taught, look):
    text = "I want to know how to track the delivery of my new card"
    event = {"text": text, "classes": ["exchange_rate"], "event_id": "wrong"}
    httpx.post(f"{taught.url}/learn", json=event)
    listed = httpx.get(f"{taught.url}/suspects").json()["suspects"]
    page = counted(look(taught, "quality"))
    expect(page.get_by_role("heading", name="Likely label errors")).to_be_visible()
    likely = [each for each in listed[:20] if each["confidence"] >= 0.1]
    assert likely
    expect(page.get_by_label("Suspects").locator("> li")).to_have_count(len(likely))


def test_without_a_history_the_page_says_so(serve, look):
    page = look(serve(history=False), "quality")
    expect(page.get_by_text("keeps no history")).to_be_visible()


def test_classes_are_sorted_filtered_and_paged(taught, look):
    page = counted(look(taught, "quality"))
    table = page.get_by_label("Accuracy by class")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(25)
    page.get_by_role("button", name="Class", exact=True).click()
    names = [each["class"] for each in class_quality(taught, sort="class")]
    expect(rows.first.locator("a").first).to_have_text(names[0])
    expect(table.get_by_role("columnheader", name="Class")).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_role("button", name="Class", exact=True).click()
    expect(rows.first.locator("a").first).to_have_text(names[-1])
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(50)
    page.get_by_role("combobox").select_option("recall")
    page.get_by_label("Find a class").fill("CARD_ARR")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("card_arrival")
    page.get_by_label("Find a class").fill("nothing like it")
    expect(page.get_by_text("No class of these messages has this in a name.")).to_be_visible()


def class_quality(served, **asked):
    answer = httpx.get(f"{served.url}/quality/classes", params={"limit": 1000} | asked)
    return answer.json()["classes"]


def test_the_accuracy_is_drawn_along_the_history_and_by_class(taught, look):
    page = counted(look(taught, "quality"))
    report = httpx.get(f"{taught.url}/quality").json()
    curve = page.locator("figure.chart", has_text="Accuracy along the history")
    expect(curve.locator("polyline")).to_have_count(2)
    assert len(report["curve"]) > 1
    points = page.locator("figure.chart", has_text="First suggestion right, of each class").locator(
        "circle"
    )
    expect(points).to_have_count(len([each for each in class_quality(taught) if each["events"]]))
    expect(page.get_by_text("once there are messages of two weeks")).to_be_visible()
    page.get_by_role("button", name="Weeks").click()
    expect(page.locator("[data-section=Weeks]")).to_be_focused()


def test_weeks_are_compared_by_their_confidence_too(taught, look, browser):
    report = httpx.get(f"{taught.url}/quality").json()
    week = {"events": 300, "r1": 0.5, "r5": 0.8, "unknown_features": 0.1}
    report["weeks"] = [
        week | {"end": 1_800_000_000, "confidence": 0.41},
        week | {"end": 1_799_395_200, "confidence": None},
    ]
    report["class_mix"] = {"distance": 0.1, "changed": []}
    context = browser.new_context()
    context.route("**/quality?*", lambda route: route.fulfill(json=report))
    page = counted(look(taught, "quality", context=context))
    table = page.get_by_role("region", name="Weeks", exact=True).locator("table")
    expect(table.get_by_role("columnheader", name="Confidence")).to_be_visible()
    expect(table.locator("tbody tr")).to_have_text([re.compile("41 %"), re.compile("80 %\u2013")])
    context.close()


def test_accuracy_by_branch_and_source(taught, look):
    httpx.put(f"{taught.url}/classes/card_arrival", json={"parent": "cards"}).raise_for_status()
    event = {"text": "where is my card", "classes": ["card_arrival"], "source": "phone"}
    httpx.post(f"{taught.url}/learn", json=event).raise_for_status()
    page = counted(look(taught, "quality"))
    branches = page.get_by_label("Accuracy by branch").locator("tbody tr")
    expect(branches).to_have_count(2)
    expect(branches.last).to_contain_text("cards")
    sources = page.get_by_label("Accuracy by source").locator("tbody tr")
    expect(sources).to_have_text([re.compile("^bank"), re.compile("^phone")])


def test_without_messages_the_page_says_what_to_do(empty, look):
    page = look(empty, "quality")
    expect(page.get_by_text("No labelled message yet.")).to_be_visible()
    page.get_by_role("link", name="Review").last.click()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()


def test_learners_are_compared_and_one_becomes_a_shadow(serve, look):
    served = serve(taught=600, learner="ff")
    page = look(served, "quality")
    page.get_by_role("button", name="Compare learners").click()
    expect(page.locator("progress")).to_be_visible()
    expect(page.get_by_text("Best: ")).to_be_visible(timeout=120_000)
    table = page.get_by_label("Learners compared").locator("> li")
    status = httpx.get(f"{served.url}/advice").json()
    expect(table).to_have_count(len(status["advice"]))
    assert severe_faults(page) == []
    better = next(each for each in status["advice"] if each["advised"])
    button = f"Use {better['learner']}"
    page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Let it learn beside", exact=True).click()
    expect(dialog).to_have_count(0, timeout=30_000)
    learners = httpx.get(f"{served.url}/learners").json()["learners"]
    assert [each["learner"] for each in learners] == ["ff", better["learner"]]
    assert learners[1]["learned"] == 600
    expect(page.get_by_role("button", name=button, exact=True)).to_have_count(0)
    page.get_by_role("button", name=f"Remove {better['learner']}", exact=True).click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("button", name=button, exact=True)).to_have_count(1)
    learners = httpx.get(f"{served.url}/learners").json()["learners"]
    assert [each["learner"] for each in learners] == ["ff"]


def candidate(learner, gain=None, **judged):
    gains = gain and {"mean": gain, "low": gain - 0.01, "high": gain + 0.01}
    figures = {"r1": 0.5, "r5": 0.7, "all_r1": 0.5, "all_r5": 0.7, "bytes": 1_000}
    figures |= {"learn_seconds": 1e-5, "rank_seconds": 1e-6, "failed": ""}
    gained = {"r1_gain": gains, "r5_gain": gains, "advised": False, "worse": False}
    return {"learner": learner, "text": "words"} | figures | gained | judged


def test_worse_learners_are_not_offered(taught, look, browser):
    advice = {
        **{"state": "done", "error": None, "seq": 9, "began_at": 1.0, "ended_at": 2.0},
        **{"events": 1000, "counted": 300, "at": 4, "of": 4, "share": 0.0, "notes": []},
        **{"learner": None, "text": None, "best": 3, "verdict": "path is better"},
        "advice": [
            *(candidate("svm"), candidate("ff", -0.1, worse=True), candidate("pa", 0.001)),
            candidate("path", 0.06, advised=True),
        ],
    }
    context = browser.new_context()
    context.route("**/advice", lambda route: route.fulfill(json=advice))
    page = counted(look(taught, "quality", context=context))
    rows = page.get_by_label("Learners compared").locator("> li")
    expect(rows).to_have_text([re.compile(name) for name in ("^svm", "^path", "^pa", "^ff")])
    expect(page.get_by_text("Best: path")).to_contain_text("+6.0 points")
    expect(rows.nth(1)).to_contain_text("better")
    expect(rows.nth(2)).to_contain_text("no sure difference")
    expect(rows.nth(3)).to_contain_text("worse")
    for at, offered in enumerate([0, 1, 1, 0]):
        expect(rows.nth(at).get_by_role("button")).to_have_count(offered)
    assert severe_faults(page) == []
    context.close()


def test_too_few_messages_are_said_and_a_comparison_is_stopped(serve, look):
    served = serve(taught=200)
    page = look(served, "quality")
    page.get_by_role("button", name="Compare learners").click()
    expect(page.get_by_text("200 of the newest messages have a class")).to_be_visible()
    learned(served.url, 1500)
    page.get_by_role("button", name="Compare learners").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped")).to_be_visible()


def point(limit, answers, right):
    """Return an operating point of 100 outcomes."""
    found = {"limit": limit, "answers": answers, "right": right, "classes": answers // 4}
    for name, share in (("coverage", answers / 100), ("accuracy", right / answers)):
        found |= {name: share, f"{name}_low": share - 0.04, f"{name}_high": share + 0.04}
    return found


def probable(limit, classes, right):
    shares = {"precision": right / classes, "precision_low": 0.83, "precision_high": 0.92}
    return {"limit": limit, "classes": classes, "right": right, "recall": right / 160} | shares


def test_operating_points_are_shown_along_their_curve(taught, look, browser):
    curve = [point(0.9, 20, 20), point(0.8, 40, 38), point(0.5, 100, 80)]
    points = {
        "newest": {
            **{"outcomes": 100, "classes": 25, "curve": curve, "best": curve[0]},
            "targets": [
                {"target": 0.8, "point": None},
                {"target": 0.9, "point": point(0.823, 30, 29)},
                {"target": 0.95, "point": curve[0]},
                {"target": 0.99, "point": curve[0]},
            ],
        },
        "probabilities": {
            **{"rankings": 100, "true_classes": 160},
            "targets": [
                {"target": 0.8, "point": probable(0.412, 150, 132)},
                {"target": 0.99, "point": None},
            ],
            "best": probable(0.875, 40, 40),
        },
        "groups": {"reached": [{"target": 0.95, "groups": 2}]},
    }
    listed = [
        {"name": name, "targets": [{"target": 0.95, "point": at}]}
        for name, at in (("cash", point(0.7, 30, 29)), ("card", None), ("top_up", curve[0]))
    ]

    def answer(route):
        asked = "target=" in route.request.url
        seq = httpx.get(f"{taught.url}/quality").json()["seq"]
        found = {"groups": {"groups": listed}} if asked else points | {"seq": seq}
        route.fulfill(json=found)

    context = browser.new_context()
    context.route("**/operating-points*", answer)
    page = counted(look(taught, "quality", context=context))
    section = page.locator("[data-section='Right automatically']")
    expect(section).to_contain_text("Limit 0.900: answers 20.0 % of the messages, 20 of 100 (")
    expect(section).to_contain_text("100.0 % of these are right, 20 of 20 (")
    expect(section).to_contain_text("5 of 25 classes")
    section.get_by_text("2 classes reach it at a limit of their own").click()
    limits = section.get_by_label("Limits of classes").locator("li")
    expect(limits).to_have_text(
        [
            re.compile(r"cash: limit\s+0.700, 29 of 30 answers right"),
            re.compile(r"top_up: limit\s+0.900, 20 of 20 answers right"),
        ]
    )
    expect(section).to_contain_text("80 % right: not reachable yet. At best, 20.0 %")
    expect(section).to_contain_text("20 of 20 were right, which shows that at least 96.0 % are")
    events = httpx.get(f"{taught.url}/quality").json()["all"]["events"]
    expect(section).to_contain_text(f"The first {events - 100:,} do not count")
    expect(section.locator("polyline")).to_have_count(1)
    slider = section.get_by_role("slider")
    pressed = section.locator("button[aria-pressed=true]")
    expect(pressed).to_have_text(["99 % right"])  # 95 % has the same limit
    slider.press("ArrowLeft")
    expect(section).to_contain_text("Limit 0.823: answers 30.0 %")  # the point of a target
    expect(pressed).to_have_text(["90 % right"])
    slider.press("ArrowLeft")
    expect(section).to_contain_text("Limit 0.800: answers 40.0 %")
    section.get_by_role("button", name="95 % right").click()
    expect(slider).to_have_value("3")
    expect(pressed).to_have_text(["95 % right"])
    assert severe_faults(page) == []
    several = section.get_by_role("region", name="Messages with several classes")
    expect(section).to_contain_text("A message has 1.60 classes on average.")
    expect(several.get_by_role("row").nth(1)).to_have_text(
        re.compile(r"80 %0\.41288\.0 % \(83\.0 % to 92\.0 %\)\s*82\.5 %1\.50")
    )
    expect(several.get_by_role("row").nth(2)).to_contain_text(
        "not reachable yet; at best, at least 83.0 % are right"
    )
    context.close()


@pytest.mark.parametrize(("labels", "shown"), [(101, 0), (102, 1)])
def test_few_messages_with_several_classes_are_not_shown(taught, look, browser, labels, shown):
    context = browser.new_context()

    def answer(route):
        found = route.fetch().json()
        found["probabilities"] |= {"rankings": 100, "true_classes": labels}
        route.fulfill(json=found)

    context.route("**/operating-points*", answer)
    page = counted(look(taught, "quality", context=context))
    expect(page.get_by_role("slider")).to_be_visible()
    expect(page.get_by_text(f"A message has {labels / 100} classes on average.")).to_have_count(
        shown
    )
    context.close()


def test_messages_that_do_not_count_are_of_the_moment_of_those_that_do(taught, look):
    page = counted(look(taught, "quality"))
    section = page.locator("[data-section='Right automatically']")
    outcomes = httpx.get(f"{taught.url}/operating-points").json()["newest"]["outcomes"]
    of_one = f"The first {600 - outcomes} do not count"
    expect(section).to_contain_text(f"Of the newest {outcomes} messages")
    expect(section).to_contain_text(of_one)
    # a count is kept for some seconds, and the next one may come with the call after it
    httpx.delete(f"{taught.url}/events/seq:599").raise_for_status()
    page.get_by_role("button", name="Count again").click()
    expect(page.get_by_text("Over the newest 599 messages")).to_be_visible(timeout=120_000)
    expect(section).to_contain_text("The first ones do not count")
    httpx.post(f"{taught.url}/rebuild", timeout=60).raise_for_status()
    page.get_by_role("button", name="Count again").click()
    expect(section).to_contain_text(re.compile(r"The first \d+ do not count"), timeout=120_000)


@pytest.mark.parametrize("width", [1000, 380])
def test_the_table_of_classes_breaks_no_word_and_has_no_high_rows(serve, look, width):
    served = serve()
    names = ("Straßenschäden_und_Gehwege", "Gewerbeanmeldung", "Kraftfahrzeugzulassung")
    events = [
        {"text": f"{words} {at % 7}", "classes": [names[(at * at + turn) % 3]]}
        for at in range(60)
        for turn, words in enumerate(("one", "two", "three"))
    ]
    httpx.post(f"{served.url}/learn", json={"events": events}).raise_for_status()
    page = counted(look(served, "quality", viewport={"width": width, "height": 800}))
    rows = page.get_by_label("Accuracy by class").locator("tbody tr")
    expect(rows).to_have_count(3)
    name_and_row = rows.evaluate_all(
        "(rows) => rows.map((each) => [each.querySelector('a').getBoundingClientRect().height,"
        " each.getBoundingClientRect().height])"
    )
    if width == 1000:
        assert max(name for name, _ in name_and_row) < 25  # one line
    else:
        assert max(row - name for name, row in name_and_row) < 25  # no higher than the name

"""Messages: found by words, id, source and class; corrected, erased, exported, many at once."""

import csv
import io
import json
import re
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import expect

from manyclass.service.history import reader
from tests.console.looking import choose, questions, severe_faults

pytestmark = pytest.mark.slow  # needs chromium


def find(page, **fields):
    page.locator("details:has(summary:text('More ways')):not([open]) summary").evaluate_all(
        "all => all.forEach((each) => each.click())"
    )
    for label, value in fields.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Find").click()


def test_events_are_found_by_id_source_and_class(taught, look):
    page = look(taught, "events")
    items = page.locator(".list > li")
    expect(items).to_have_count(20)
    page.get_by_role("button", name="More").click()
    expect(items).to_have_count(40)
    find(page, Class="card_arrival")
    expect(items.first.locator(".tag")).to_have_text("card_arrival")
    expect(page.locator(".tag").filter(has_not_text="card_arrival")).to_have_count(0)
    find(page, Class="", Source="nobody")
    expect(page.get_by_text("No message matches")).to_be_visible()
    find(page, Source="", Id="seq:7")
    expect(items).to_have_count(1)
    expect(items).to_contain_text(questions()[6]["text"])
    find(page, Id="unknown")
    expect(page.get_by_role("alert").first).to_contain_text("no message 'unknown'")


def test_messages_are_found_by_words_and_dates(taught, look):
    page = look(taught, "events")
    items = page.locator(".list > li")
    find(page, Words="CARD arriv")
    expect(items.first).to_contain_text("arriv")
    expect(items.filter(has_not_text=re.compile("card", re.IGNORECASE))).to_have_count(0)
    find(page, Words="card", From="2999-01-01")
    expect(page.get_by_text("No message matches")).to_be_visible()
    find(page, From="", To="2001-01-01")
    expect(page.get_by_text("No message matches")).to_be_visible()
    find(page, Words="seq", To="")  # part of the keys alone
    expect(page.get_by_text("No message matches")).to_be_visible()


def test_many_are_corrected_and_erased_at_once(taught, look):
    body = {"text": "Mrs Meier asks", "classes": ["a"], "reviewer": "Ann", "batch": "mail.csv"}
    for _ in range(3):
        httpx.post(f"{taught.url}/learn", json=body).raise_for_status()
    page = look(taught, "events?text=meier")
    items = page.locator(".list > li")
    expect(items).to_have_count(3)
    expect(items.first).to_contain_text("labelled by Ann")
    items.nth(0).get_by_role("checkbox").check()
    items.nth(1).get_by_role("checkbox").check()
    page.get_by_role("button", name="Correct the selected").click()
    page.get_by_label("Their class").fill("card_arrival")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    expect(page.get_by_text("2 messages labelled card_arrival")).to_be_visible()
    expect(items.locator(".tag", has_text="card_arrival")).to_have_count(2)
    page.get_by_label("Select all shown").check()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Erase the selected").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    expect(page.get_by_text("3 messages erased.")).to_be_visible()
    expect(page.get_by_text("No message matches")).to_be_visible()
    assert httpx.get(f"{taught.url}/events?text=meier").json()["events"] == []


def test_a_fault_in_the_middle_says_how_many_were_done(taught, look):
    page = look(taught, "events")
    page.get_by_label("Select all shown").check()
    calls = []

    def answer(route):
        calls.append(route)
        if len(calls) <= 2:
            route.continue_()
        else:
            route.fulfill(status=503, json={"detail": "no room"})

    page.route(re.compile("/events/[^?]"), answer)
    page.get_by_role("button", name="Erase the selected").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("2 messages of 20 done")


def test_a_label_is_corrected(taught, look):
    key = httpx.get(f"{taught.url}/events/seq:5").json()["key"]
    page = look(taught, f"events?id={key}")
    page.get_by_role("button", name="Correct").click()
    correct = page.get_by_role("dialog").get_by_role("button", name="Correct")
    expect(correct).to_be_disabled()
    expect(page.get_by_text("Choose another class to correct it.")).to_be_visible()
    page.get_by_label("True class").fill("country_support")
    correct.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".list .tag")).to_have_text("country_support")
    expect(page.locator(".list .facts")).to_contain_text("corrected")
    assert httpx.get(f"{taught.url}/events/{key}").json()["classes"] == ["country_support"]


def test_escape_changes_nothing(taught, look):
    page = look(taught, "events?id=seq:5")
    page.get_by_role("button", name="Erase").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert httpx.get(f"{taught.url}/events/seq:5").status_code == 200


def test_what_was_done_far_down_the_list_is_said_in_view(taught, look):
    page = look(taught, "events")
    last = page.locator(".list > li").nth(19)
    last.get_by_role("button", name="Erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    said = page.get_by_text(re.compile("The message “.+” is erased"))
    expect(said).to_be_in_viewport()
    page.mouse.wheel(0, -9000)
    expect(said).to_be_in_viewport()
    said.get_by_role("link", name="Operate").click()
    expect(page.get_by_text("1 corrected or erased message waits")).to_be_visible()
    expect(said).to_have_count(0)


def test_an_event_and_then_its_source_are_erased(taught, look):
    page = look(taught, "events?source=bank")
    first = page.locator(".list > li").first
    key = first.get_attribute("data-key")
    first.get_by_role("button", name="Erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    expect(page.locator(f".list > li[data-key='{key}']")).to_have_count(0)
    page.get_by_role("button", name="Erase all of bank").click()
    page.get_by_role("button", name="Erase all", exact=True).click()
    expect(page.get_by_text("599 messages of bank erased")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("The next rebuild removes their former effect")).to_be_visible()
    expect(page.get_by_text("No message matches")).to_be_visible()
    assert httpx.get(f"{taught.url}/events").json()["events"] == []


def test_the_export_is_taught_again(taught, look, serve):
    page = look(taught, "events")
    page.locator(".list > li").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as JSON lines").click()
    lines = download.value.path().read_text().splitlines()
    exported = [json.loads(line) for line in lines]
    assert [(each["text"], each["classes"]) for each in exported] == [
        (each["text"], each["classes"]) for each in questions(600)
    ]
    other = serve()
    answer = httpx.post(f"{other.url}/learn", json={"events": exported})
    assert answer.json()["accepted"] == 600


def test_the_export_has_the_embeddings_and_import_teaches_them(empty, look, serve):
    events = [
        {"text": "a puck", "vector": [3, 4], "classes": ["a"], "event_id": "e-1"},
        {"vector": [-1, 1], "classes": ["b"], "event_id": "e-2"},
        {"text": "a bat", "classes": ["b"], "event_id": "e-3"},
    ]
    httpx.post(f"{empty.url}/learn", json={"events": events}).raise_for_status()
    page = look(empty, "events")
    page.locator(".list > li").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as JSON lines").click()
    other = serve()
    page = look(other, "import")
    choose(page, "messages.jsonl", download.value.path().read_bytes())
    expect(page.get_by_label("Role of vector")).to_have_value("vector")
    page.get_by_role("button", name="Teach the file").click()
    expect(page.get_by_text("3 rows read: learned 3")).to_be_visible()

    def vectors(served):
        shown = httpx.get(f"{served.url}/events", params={"vectors": True}).json()["events"]
        return [(each["key"], each["text"], each["classes"], each["vector"]) for each in shown]

    assert vectors(other) == vectors(empty)


def exported_table(page):
    """Return the text of the exported table, without its mark, and its rows."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as CSV").click()
    assert download.value.suggested_filename == "messages.csv"
    content = download.value.path().read_bytes().decode()
    assert content.startswith("\ufeff")
    delimiter = ";" if content.startswith("\ufeffid;") else ","
    file = io.StringIO(content[1:], newline="")
    return content[1:], list(csv.DictReader(file, delimiter=delimiter))


def test_the_found_messages_are_exported_as_a_table(taught, look):
    mail = {"source": "Köln, Süd", "batch": "mail.csv"}
    events = [
        {"text": "=1+1", "classes": ["a", "b"], "event_id": "m1", "reviewer": "Ann"} | mail,
        {"text": {"title": "Müll", "source": "mail"}, "classes": ["a"], "not": ["b"]} | mail,
        {"features": {"x": 2}, "classes": ["b"]} | mail,
    ]
    for event in events:
        httpx.post(f"{taught.url}/learn", json=event).raise_for_status()
    httpx.post(f"{taught.url}/rank", json={"text": "lamp", "id": "m4"} | {"source": mail["source"]})
    httpx.post(f"{taught.url}/learn", json={"id": "m4", "classes": ["a"]}).raise_for_status()
    page = look(taught, f"events?source={quote(mail['source'])}")
    expect(page.locator(".list > li")).to_have_count(4)
    assert severe_faults(page) == []
    content, rows = exported_table(page)
    said = "4 messages saved in messages.csv, several classes with | between them."
    expect(page.get_by_text(said)).to_be_visible()
    header = "id,text,title,text.source,features,source,class,not,reviewer,import,time"
    assert content.splitlines()[0] == f"{header},with apostrophe"
    assert [row["id"] for row in rows] == ["m1", "seq:602", "seq:603", "m4"]
    assert [row["text"] for row in rows] == ["'=1+1", "", "", "lamp"]
    assert (rows[1]["title"], rows[1]["text.source"]) == ("Müll", "mail")
    assert [row["features"] for row in rows] == ["", "", '{"x":2}', ""]
    assert [row["class"] for row in rows] == ["a|b", "a", "b", "a"]
    assert [row["not"] for row in rows] == ["", "b", "", ""]
    assert [row["reviewer"] for row in rows[:2]] == ["Ann", ""]
    assert [row["import"] for row in rows[:2]] == ["mail.csv"] * 2
    assert {row["source"] for row in rows} == {mail["source"]}
    for row in rows:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["time"])


def test_a_table_of_messages_has_each_of_them_and_a_german_browser_a_semicolon(taught, look):
    httpx.post(f"{taught.url}/learn", json={"text": "x", "classes": ["a|b", "c"]})
    page = look(taught, "events", locale="de-DE")
    page.locator(".list > li").first.wait_for()
    content, rows = exported_table(page)
    assert content.splitlines()[0] == "id;text;source;class;reviewer;import;time"
    assert [(row["text"], row["class"]) for row in rows[:600]] == [
        (each["text"], each["classes"][0]) for each in questions(600)
    ]
    assert rows[600]["class"] == "a|b;c"


def test_without_a_history_the_page_says_so(serve, look):
    page = look(serve(history=False), "events")
    expect(page.get_by_text("keeps no history")).to_be_visible()


def test_a_long_search_goes_on_until_it_finds_something(taught, look, monkeypatch):
    httpx.post(f"{taught.url}/learn", json={"text": "x", "classes": ["y"]})
    page = look(taught, "events")
    items = page.locator(".list > li")
    expect(items).to_have_count(20)
    monkeypatch.setattr(reader, "SCAN_SECONDS", 0.0)  # a page ends with its first event
    further = re.compile("source=nobody&.*after=")
    page.route(further, lambda route: None)
    find(page, Source="nobody")
    expect(page.get_by_text("Searching on")).to_be_visible()
    page.unroute(further)  # it lets the request pass, too
    find(page, Source="", Id="seq:7")
    expect(items).to_have_count(1)
    with page.expect_response(lambda answer: "source=bank" in answer.url):  # one item is there
        find(page, Id="", Source="bank")
    expect(items).to_have_count(1)  # the newest event is of no source
    page.get_by_role("button", name="More").click()
    expect(items).to_have_count(2)


# --- erasing --------------------------------------------------------------------------------------


def erase_all(page, url, kind, name):
    page.goto(f"{url}/console#/events?{kind}={quote(name)}")
    of = f"messages that {name} labelled" if kind == "reviewer" else f"of {name}"
    page.get_by_role("button", name=f"Erase all {of}").click()
    return page.get_by_role("dialog")


def test_the_messages_that_a_reviewer_labelled_are_erased(empty, look):
    events = [{"text": f"t {each}", "classes": ["x"], "reviewer": each} for each in ("Ann", "Ben")]
    httpx.post(f"{empty.url}/learn", json={"events": events}).raise_for_status()
    page = look(empty, "events")
    dialog = erase_all(page, empty.url, "reviewer", "Ann")
    dialog.get_by_role("button", name="Erase all").click()
    said = "1 message of Ann erased. The next rebuild removes its former effect"
    expect(page.get_by_text(said)).to_be_visible()
    left = httpx.get(f"{empty.url}/events").json()["events"]
    assert [each["reviewer"] for each in left] == ["Ben"]


def test_the_dialog_counts_what_is_erased_and_names_other_spellings(serve, look):
    served = serve(rebuild_seconds=7200)
    events = [{"text": f"t{at}", "classes": ["x"], "source": "Anna Meier"} for at in range(3)]
    events += [{"text": "u", "classes": ["x"], "source": each} for each in ("anna meier", "Anna")]
    waiting = [{"text": "w", "id": "w", "source": "Anna Meier"}]
    waiting += [{"text": "v", "id": "v", "source": "ANNA  MEIER"}]
    httpx.post(f"{served.url}/learn", json={"events": events}).raise_for_status()
    httpx.post(f"{served.url}/review", json={"instances": waiting}).raise_for_status()
    page = look(served, "events")
    dialog = erase_all(page, served.url, "source", "Anna Meier")
    expect(dialog).to_contain_text("3 messages were taught, and 1 waits for review.")
    expect(dialog.get_by_role("link", name="anna meier", exact=True)).to_be_visible()
    expect(dialog.get_by_role("link", name="ANNA MEIER", exact=True)).to_be_visible()
    expect(dialog.get_by_role("link", name="Anna", exact=True)).to_have_count(0)
    expect(dialog).to_contain_text("It begins by itself within 2 h")
    assert severe_faults(page) == []
    dialog.get_by_role("button", name="Erase all").click()
    expect(page.get_by_text("3 messages of Anna Meier erased, and 1 that waited")).to_be_visible()
    left = httpx.get(f"{served.url}/events").json()["events"]
    assert sorted(each["source"] for each in left) == ["Anna", "anna meier"]
    assert [each["id"] for each in httpx.get(f"{served.url}/review").json()["instances"]] == ["v"]


def test_nothing_can_be_erased_where_nothing_matches(serve, look):
    served = serve(taught=1, rebuild_seconds=0)
    page = look(served, "events")
    dialog = erase_all(page, served.url, "source", "nobody")
    expect(dialog).to_contain_text("There is no message of nobody.")
    expect(dialog.get_by_role("button", name="Erase all")).to_have_count(0)
    dialog.get_by_role("button", name="Close").click()
    dialog = erase_all(page, served.url, "source", "bank")
    expect(dialog).to_contain_text("1 message was taught, and 0 wait for review.")
    expect(dialog).to_contain_text("It does not begin by itself")


def test_words_are_found_without_their_accents(empty, look):
    body = {"text": "Wo ist die Müllabfuhr in der Große Straße?", "classes": ["waste"]}
    httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page = look(empty, "events")
    for words in ("mullabfuhr", "GROSSE strasse"):
        page.get_by_label("Words").fill(words)
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_role("list", name="Messages")).to_contain_text("Müllabfuhr")
    page.get_by_label("Words").fill("garten")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("No message matches.")).to_be_visible()


def test_a_message_of_an_embedding_alone_says_so_and_is_corrected(serve, look):
    served = serve()
    for name, words in (("x", {}), ("y", {"text": "with words"})):
        body = {"vector": [1, 2, 3], "classes": [name], "event_id": f"of-{name}"} | words
        httpx.post(f"{served.url}/learn", json=body).raise_for_status()
    page = look(served, "events?id=of-x")
    expect(page.get_by_text("No words: only an embedding was sent.")).to_have_count(1)
    page.get_by_role("button", name="Correct").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("No words: only an embedding was sent.")).to_be_visible()
    dialog.get_by_label("True class").fill("y")
    dialog.get_by_role("button", name="Correct").click()
    expect(page.locator(".list .tag")).to_have_text("y")
    expect(page.locator("main, .notice, [role=status]").get_by_text("of-x").first).to_be_visible()
    assert httpx.get(f"{served.url}/events/of-x").json()["classes"] == ["y"]

"""Import: a file of CSV or JSON lines is mapped, taught and ranked; rejected lines are kept."""

import csv
import gzip
import io
import json
import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import as_csv, choose, questions
from tests.service.serving import until

pytestmark = pytest.mark.slow  # needs chromium


def teach(page):
    page.get_by_role("button", name="Teach the file").click()
    expect(page.get_by_text("read: learned")).to_be_visible(timeout=30_000)


def test_a_csv_file_is_mapped_and_taught(empty, look):
    events = questions(1200)
    rows = [[index, each["text"], each["classes"][0]] for index, each in enumerate(events)]
    rows[20][2] = rows[21][1] = ""
    page = look(empty, "import")
    choose(page, "bank.csv", as_csv([["no", "question", "intent"], *rows]))
    expect(page.get_by_label("Role of question")).to_have_value("text")
    expect(page.get_by_label("Role of intent")).to_have_value("class")
    expect(page.get_by_label("Role of no")).to_have_value("")
    expect(page.locator("tbody tr")).to_have_count(10)
    said = page.get_by_label("What the rows say").get_by_role("status")
    expect(said).to_have_text("1,198 rows to teach: 77 classes, 1 row without a class.")
    teach(page)
    summary = "1,200 rows read: learned 1,198, skipped 0 duplicates and 1 invalid row."
    expect(page.get_by_text(summary)).to_be_in_viewport()
    of_how_many = re.compile(r"The right class was first in \d+ % of the last [1-9]\d*\.")
    expect(page.get_by_text(of_how_many)).to_be_visible()
    expect(page.get_by_text("1 row without a class was not taught.")).to_be_visible()
    expect(page.locator(".chart polyline")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the rejected lines").click()
    [line] = download.value.path().read_text().splitlines()
    rejected = json.loads(line)
    assert (rejected["line"], rejected["row"]["no"]) == (23, "21")
    assert rejected["detail"].startswith("no text: question is empty")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the rows without a class").click()
    content = download.value.path().read_text()
    kept = list(csv.reader(io.StringIO(content, newline="")))
    assert kept == [["no", "question", "intent"], [*map(str, rows[20])]]
    taught = httpx.get(f"{empty.url}/events", params={"order": "oldest", "limit": 1}).json()
    [first] = taught["events"]
    assert (first["text"], first["classes"]) == (events[0]["text"], events[0]["classes"])
    assert (first["batch"], first["source"]) == ("bank.csv", None)


def test_a_file_that_was_taught_is_asked_about(empty, look):
    def events():
        return httpx.get(f"{empty.url}/events").json()["events"]

    page = look(empty, "import")
    choose(page, "a b.csv", as_csv([["text", "class"], ["ice", "hockey"], ["pitch", "baseball"]]))
    teach(page)
    choose(page, "a b.csv", as_csv([["text", "class"], ["ice", "hockey"], ["pitch", "baseball"]]))
    expect(page.get_by_label("Name of this import")).to_have_value("a b.csv")
    page.get_by_role("button", name="Teach the file").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 messages of the file a b.csv were taught already")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert len(events()) == 2
    page.get_by_role("button", name="Teach the file").click()
    dialog.get_by_role("button", name="Teach again").click()
    expect(page.get_by_text("2 rows read: learned 2")).to_be_visible()
    done = page.get_by_role("region", name="Progress")
    for name, address in (("Try", "#/try"), ("Quality", "#/quality")):
        expect(done.get_by_role("link", name=name)).to_have_attribute("href", address)
    expect(dialog).to_have_count(0)
    assert len(events()) == 4
    page.get_by_label("Name of this import").fill("another")
    page.get_by_role("button", name="Teach the file").click()
    until(lambda: len(events()) == 6)  # the summary of the run before is shown until then


def test_new_classes_are_named_before_and_after(taught, look):
    names = ["card_arrival", "card_arival", *(f"{letter}{letter}q" for letter in "abcdefghijklm")]
    page = look(taught, "import")
    choose(page, "two.csv", as_csv([["text", "class"], *(["x", name] for name in names[:3])]))
    hint = page.get_by_text("New classes:")
    expect(hint).to_have_text("New classes: card_arival (close to card_arrival), aaq.")
    page.get_by_label("Role of class").select_option("ignore")
    expect(hint).to_have_count(0)
    choose(page, "all.csv", as_csv([["text", "class"], *(["x", name] for name in names)]))
    expect(hint).to_contain_text("iiq and more.")
    teach(page)
    expect(hint).to_have_count(1)
    expect(hint).to_contain_text("New classes: card_arival, aaq, ")
    expect(hint).to_contain_text("iiq and 4 more.")


def test_new_classes_of_a_large_service_are_looked_up(taught, look):
    page = look(taught, "import")
    stats = httpx.get(f"{taught.url}/stats").json() | {"classes": 1_000_000}
    page.route("**/stats", lambda route: route.fulfill(json=stats))
    choose(page, "a.csv", as_csv([["text", "class"], ["x", "card_arrival"], ["x", "zzq"]]))
    hint = page.get_by_text("New classes:")
    expect(hint).to_have_text("New classes: zzq.")
    teach(page)
    expect(hint).to_contain_text("New classes: zzq.")


def test_a_new_class_is_named_although_its_first_event_is_refused(taught, look):
    rows = [["text", "class", "weight"], ["x", "zzq", "no number"]]
    page = look(taught, "import")
    choose(page, "a.csv", as_csv([*rows, *[["x", "card_arrival", "1"]] * 120, ["x", "zzq", "1"]]))
    teach(page)
    expect(page.get_by_role("status").filter(has_text="1 invalid row")).to_contain_text(
        "New classes: zzq."
    )


def test_a_name_that_is_too_long_hides_no_new_class(taught, look):
    page = look(taught, "import")
    long = "long " * 1000
    choose(page, "a.csv", as_csv([["text", "class"], ["x", long], ["x", "zzq"]]))
    expect(page.get_by_text("New classes:")).to_contain_text("zzq")


def test_no_name_turns_the_text_around_it(taught, look):
    page = look(taught, "import")
    names = ["\u202ecard_arival", "<img src=x onerror=alert(1)>"]
    choose(page, "a.csv", as_csv([["text", "class"], *(["x", name] for name in names)]))
    hint = page.get_by_text("New classes:")
    expect(hint.locator("strong")).to_have_text(names)
    first, second = (hint.locator("strong").nth(at).bounding_box() for at in (0, 1))
    assert first["x"] + first["width"] <= second["x"]


def test_long_names_are_not_compared(empty, look):
    for name in ("n" * 201, "n" * 20):
        httpx.post(f"{empty.url}/learn", json={"text": "x", "classes": [name]}).raise_for_status()
    close = """async (names) => {
        const { namesCloseTo } = await import("/console/new_class.js");
        return Promise.all(names.map(namesCloseTo));
    }"""
    names = ["n" * 202, "n" * 200, "n" * 21, "n" * 201]
    assert look(empty).evaluate(close, names) == [[], [], ["n" * 20], None]


def test_all_is_new_to_an_empty_service(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text", "class"], ["x", "y"]]))
    page.wait_for_timeout(600)
    teach(page)
    expect(page.get_by_text("New classes:")).to_have_count(0)


def test_nothing_is_asked_about_ids_or_without_a_history(empty, serve, look):
    rows = [["text", "class", "event_id"], ["ice", "hockey", "one"]]
    page = look(empty, "import")
    for found in ("learned 1, skipped 0 duplicates", "learned 0, skipped 1 duplicate"):
        choose(page, "a.csv", as_csv(rows))
        teach(page)
        expect(page.get_by_text(found)).to_be_visible()
    page = look(serve(history=False), "import")
    for _ in range(2):
        choose(page, "a.csv", as_csv([row[:2] for row in rows]))
        teach(page)


def test_quotes_line_ends_and_separators_of_csv_are_read(empty, look):
    texts = ['say "yes", please', "two\nlines", "semi;colon", "", "ünï ☃ 漢字"]
    rows = [["text", "class"], *([text or "x", "a|b"] for text in texts)]
    page = look(empty, "import")
    choose(page, "odd.csv", as_csv(rows, delimiter=";"))
    page.get_by_label("Separator of classes").fill("|")
    teach(page)
    events = httpx.get(f"{empty.url}/events", params={"order": "oldest"}).json()["events"]
    assert [each["text"] for each in events] == [text or "x" for text in texts]
    assert {tuple(each["classes"]) for each in events} == {("a", "b")}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xlsx", b"PK\x03\x04\x14\x00", "not a spreadsheet that can be read"),
        ("a.csv", "text,label\nzażółć,x\n".encode("cp1250"), "is not UTF-8"),
        ("a.json", b"7", "not a JSON object"),
    ],
)
def test_a_wrong_format_is_named_and_the_former_file_is_gone(empty, look, name, content, words):
    page = look(empty, "import")
    choose(page, "good.csv", as_csv([["text", "label"], ["ice", "hockey"]]))
    expect(page.get_by_role("heading", name="good.csv")).to_be_visible()
    choose(page, name, content)
    said = page.get_by_role("alert").filter(has_text=words)
    expect(said).to_be_visible(timeout=30_000)  # a child process reads a workbook
    expect(page.get_by_role("heading", name="good.csv")).to_have_count(0)


def taught_events(served):
    found = httpx.get(f"{served.url}/events", params={"order": "oldest"}).json()["events"]
    return [(each["text"], *each["classes"]) for each in found]


def test_an_encoding_that_is_not_clear_is_chosen(empty, look):
    page = look(empty, "import")
    content = "text,label\nzażółć,gęślą jaźń\n".encode("cp1250")
    encoding = page.get_by_label("Encoding of the file")
    for file, packed in (("a.csv", content), ("a.csv.gz", gzip.compress(content))):
        choose(page, file, packed)
        said = page.get_by_role("alert").filter(has_text="its encoding is not clear: choose it")
        expect(said).to_be_visible()
        expect(page.get_by_role("button", name="Teach the file")).to_have_count(0)
    encoding.select_option("windows-1250")
    teach(page)
    assert taught_events(empty) == [("zażółć", "gęślą jaźń")]
    choose(page, "b.csv", "text,label\nthé,boisson\n".encode())
    expect(page.get_by_role("cell", name="thé")).to_be_visible()
    expect(encoding).to_have_value("utf-8")


def test_a_guessed_encoding_is_shown_with_a_sample_and_changed(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", "Text;Label\ncaf\xe9;boisson fra\xeeche\n".encode("cp1252"))
    encoding = page.get_by_label("Encoding of the file")
    expect(encoding).to_have_value("windows-1252")
    expect(
        page.get_by_text("Guessed. Are these letters right? caf\xe9;boisson fra")
    ).to_be_visible()
    encoding.select_option("macintosh")
    expect(page.get_by_role("cell", name="cafÈ")).to_be_visible()
    expect(page.get_by_text("Guessed. Are these letters")).to_have_count(0)
    encoding.select_option("windows-1252")
    teach(page)
    assert taught_events(empty) == [("café", "boisson fraîche")]


def test_rows_with_other_bytes_are_rejected_and_mended(empty, look):
    page = look(empty, "import")
    rows = b"text,label\n" + b"a,b\n" * 20_000 + b"caf\xe9,x\nth\xc3\xa9,y\n"
    choose(page, "a.csv", rows)
    hint = page.get_by_label("What the rows say")
    said = "To save suggestions: 1 row will be rejected, the first in line 20002: the byte E9"
    expect(hint).to_contain_text(said, timeout=60_000)
    choose(page, "a.csv", rows.replace(b"a,b\n" * 19_999, b""))
    teach(page)
    expect(page.get_by_text("3 rows read: learned 2, ")).to_be_visible()
    assert taught_events(empty) == [("a", "b"), ("thé", "y")]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download them as CSV").click()
    kept = download.value.path().read_bytes()
    assert kept == b"text,label\ncaf\xe9,x\n"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the rejected lines").click()
    assert "the byte E9" in json.loads(download.value.path().read_text())["detail"]


def test_labels_that_may_be_none_are_counted_and_left_out_if_wanted(empty, look):
    labels = ["nan", "nan", "None", "N/A", "Refund", "refund ", "re fund", "re_fund", "Réfund", "-"]
    content = as_csv([["text", "label"], *([f"text {label}", label] for label in labels)])
    page = look(empty, "import")
    choose(page, "a.csv", content)
    hint = page.get_by_label("What the rows say")
    expect(hint).to_contain_text("may mean none: nan (2), None (1), N/A (1), - (1). Each is taught")
    expect(hint).to_contain_text("10 rows to teach: 9 classes, 4 near-duplicates.")
    expect(hint.get_by_label("Teach as Refund: Réfund (1), refund (1)")).not_to_be_checked()
    expect(hint.get_by_label("Teach as re fund: re_fund (1)")).not_to_be_checked()
    teach(page)
    assert len(taught_events(empty)) == 10
    choose(page, "b.csv", content)
    page.get_by_label("Leave such labels out").check()
    expect(hint).to_contain_text("may mean none: nan (2)")
    teach(page)
    left = "Left out: label nan (2), label None (1), label N/A (1), label - (1)."
    expect(page.get_by_text(left)).to_be_visible()
    assert [label for _, label in taught_events(empty)[10:]] == [
        label.strip() for label in labels[4:-1]
    ]


def test_a_ranked_table_is_taught_back_as_it_was(taught, look):
    signs = ["=1+1", "'=1+1", "+49 30", "@home", "- item", "-5", "'tis", "a\nb"]
    texts = [f"{sign} card" for sign in signs]  # each has a class
    page = look(taught, "import")
    choose(page, "ask.csv", as_csv([["question"], *([text] for text in texts)]))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save suggestions as CSV").click()
    content = download.value.path().read_bytes()
    assert all(f"\n{sign}".encode() not in content for sign in ("=", "+", "@", "- "))
    choose(page, "ask-ranked.csv", content)
    expect(page.get_by_label("Role of question")).to_have_value("text")
    expect(page.get_by_label("Role of with apostrophe")).to_have_count(0)
    for name in ("confidence", "score_1", "class_2"):
        page.get_by_label(f"Role of {name}").select_option("ignore")
    page.get_by_label("Role of class_1").select_option("class")
    teach(page)
    found = httpx.get(f"{taught.url}/events", params={"batch": "ask-ranked.csv"}).json()["events"]
    assert {each["text"] for each in found} == set(texts)


def test_rejected_answers_are_left_out_and_counted(empty, look):
    answers = ["accept", "reject", "ignore", "reject"]
    lines = [{"text": f"t{at}", "label": "x", "answer": each} for at, each in enumerate(answers)]
    page = look(empty, "import")
    choose(page, "a.jsonl", "\n".join(map(json.dumps, lines)).encode())
    hint = page.get_by_label("What the rows say")
    expect(hint).to_contain_text("when the file is taught: answer reject (2), answer ignore (1).")
    teach(page)
    expect(page.get_by_text("Left out: answer reject (2), answer ignore (1).")).to_be_visible()
    assert taught_events(empty) == [("t0", "x")]


def test_columns_of_one_name_are_told_apart_by_their_place(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", b"text,label,label\na,b,c\nd,e,f\n")
    expect(page.get_by_text("label: several columns have this name")).to_be_visible()
    expect(page.get_by_role("button", name="Teach the file")).to_have_count(0)
    page.get_by_label("Role of label (column 2)").select_option("class")
    teach(page)
    assert taught_events(empty) == [("a", "b"), ("d", "e")]


def test_lists_are_classes_and_flags_are_offered_as_classes(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", b"text,tags\na,\"['x', 'y']\"\n")
    expect(page.get_by_text("The cells of tags are lists: each item is a class.")).to_be_visible()
    teach(page)
    choose(page, "b.csv", b"words,p,q,r\na b,1,0,1\n")
    expect(page.get_by_role("button", name="Save suggestions as CSV")).to_have_count(0)
    offer = page.get_by_text("By their cells, likely: words: text, p: class if the cell is 1")
    expect(offer).to_be_visible()
    page.get_by_role("button", name="Take these roles").click()
    expect(page.get_by_text("The columns p, q, r are classes")).to_be_visible()
    teach(page)
    assert taught_events(empty) == [("a", "x", "y"), ("a b", "p", "r")]


def test_all_events_of_one_line_are_taught(empty, look):
    events = [{"text": f"t{at}", "classes": ["12345678901234567890"]} for at in range(150)]
    content = json.dumps({"events": events}).replace(
        '"12345678901234567890"', "12345678901234567890"
    )
    page = look(empty, "import")
    choose(page, "body.json", content.encode())
    teach(page)
    expect(page.get_by_text("150 rows read: learned 150, ")).to_be_visible()
    assert taught_events(empty)[0] == ("t0", "12345678901234567890")


def test_nothing_is_armed_before_the_user_has_chosen(empty, look):
    rows = [[f"T-{at}", f"the printer {at} is broken", ["paper", "ink"][at % 2]] for at in range(9)]
    rows = [[*row, "high" if at % 3 else ""] for at, row in enumerate(rows)]
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["no", "subject", "queue", "priority"], *rows]))
    for name in ("no", "subject", "queue", "priority"):
        expect(page.get_by_label(f"Role of {name}")).to_have_value("")
    expect(page.get_by_role("heading", name="Teach")).to_have_count(0)
    expect(page.get_by_text("By their cells, likely: subject: text.")).to_be_visible()
    page.get_by_role("button", name="Take these roles").click()
    expect(page.get_by_label("Role of queue")).to_have_value("")
    expect(page.get_by_role("button", name="Teach the file")).to_have_count(0)
    page.get_by_label("Role of queue").select_option("class")
    teach(page)
    assert taught_events(empty)[0] == ("the printer 0 is broken", "paper")


def test_packed_json_lines_with_features_are_taught_once(empty, look):
    lines = [{"features": {"a": 2, "b": 1}, "classes": ["x", "y"], "event_id": "one"}] * 2
    text = "\n".join([*map(json.dumps, lines), "{broken", ""])
    page = look(empty, "import")
    choose(page, "events.jsonl.gz", gzip.compress(text.encode()))
    teach(page)
    expect(page.get_by_text("learned 1, skipped 1 duplicate")).to_be_visible()
    expect(page.get_by_label("Rejected lines")).to_contain_text("not a JSON object")
    event = httpx.get(f"{empty.url}/events/one").json()
    assert (event["features"], event["classes"]) == ({"a": 2, "b": 1}, ["x", "y"])


def test_any_word_is_a_feature(empty, look):
    words = ["constructor", "__proto__", "constructor"]
    page = look(empty, "import")
    choose(page, "a.jsonl", json.dumps({"features": words, "class": "a"}).encode())
    teach(page)
    [event] = httpx.get(f"{empty.url}/events").json()["events"]
    assert event["features"] == {"constructor": 2, "__proto__": 1}


def test_a_file_is_ranked_to_csv(taught, look):
    texts = ["where is my card", "=1+1", 'the "top up" failed, again']
    page = look(taught, "import")
    choose(page, "ask.csv", as_csv([["text", "note"], *([text, "n"] for text in texts)]))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save suggestions as CSV").click()
    assert download.value.suggested_filename == "ask-ranked.csv"
    content = download.value.path().read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["text"] for row in rows] == [texts[0], "'=1+1", texts[2]]
    for text, row in zip(texts, rows, strict=True):
        ranking = httpx.post(f"{taught.url}/rank", json={"text": text}).json()["ranked"]
        assert [row[f"class_{place}"] for place in range(1, len(ranking) + 1)] == [
            each["class"] for each in ranking
        ]


def test_a_file_that_was_ranked_does_not_wait_for_labels(taught, look):
    page = look(taught, "import")
    choose(page, "ask.csv", as_csv([["text"], *([each["text"]] for each in questions(250))]))
    with page.expect_download():
        page.get_by_role("button", name="Save suggestions as CSV").click()
    httpx.post(f"{taught.url}/rank", json={"text": "a b", "id": "f"}).raise_for_status()
    waiting = httpx.get(f"{taught.url}/review").json()["instances"]
    assert [each["id"] for each in waiting] == ["f"]


def test_a_quote_that_is_not_closed_swallows_nothing_that_is_taught(empty, look):
    page = look(empty, "import")
    content = 'text,label\na,b\n"c,d\ne,f\n"g h",i\nj,k\n"l,m\nn,o\n'
    choose(page, "a.csv", content.encode())
    teach(page)
    rejected = page.get_by_label("Rejected lines")
    expect(rejected).to_contain_text(
        "the quote opened in line 3 is not closed: lines 3 to 5 are left out"
    )
    expect(rejected).to_contain_text(
        "the quote opened in line 7 is not closed: lines 7 to 8 are left out"
    )
    events = httpx.get(f"{empty.url}/events", params={"order": "oldest"}).json()["events"]
    assert [(each["text"], each["classes"]) for each in events] == [("a", ["b"]), ("j", ["k"])]


def test_rejected_rows_are_mended_and_taught(empty, look):
    lines = ["", "the text;label", '"two', 'lines";a', "c;", "d;e;f", "g;h", ";i", '"j;k', "l;m"]
    page = look(empty, "import")
    choose(page, "a.csv.gz", gzip.compress("\r\n".join(lines).encode()))
    page.get_by_label("Role of the text").select_option("text")
    teach(page)
    expect(page.get_by_text("3 invalid rows")).to_be_visible()
    expect(page.get_by_text("1 row without a class was not taught")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download them as CSV").click()
    assert download.value.suggested_filename == "rejected.csv"
    content = download.value.path().read_bytes().decode()
    assert content.splitlines() == [lines[1], lines[5], *lines[7:]]
    mended = content.replace("d;e;f", "d;e").replace('"j', "j")
    choose(page, "rejected.csv", mended.replace(";i", "n;i").encode())
    page.get_by_label("Role of the text").select_option("text")
    teach(page)
    expect(page.get_by_text("learned 4, skipped 0 duplicates and 0 invalid rows")).to_be_visible()
    events = httpx.get(f"{empty.url}/events", params={"order": "oldest"}).json()["events"]
    assert [each["classes"] for each in events] == [[name] for name in "aheikm"]


def test_rejected_rows_are_those_of_the_file_that_was_taught(empty, look):
    held = []
    page = look(empty, "import")
    page.route("**/learn", lambda route: held.append(route))
    choose(page, "a.csv", b"text,label\na,x\n,bad\n")
    page.get_by_role("button", name="Teach the file").click()
    expect(page.get_by_label("At work")).to_be_visible()
    choose(page, "b.csv", b"text,label\nb,x\nc,x\n")
    expect(page.get_by_role("heading", name="b.csv")).to_be_visible()
    page.wait_for_timeout(100)
    held.pop().continue_()
    expect(page.get_by_text("1 invalid row")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download them as CSV").click()
    assert download.value.path().read_text() == "text,label\n,bad\n"


def test_a_file_of_one_open_quote_is_refused(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", b'text,label\n"a,b\nc,d\n')
    said = "Line 2: the quote opened in line 2 is not closed: lines 2 to 3 are left out"
    expect(page.get_by_role("alert").first).to_have_text(said)
    choose(page, "a.csv", b'"text,label\na,b\nc,d\n')
    said = "the quote opened in line 1 is not closed."
    expect(page.get_by_role("alert").first).to_have_text(said)


def test_a_row_is_a_text_or_features(empty, look):
    page = look(empty, "import")
    rows = [["question", "region", "price", "label"], ["where is it", "north", "3", "a"]]
    choose(page, "a.csv", as_csv([*rows, ["", "", "", "b"]]))
    button = page.get_by_role("button", name="Teach the file")
    page.get_by_label("Role of region").select_option("feature")
    expect(page.get_by_role("alert").filter(has_text="A row is one text")).to_be_visible()
    expect(button).to_be_disabled()
    expect(page.get_by_role("button", name="Save suggestions as CSV")).to_be_disabled()
    page.get_by_label("Role of region").select_option("text")
    expect(button).to_be_enabled()
    page.get_by_label("Role of region").select_option("feature")
    page.get_by_label("Role of price").select_option("feature")
    page.get_by_label("Role of question").select_option("ignore")
    expect(page.get_by_text("one word as a whole: region=north")).to_be_visible()
    teach(page)
    expect(page.get_by_label("Rejected lines")).to_contain_text("no text: region, price are empty")
    [event] = httpx.get(f"{empty.url}/events").json()["events"]
    assert event["features"] == {"region=north": 1, "price": 3}


def test_several_text_columns_are_one_text(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["title", "body", "label"], ["new", "card", "a"]]))
    teach(page)
    names = httpx.get(f"{empty.url}/features").json()["features"]
    words = {each["feature"] for each in names if not each["feature"].startswith("~")}
    assert words == {"new", "card", "new card"}


def test_a_file_is_dropped(empty, look):
    page = look(empty, "import")
    page.locator(".drop").wait_for()
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["text,class\\nhello,greeting\\n"], "drop.csv"));
            const event = new DragEvent("drop", {dataTransfer: data, bubbles: true});
            document.querySelector(".drop").dispatchEvent(event);
        }"""
    )
    expect(page.get_by_role("heading", name="drop.csv")).to_be_visible()
    teach(page)
    assert httpx.get(f"{empty.url}/classes/greeting").status_code == 200


def test_an_empty_file_is_refused(empty, look):
    page = look(empty, "import")
    choose(page, "none.csv", b"text,class\n")
    expect(page.get_by_role("alert").first).to_have_text("The file has no rows.")

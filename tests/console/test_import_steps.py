"""Import: the questions before a file is taught, what the answers teach, and the way back."""

import csv
import io
import random
import re

import httpx
import pytest
from playwright.sync_api import expect

from manyclass.training.label_survey import clusters_of
from tests.console.looking import as_csv, choose, overflow, questions, severe_faults
from tests.console.test_import import taught_events, teach
from tests.training.tables import workbooks

pytestmark = pytest.mark.slow  # needs chromium

CLUSTERS = """async labels => {
    const { clustersOf } = await import("/console/label_clusters.js");
    return clustersOf(labels).map(each => [each.isSpelling, each.names.map(([name]) => name)]);
}"""


def labelled(*labels):
    return as_csv([["text", "label"], *([f"text {at}", each] for at, each in enumerate(labels))])


def test_labels_are_put_together_by_spelling_then_by_a_letter_and_no_codes(untaught_page):
    labels = ["Refund", "refund", " RE FUND", "Réfund", "Reﬁnd", "Straße", "strasse", "re_fund"]
    labels += ["2136", "2137", "02136", "gnd:4011455-7", "gnd:4011456-9", "GND:4011455-7"]
    labels += ["waste", "wsate", "wastes", "wasted food", "cat", "car", "Level 2", "level  2"]
    found = untaught_page.evaluate(CLUSTERS, [[name, 1 + (name == "Refund")] for name in labels])
    assert [names for is_spelling, names in found if is_spelling] == [
        ["Refund", "Réfund", "refund"],
        [" RE FUND", "re_fund"],
        ["Straße", "strasse"],
        ["Level 2", "level  2"],
    ]
    close = [sorted(names) for is_spelling, names in found if not is_spelling]
    assert ["waste", "wastes", "wsate"] in close
    for each in ("2136", "cat", "Level 2", "gnd:4011455-7"):
        assert all(each not in names for names in close)


def test_the_command_line_finds_the_same_clusters(untaught_page):
    chance = random.Random(4)
    words = ["lamps", "lamp", "Lamps", "lampes", "waste", "wsate", "WASTE", "wa ste", "wa_ste"]
    words += ["refuse", "réfuse", "ReFuse", "C1", "c1", "a; b", "b", "a", "a,b", "x, y", "refuze"]
    for _ in range(30):
        labels = {name: chance.randint(1, 5) for name in chance.sample(words, 12)}
        found = untaught_page.evaluate(CLUSTERS, [*labels.items()])
        assert found == [[each.is_spelling, each.labels] for each in clusters_of(labels)], labels


def test_many_labels_are_compared_at_once(untaught_page):
    letters = str.maketrans("0123456789", "abcdefghij")
    labels = [[f"label {at:04}".translate(letters), 1] for at in range(4000)]
    assert len(untaught_page.evaluate(CLUSTERS, labels)) == 1


def test_checked_spellings_are_taught_as_one_class(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", labelled("Refund", "Refund", "refund", "réfund ", "waste", "wsate"))
    notes = page.get_by_label("What the rows say")
    expect(notes).to_contain_text("6 rows to teach: 5 classes, 3 near-duplicates.")
    notes.get_by_label("Teach as Refund: refund (1), réfund (1)").check()
    expect(notes.get_by_label("Teach as waste: wsate (1)")).not_to_be_checked()
    teach(page)
    assert [label for _, label in taught_events(empty)] == ["Refund"] * 4 + ["waste", "wsate"]


def test_a_cell_with_several_classes_is_asked_about(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", labelled("A; B", "A", "C", "C;A", "Food, drink", "D"))
    notes = page.get_by_label("What the rows say")
    expect(notes).to_contain_text("6 rows to teach: 6 classes, 2 cells with “;”.")
    question = notes.get_by_role("group", name="2 cells with “;”, such as A; B. What are they?")
    button = page.get_by_role("button", name="Teach the file")
    expect(button).to_be_disabled()
    question.get_by_label("one class of this name").check()
    expect(button).to_be_enabled()
    question.get_by_label("several classes: A, B").check()
    expect(page.get_by_label("Separator of classes in a cell")).to_have_value(";")
    expect(notes).to_contain_text("6 rows to teach: 5 classes")
    teach(page)
    events = httpx.get(f"{empty.url}/events", params={"order": "oldest"}).json()["events"]
    assert [each["classes"] for each in events] == [
        ["A", "B"], ["A"], ["C"], ["C", "A"], ["Food, drink"], ["D"],
    ]  # fmt: skip


def test_a_comma_is_a_question_only_between_classes_that_are_also_alone(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", labelled("A,B", "A", "B", "Food, drink"))
    notes = page.get_by_label("What the rows say")
    expect(notes).to_contain_text("4 rows to teach: 4 classes, 1 cell with “,”.")
    expect(notes.get_by_label("several classes: A, B")).to_be_visible()


def test_an_import_is_taken_back(empty, look):
    page = look(empty, "import")
    rows = [["text", "label", "source"], ["a", "x", "anna"], ["b", "y", ""]]
    choose(page, "first.csv", as_csv(rows))
    expect(page.get_by_label("Source of the messages")).to_have_count(0)
    teach(page)
    choose(page, "second.csv", labelled("x", "y"))
    page.get_by_label("Source of the messages").fill("mail")
    teach(page)
    events = httpx.get(f"{empty.url}/events", params={"order": "oldest"}).json()["events"]
    origins = [(each["batch"], each["source"]) for each in events]
    assert origins == [("first.csv", "anna"), ("first.csv", None), *[("second.csv", "mail")] * 2]
    page.get_by_role("button", name="Take this import back").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("second.csv")
    dialog.get_by_role("button", name="Take it back").click()
    expect(
        page.get_by_text("The import second.csv is taken back: 2 taught messages")
    ).to_be_visible()
    events = httpx.get(f"{empty.url}/events").json()["events"]
    assert {each["batch"] for each in events} == {"first.csv"}


def test_a_key_that_may_only_learn_is_told_who_takes_an_import_back(serve, look):
    page = look(serve(learn_keys=("l",)), "import")
    page.get_by_label("Key").fill("l")
    page.keyboard.press("Enter")
    choose(page, "a.csv", labelled("x"))
    teach(page)
    expect(page.get_by_text("To take this import back, a key of the scope admin")).to_be_visible()


ROWS = [
    ["Nr", "Anliegen", "Sparte"],
    [1, "die Lampe ist aus", "Licht; Straße"],
    [2, "Müll", "Müll"],
    [3, "Hund", ""],
    [4, "noch ein Hund", "hunde"],
    [5, "ein Hund", "Hunde"],
]


@pytest.mark.parametrize(
    "options",
    [
        {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
        {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    ],
    ids=["dark", "phone"],
)
def test_each_step_is_accessible_and_as_wide_as_the_window(empty, look, options):
    page = look(empty, "import", **options)
    expect(page.get_by_role("heading", name="File")).to_be_visible()
    for act in (
        lambda: None,
        lambda: choose(page, "a.xlsx", workbooks.workbook(ROWS, [["other"]])),
        lambda: page.get_by_label("Role of Anliegen").select_option("text"),
        lambda: page.get_by_label("Role of Sparte").select_option("class"),
        lambda: page.get_by_label("several classes: Licht, Straße").check(),
        lambda: teach(page),
    ):
        act()
        page.wait_for_timeout(700)  # the rows are read anew
        assert severe_faults(page) == []
        assert overflow(page) <= 0


def test_a_file_is_taught_by_the_keyboard_alone(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", as_csv(ROWS))

    def to(target):
        target.wait_for()
        for _ in range(60):
            if target.evaluate("each => each === document.activeElement"):
                return
            page.keyboard.press("Tab")
        pytest.fail("Tab does not reach it")

    for name, letters in (("Anliegen", "te"), ("Sparte", "cl")):
        to(page.get_by_label(f"Role of {name}"))
        page.keyboard.type(letters)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    to(page.get_by_label("several classes: Licht, Straße"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("one class of this name")).to_be_checked()
    to(page.get_by_label("Teach as Hunde: hunde (1)"))
    page.keyboard.press("Space")
    to(page.get_by_role("button", name="Teach the file"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("read: learned 4, ")).to_be_visible()
    assert {label for _, label in taught_events(empty)} == {"Licht; Straße", "Müll", "Hunde"}


def test_a_ranked_file_is_read_by_excel(taught, look):
    page = look(taught, "import")
    choose(page, "a.csv", as_csv([["text"], ["where is my card, ü"]]))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save suggestions as CSV").click()
    path = download.value.path()
    assert path.read_bytes().startswith(b"\xef\xbb\xbftext,")
    [row] = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
    assert row["text"] == "where is my card, ü"


# --- numbers, pages, former names -----------------------------------------------------------------


def test_the_numbers_follow_the_answers(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", labelled("Refund", "Refund", "refund", "waste", "wsate", "nan", "x"))
    notes = page.get_by_label("What the rows say")
    expect(notes).to_contain_text("7 rows to teach: 6 classes, 2 near-duplicates.")
    notes.get_by_label("Teach as Refund: refund (1)").check()
    expect(notes).to_contain_text("7 rows to teach: 5 classes, 1 near-duplicate.")
    notes.get_by_label("Teach as waste: wsate (1)").check()
    expect(notes).to_contain_text("7 rows to teach: 4 classes.")
    notes.get_by_label("Leave such labels out").check()
    expect(notes).to_contain_text("6 rows to teach: 3 classes.")
    notes.get_by_label("Teach as waste: wsate (1)").uncheck()
    expect(notes).to_contain_text("6 rows to teach: 4 classes, 1 near-duplicate.")
    teach(page)
    assert len({label for _, label in taught_events(empty)}) == 4


def test_all_clusters_are_in_view_once_all_are_checked(empty, look):
    page = look(empty, "import")
    names = [f"Topic {chr(97 + at)}{chr(97 + at)}" for at in range(23)]
    choose(page, "a.csv", labelled(*names, *(each.lower() for each in names)))
    group = page.get_by_role("group", name="The same but for case")
    expect(group.get_by_label("Teach as")).to_have_count(20)
    group.get_by_label("All 23").check()
    expect(group.get_by_label("Teach as")).to_have_count(23)
    assert all(each.is_checked() for each in group.get_by_label("Teach as").all())


def test_an_import_stays_while_another_page_is_open(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", labelled("Refund", "refund"))
    page.get_by_label("Teach as Refund: refund (1)").check()
    page.get_by_label("Name of this import").fill("letters of May")
    page.get_by_role("link", name="Classes", exact=True).click()
    expect(page.get_by_role("heading", name="Classes and words")).to_be_visible()
    page.get_by_role("link", name="Import", exact=True).click()
    expect(page.get_by_label("Name of this import")).to_have_value("letters of May")
    expect(page.get_by_label("Teach as Refund: refund (1)")).to_be_checked()
    teach(page)
    page.get_by_role("link", name="Classes", exact=True).click()
    page.get_by_role("link", name="Import", exact=True).click()
    expect(page.get_by_label("Progress")).to_contain_text("learned 2")
    page.get_by_role("button", name="Start anew").click()
    expect(page.get_by_label("Progress")).to_have_count(0)
    expect(page.get_by_label("Name of this import")).to_have_count(0)


def test_a_former_name_is_not_a_new_class(taught, look):
    for name in ("Lamps", "Lights"):
        body = {"text": name, "classes": [name]}
        httpx.post(f"{taught.url}/learn", json=body).raise_for_status()
    httpx.post(f"{taught.url}/classes/Lights", json={"merge_into": "Lamps"}).raise_for_status()
    page = look(taught, "import")
    choose(page, "a.csv", labelled("Lights", "Brand new"))
    expect(page.get_by_text("Lights counts as Lamps.")).to_be_visible()
    expect(page.get_by_text("New classes: Brand new.")).to_be_visible()
    teach(page)
    expect(page.get_by_label("Progress")).to_contain_text("New classes: Brand new.")


def test_rows_put_into_review_have_a_name_and_are_taken_back(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text"], ["one"], ["two"]]))
    page.get_by_label("Name of this import").fill("letters of May")
    page.get_by_role("button", name="Put the rows into Review").click()
    expect(page.get_by_text("put 2 into Review")).to_be_visible()
    waiting = httpx.get(f"{empty.url}/review").json()["instances"]
    assert [each["batch"] for each in waiting] == ["letters of May"] * 2
    body = {"id": waiting[0]["id"], "classes": ["x"]}
    httpx.post(f"{empty.url}/learn", json=body).raise_for_status()
    page.get_by_role("button", name="Take this import back").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 message was taught, and 1 waits for review.")
    assert severe_faults(page) == []
    dialog.get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("The import letters of May is taken back")).to_be_visible()
    assert httpx.get(f"{empty.url}/review").json()["waiting"] == 0
    assert httpx.get(f"{empty.url}/events").json()["events"] == []


def test_german_names_of_columns_have_roles(empty, look):
    page = look(empty, "import")
    rows = [["Absender", "Eingang", "Betreff", "Thema"], ["Ann", "1.5.", "die Lampe", "Licht"]]
    choose(page, "a.csv", as_csv(rows, delimiter=";"))
    roles = {"Absender": "source", "Eingang": "ignore", "Betreff": "text", "Thema": "class"}
    for name, role in roles.items():
        expect(page.get_by_label(f"Role of {name}")).to_have_value(role)
    teach(page)
    [event] = httpx.get(f"{empty.url}/events").json()["events"]
    assert (event["text"], event["classes"], event["source"]) == ("die Lampe", ["Licht"], "Ann")


# --- answers above a limit ------------------------------------------------------------------------


def saved(page):
    """Save the suggestions; return the file, and its rows by the names of the columns."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save suggestions as CSV").click()
    content = download.value.path().read_bytes().decode()
    delimiter = ";" if ";confidence" in content else ","
    file = io.StringIO(content.removeprefix("\ufeff"), newline="")
    return content, list(csv.DictReader(file, delimiter=delimiter))


def waiting(served):
    """Return the texts of the rows in the queue by their ids."""
    found = httpx.get(f"{served.url}/review", params={"limit": 100}).json()["instances"]
    return {each["id"]: each["text"] for each in found if each["id"].startswith(("m", "a.csv:"))}


def test_a_file_is_answered_above_the_limit_and_the_rest_is_reviewed(serve, look):
    served = serve(taught=3000)
    texts = [each["text"] for each in questions(60)] + ["xyzzy", "lorem ipsum dolor"]
    rows = [["event_id", "text"], *([f"m{at}", text] for at, text in enumerate(texts))]
    page = look(served, "import")
    choose(page, "mail.csv", as_csv(rows))
    page.get_by_label("Answer automatically").select_option("95 % right")
    _, found = saved(page)
    instances = [{"text": text, "id": "one of the test"} for text in texts]
    body = {"instances": instances, "min_accuracy": 0.95}
    results = httpx.post(f"{served.url}/rank", json=body).json()["results"]
    unsure = {f"m{at}" for at, each in enumerate(results) if each.get("abstained")}
    assert 0 < len(unsure) < len(texts)
    assert {row["event_id"] for row in found if row["decision"] == "let a person decide"} == unsure
    for row, result in zip(found, results, strict=True):
        assert row["decision"] in ("automatic", "let a person decide")
        confidence = result["confidence"]
        assert row["confidence"] == ("" if confidence is None else f"{confidence:.6f}")
        first = result["ranked"][0]["class"] if result["ranked"] else ""
        assert row["class_1"] == first
        assert row["probability_1"] == (row["confidence"] if first else "")
    said = f"{len(texts) - len(unsure)} answered, {len(unsure)} not sure."
    expect(page.get_by_text(said)).to_be_visible()
    limit = results[0]["limit"]
    expect(page.get_by_text(f"for 95 % right: {limit:.3f}.")).to_be_visible()
    assert severe_faults(page) == []
    page.get_by_label("Name of this import").fill("Monday")
    page.get_by_role("button", name=f"Put the {len(unsure)} unsure rows into Review").click()
    expect(page.get_by_text(f"put {len(unsure)} into Review")).to_be_visible()
    expect(page.get_by_role("button", name="unsure row")).to_have_count(0)
    assert waiting(served) == {name: texts[int(name[1:])] for name in unsure}
    page.get_by_role("button", name="Take this import back").click()
    page.get_by_role("dialog").get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("The import Monday is taken back")).to_be_visible()
    assert waiting(served) == {}


def test_an_accuracy_that_is_not_reachable_is_named(taught, look):
    page = look(taught, "import")
    page.route("**/review", lambda route: route.fulfill(status=409, json={"detail": "no room"}))
    choose(page, "a.csv", as_csv([["text", "label"], ["where is my card", "a"], ["top up", "b"]]))
    page.get_by_label("Answer automatically").select_option("99 % right")
    _, found = saved(page)
    assert [(row["decision"], row["class_1"]) for row in found] == [("let a person decide", "")] * 2
    expect(page.get_by_text("0 answered, 2 not sure.")).to_be_visible()
    expect(page.get_by_text("99 % right is not reachable yet")).to_be_visible()
    button = page.get_by_role("button", name="Put the 2 unsure rows into Review")
    button.click()
    expect(page.get_by_text("no room")).to_be_visible()
    page.unroute("**/review")
    button.click()  # still there
    expect(page.get_by_text("put 2 into Review")).to_be_visible()
    assert sorted(waiting(taught).values()) == ["top up", "where is my card"]


def test_all_suggestions_need_no_decision(taught, look):
    page = look(taught, "import")
    choose(page, "a.csv", as_csv([["text"], ["where is my card"]]))
    _, [row] = saved(page)
    assert "decision" not in row
    assert row["class_1"]
    assert row["probability_1"] == row["confidence"]
    expect(page.get_by_text("not sure")).to_have_count(0)


def test_suggestions_have_titles_if_the_service_has_some(taught, look):
    ranking = httpx.post(f"{taught.url}/rank", json={"text": "when will my card arrive", "k": 1})
    name = ranking.json()["ranked"][0]["class"]
    httpx.put(f"{taught.url}/classes/{name}", json={"title": "Its way"}).raise_for_status()
    page = look(taught, "import")
    choose(page, "a.csv", as_csv([["text"], ["when will my card arrive"], ["is there a fee"]]))
    content, (first, second) = saved(page)
    assert ",class_1,title_1,probability_1,score_1,class_2,title_2," in content
    assert (first["class_1"], first["title_1"]) == (name, "Its way")
    assert second["title_1"] == ""


def test_a_german_file_is_saved_for_a_german_spreadsheet(taught, look):
    page = look(taught, "import")
    rows = [["text", "Ort"], ["where is my card; soon, ü", "Köln, Süd"]]
    choose(page, "a.csv", as_csv(rows, delimiter=";"))
    content, [row] = saved(page)
    assert content.startswith("\ufefftext;Ort;confidence;class_1;probability_1;score_1;")
    assert content.splitlines()[1].startswith('"where is my card; soon, ü";Köln, Süd;0,')
    assert re.fullmatch(r"0,\d{6}", row["probability_1"])
    assert re.fullmatch(r"-?\d+,\d{6}", row["score_1"])
    choose(page, "again.csv", content.encode())
    expect(page.get_by_role("cell", name="Köln, Süd")).to_be_visible()


def test_a_file_without_a_delimiter_gets_that_of_the_language(taught, look):
    for locale, delimiter in (("de-DE", ";"), ("en-US", ",")):
        page = look(taught, "import", locale=locale)
        choose(page, "a.jsonl", b'{"text": "where is my card"}')
        content, _ = saved(page)
        assert content.startswith(f"\ufefftext{delimiter}confidence{delimiter}class_1")


def test_another_file_of_the_same_name_replaces_nothing_in_review(empty, look):
    page = look(empty, "import")

    def put(*texts):
        choose(page, "a.csv", as_csv([["text"], *([each] for each in texts)]))
        page.get_by_role("button", name="Put the rows into Review").click()
        said = page.get_by_text("put ").filter(has_text=f"{len(texts)} rows read")
        expect(said).to_be_visible()
        return said.inner_text()

    assert "put 2 into Review, skipped 0 invalid rows" in put("a lamp", "a bin")
    put("a rat", "a street", "a tree")
    found = waiting(empty)
    assert sorted(found.values()) == ["a bin", "a lamp", "a rat", "a street", "a tree"]
    [lamp] = [each for each, text in found.items() if text == "a lamp"]
    label = {"id": lamp, "classes": ["lamps"]}
    httpx.post(f"{empty.url}/learn", json=label).raise_for_status()
    said = put("a lamp", "a bin")
    assert "put 1 into Review, skipped 1 row with a label already and 0 invalid rows" in said
    assert "a lamp" not in waiting(empty).values()

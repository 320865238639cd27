"""Texts in scripts of the world: read from files of their encodings, reviewed, and found."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import as_csv, choose, overflow
from tests.console.test_import import teach
from tests.training.tables import workbooks

pytestmark = pytest.mark.slow  # needs chromium

HINDI = ("नमस्ते, मेरा कार्ड नहीं आया", "कार्ड")
ARABIC = ("أين بطاقتي الجديدة؟ لم تصل بعد 123", "بِطاقات")
JAPANESE = ("カードがまだ届きません", "カード")
EMOJI = ("👩🏽\u200d💻 😀 lost", "🃏")
ALL = [HINDI, ARABIC, JAPANESE, EMOJI]
HEAD = ["text", "label", "source"]
SOURCE = "علي محمد"


def rows(*pairs, source=SOURCE):
    return [HEAD, *([*pair, source] for pair in pairs)]


def csv_in(encoding, *pairs):
    source = "山田" if encoding == "shift_jis" else SOURCE
    return as_csv(rows(*pairs, source=source)).decode().encode(encoding)


def found(served):
    events = httpx.get(f"{served.url}/events", params={"order": "oldest"}).json()["events"]
    return [(each["text"], *each["classes"]) for each in events]


def direction(place):
    return place.evaluate(
        """each => {
            const [box, text] = [each.getBoundingClientRect(), document.createRange()];
            text.selectNodeContents(each);
            const {left, right} = text.getBoundingClientRect();
            return left - box.left > box.right - right ? "right" : "left";
        }"""
    )


@pytest.mark.parametrize(
    ("encoding", "chosen", "pairs"),
    [
        ("utf-8", None, ALL),
        ("utf-16", None, ALL),
        ("utf-16-be", "utf-16be", ALL),
        ("shift_jis", "shift_jis", [JAPANESE, ("振込が遅いです", "振込")]),
    ],
)
def test_a_file_of_each_encoding_is_taught(empty, look, encoding, chosen, pairs):
    page = look(empty, "import")
    choose(page, "a.csv", csv_in(encoding, *pairs))
    if chosen:
        page.get_by_label("Encoding").select_option(chosen)
    expect(page.locator("table.file tbody")).to_contain_text(pairs[0][0])
    teach(page)
    assert found(empty) == pairs


def test_a_workbook_is_taught(empty, look):
    page = look(empty, "import")
    choose(page, "a.xlsx", workbooks.workbook(rows(*ALL)))
    expect(page.locator("table.file tbody")).to_contain_text(ARABIC[0])
    teach(page)
    assert found(empty) == ALL


def test_each_text_has_the_direction_of_its_script(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", csv_in("utf-8", *ALL))
    cells = page.locator("table.file tbody tr td:first-child")
    expect(cells).to_have_count(4)
    assert [direction(each) for each in cells.all()][1] == "right"
    teach(page)
    page.goto(f"{empty.url}/console#/events")
    texts = page.locator(".list .text")
    expect(texts).to_have_count(4)
    assert [direction(each) for each in texts.all()] == ["left", "left", "right", "left"]
    page.set_viewport_size({"width": 380, "height": 700})
    assert overflow(page) <= 0
    body = {"instances": [{"text": "أين بطاقتي " * 40, "id": "q"}]}
    httpx.post(f"{empty.url}/review", json=body).raise_for_status()
    page.goto(f"{empty.url}/console#/review")
    page.get_by_label("Your name").fill("علي")
    page.keyboard.press("Enter")
    expect(page.locator("main section.card .text")).to_contain_text("أين بطاقتي")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Labelled as \u2068{ARABIC[1]}\u2069.")).to_be_visible()
    assert overflow(page) <= 0


@pytest.mark.parametrize(
    ("words", "text"),
    [("कार्ड", HINDI), ("بطاقتي", ARABIC), ("ｶｰﾄﾞ", JAPANESE), ("😀", EMOJI)],
)
def test_words_of_each_script_are_found(empty, look, words, text):
    events = [{"text": each, "classes": [name]} for each, name in ALL]
    httpx.post(f"{empty.url}/learn", json={"events": events}).raise_for_status()
    page = look(empty, "events")
    page.get_by_label("Words").fill(words)
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".list .text")).to_have_text([text[0]])

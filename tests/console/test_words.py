"""The words of the console: those of people at a desk, not those of the engine."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.console.looking import PAGES, as_csv, choose, ranked, settled

SAID = """() => {
  const own = "details.call, pre, code, .text, .tinted, .tag, .list strong, .name, .id, .bars"
    + ", td a, .weights a, .settings, option, datalist, script, style";
  const isShown = each => each.checkVisibility() && !each.closest(own);
  const found = [];
  for (const each of document.querySelectorAll("body *")) {
    if (!isShown(each)) continue;
    for (const name of ["title", "aria-label", "placeholder", "aria-valuetext"])
      if (each.hasAttribute(name)) found.push(each.getAttribute(name));
    for (const node of each.childNodes)
      if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
  }
  return found.map(each => each.trim()).filter(Boolean);
}"""
ENGINE = (
    r"\b(MRR|R1|R5|recall|precision|calibrat\w*|votes?|events?|instances?|edges?|outdegrees?|seq|progressive"
    r"|features?|rank(ed|ing|ings|s)?|shadows?|primary|outcomes?|analys\w+|seq:\w+|[0-9a-f]{12,}\S*)\b"
)


def engine_words(page):
    """Return what a page says in words of the engine, but for calls, settings, texts of users."""
    return page.evaluate(
        "([said, engine]) => said.filter(each => new RegExp(engine, 'i').test(each))",
        [page.evaluate(SAID), ENGINE],
    )


def open_all(page):
    """Open what is folded, but for the calls of the interface."""
    page.evaluate(
        "document.querySelectorAll('main details:not(.call)').forEach(each => each.open = true)"
    )


@pytest.mark.slow  # needs chromium
def test_no_page_speaks_of_the_engine(serve, look):
    served = serve(taught=600, shadows=("ff",))
    ranked(served.url, "my card is lost", "the money is gone", "who are you")
    page = look(served)
    page.evaluate("localStorage.setItem('manyclass-reviewer', 'Anna')")
    for name in (*PAGES, "names?class=card_arrival", "names?feature=card"):
        page.goto(f"{served.url}/console#/{name}")
        page.reload()
        settled(page, name.split("?")[0])
        page.wait_for_load_state("networkidle")
        if name == "try":
            page.get_by_label("Text of the message").fill("my card is lost")
            page.locator(".bars li").first.wait_for()
        if name == "quality":
            page.get_by_label("Suspects").or_(page.get_by_text("agrees with all labels")).wait_for()
        open_all(page)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SAID), name
        assert engine_words(page) == [], name


@pytest.mark.slow  # needs chromium
def test_no_page_of_an_empty_service_speaks_of_the_engine(empty, look):
    page = look(empty)
    for name in PAGES:
        page.goto(f"{empty.url}/console#/{name}")
        settled(page, name)
        page.wait_for_load_state("networkidle")
        open_all(page)
        assert engine_words(page) == [], name


DIALOGS = {
    "names?class=card_arrival": ("Rename", "Merge into another", "Forget"),
    "names?feature=card": ("Forget",),
    "events?source=bank": ("Correct “", "Erase “", "Erase all of bank"),
    "live": ("Promote ff",),
    "operate": ("Restore change 0",),
    "quality": ("Rename ", "Remove ff"),
}


@pytest.mark.slow  # needs chromium
def test_no_dialog_speaks_of_the_engine(serve, look):
    served = serve(taught=600, shadows=("ff",))
    page = look(served)
    dialog = page.get_by_role("dialog")
    for address, names in DIALOGS.items():
        page.goto(f"{served.url}/console#/{address}")
        settled(page, address.split("?")[0])
        for name in names:
            page.get_by_role("main").get_by_role("button", name=name).first.click()
            expect(dialog).to_be_visible()
            expect(dialog).not_to_contain_text("Counting …")
            assert engine_words(page) == [], (address, name)
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)


@pytest.mark.slow  # needs chromium
def test_an_import_does_not_speak_of_the_engine(empty, look):
    page = look(empty, "import")
    rows = [["text", "label", "amount", "title"], *([f"word {at}", "x; y", at, ""] for at in "123")]
    choose(page, "a.csv", as_csv([*rows, ["", "z", "", ""]]))
    page.get_by_label("Role of amount").select_option("not used")
    page.get_by_label("What the rows say").get_by_role("radio").first.check()
    expect(page.get_by_text("will be rejected").first).to_be_visible()
    assert engine_words(page) == []
    page.get_by_role("button", name="Teach the file").click()
    expect(page.get_by_text("4 rows read: learned 3")).to_be_visible()
    assert engine_words(page) == []
    page.get_by_role("button", name="Take this import back").click()
    expect(page.get_by_role("dialog")).to_contain_text("were taught")
    assert engine_words(page) == []


@pytest.mark.slow  # needs chromium
@pytest.mark.parametrize("address", ["events?id=nowhere", "names?class=xyz", "names?feature=xyz"])
def test_what_is_not_found_is_named_in_words_of_the_desk(taught, look, address):
    page = look(taught, address)
    expect(page.locator("main .problem").first).to_be_visible()
    assert engine_words(page) == []


@pytest.mark.slow  # needs chromium
def test_a_message_is_named_by_its_text(taught, look):
    text = "The lamp of our street has been dark for seven days 💡 and nobody comes"
    for event_id in ("seven-days", None):
        body = {"text": text, "classes": ["lamps"]} | ({"event_id": event_id} if event_id else {})
        httpx.post(f"{taught.url}/learn", json=body).raise_for_status()
    page = look(taught, "events")
    settled(page, "events")
    name = "“The lamp of our street has been dark…”"
    expect(page.get_by_role("button", name=f"Correct {name}")).to_have_count(2)
    expect(page.locator(".list .id").nth(0)).to_have_text("open")
    expect(page.locator(".list .id").nth(1)).to_have_text("seven-days")
    page.locator(".list .id").nth(0).click()
    expect(page.locator(".list > li")).to_have_count(1)
    page.get_by_role("button", name=f"Erase {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    expect(page.locator(".notice")).to_contain_text(f"The message {name} is erased.")


@pytest.mark.slow  # needs chromium
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("The history has no event 'an event'.", "The history has no message 'an event'."),
        ("An instance needs `features` or `text`.", "A message needs `features` or `text`."),
        ("No instance was ranked with the id 'x'.", "No message got suggestions with the id 'x'."),
        ("the history up to event 12 is missing", "the history up to change 12 is missing"),
        ("Events aren't there; rankings aren't.", "Messages aren't there; suggestions aren't."),
        ("analyses of texts: none", "ways to read the texts: none"),
        ('no feature is named "event"', 'no word is named "event"'),
    ],
)
def test_answers_of_the_service_are_told_in_words_of_the_desk(untaught_page, answer, told):
    tell = """async answer => {
        const { deskWords } = await import(`${location.origin}/console/desk_words.js`);
        return deskWords(answer);
    }"""
    assert untaught_page.evaluate(tell, answer) == told

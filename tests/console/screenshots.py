"""Write docs/console/*.png: the pages of a service that has learned the questions to a bank.

make screenshots    (needs chromium)
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.console.looking import chromium, learned, ranked, settled
from tests.service.serving import serving

FOLDER = Path(__file__).resolve().parents[2] / "docs/console"
WIDE = {"width": 900, "height": 640}
PHONE = {"width": 380, "height": 640}
WAITING = ("why has it not worked", "the machine took my cash", "is there a fee")


def try_page(page):
    """Type a text and wait for its bars."""
    page.get_by_label("Text of the message").fill("why was I charged for taking out cash")
    page.locator(".bars li").first.wait_for()
    page.wait_for_timeout(600)  # until the bars have their width


def quality_page(page):
    """Wait until the accuracy of the classes is drawn."""
    page.locator("figure.chart circle").first.wait_for(state="attached")
    page.get_by_label("Accuracy by class").locator("tbody tr").first.wait_for()
    page.get_by_text("Count again").wait_for()
    page.evaluate("document.querySelector('[data-section=Classes]').scrollIntoView()")


def review_page(page):
    """Begin as a reviewer, and choose two classes."""
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    page.locator("main section.card").wait_for()
    page.keyboard.press("1")
    page.keyboard.press("3")


def live_page(page):
    """Wait until the lines begin."""
    page.locator("figure.chart", has_text="per second").locator("polyline").first.wait_for(
        state="attached"
    )


SHOTS = [  # file, address, window, colours, and the steps before the picture
    ("try", "try", WIDE, "light", try_page),
    ("try-phone", "try", PHONE, "dark", try_page),
    ("review", "review", WIDE, "light", review_page),
    ("quality", "quality", WIDE, "light", quality_page),
    ("classes", "names?class=card_arrival", WIDE, "light", None),
    ("live", "live", WIDE, "dark", live_page),
    ("events", "events", WIDE, "light", None),
    ("operate", "operate", WIDE, "light", None),
]


def main():
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with serving(shadows=("ff",)) as served, sync_playwright() as playwright:
        learned(served.url, 1900)
        ranked(served.url, *WAITING)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for file, address, window, scheme, steps in SHOTS:
            page = browser.new_page(viewport=window, color_scheme=scheme)
            page.goto(f"{served.url}/console#/{address}")
            settled(page, address.split("?")[0])
            page.wait_for_load_state("networkidle")
            if steps:
                steps(page)
            page.screenshot(path=FOLDER / f"{file}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()

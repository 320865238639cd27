"""Import: what the page shows of a file before it is taught."""

import pytest
from playwright.sync_api import expect

from tests.console.looking import as_csv, choose

pytestmark = pytest.mark.slow  # needs chromium


def test_a_file_without_a_text_yet_is_not_said_to_be_rejected(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", as_csv([["text", "label"], ["ice", "hockey"], ["", "x"]]))
    expect(page.get_by_text("1 row will be rejected, the first in line 3")).to_be_visible()
    page.get_by_label("Role of text").select_option("not used")
    expect(page.get_by_text("No column has the text yet")).to_be_visible()
    expect(page.get_by_text("rejected")).to_have_count(0)
    page.wait_for_timeout(600)
    expect(page.get_by_text("rejected")).to_have_count(0)


def test_a_long_word_hides_no_column(empty, look):
    page = look(empty, "import", viewport={"width": 1280, "height": 800})
    rows = [["text", "note", "label"], ["x" * 1000, "y" * 1000, "hockey"]]
    choose(page, "a.csv", as_csv(rows))
    table = page.get_by_label("The first rows")
    cell = table.get_by_role("cell", name="hockey").bounding_box()
    around = table.bounding_box()
    assert cell["x"] + cell["width"] <= around["x"] + around["width"]

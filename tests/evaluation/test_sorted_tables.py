"""The tables of a report, sorted and filtered in a browser without the network."""

import pytest
from playwright.sync_api import expect, sync_playwright

from manyclass.evaluation.html_report import page, table_html
from manyclass.evaluation.report import EMPTY, Cell, Table
from tests.console.looking import chromium, severe_faults

pytestmark = pytest.mark.slow  # needs chromium


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Yield a page with a long table and a short one."""
    shares = [Cell(f"{at / 100:.2f}", at / 100) for at in range(30)] + [EMPTY]
    rows = [
        [Cell(f"class {at % 7}-{at}"), Cell(f"{at * 1000:,}", at * 1000), share]
        for at, share in enumerate(shares)
    ]
    tables = [
        Table("Classes", ["class", "rows", "recall"], rows, [-1] * 3),
        Table("Few", ["a", "b"], [[Cell("x"), Cell("y")]], [-1] * 2),
    ]
    file = tmp_path_factory.mktemp("report") / "page.html"
    file.write_text(page("A report", {}, "".join(map(table_html, tables))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        shown = browser.new_page()
        faults = []
        shown.on("pageerror", lambda error: faults.append(str(error)))
        shown.on("request", lambda each: faults.append(each.url) if "http" in each.url else None)
        shown.goto(file.as_uri())
        yield shown
        browser.close()
        assert faults == []


def first(shown, column, count=3):
    cells = shown.locator(f"table >> nth=0 >> tbody tr:not([hidden]) td:nth-child({column})")
    return cells.all_inner_texts()[:count]


def test_numbers_sort_largest_first_then_least_first_and_those_without_come_last(opened):
    head = opened.get_by_role("columnheader", name="recall")
    head.get_by_role("button").click()
    assert first(opened, 3) == ["0.29", "0.28", "0.27"]
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("button").click()
    assert first(opened, 3) == ["0.00", "0.01", "0.02"]
    assert first(opened, 3, 31)[-1] == "-"
    opened.get_by_role("columnheader", name="rows").get_by_role("button").press("Enter")
    assert first(opened, 2, 2) == ["30,000", "29,000"]
    expect(head).not_to_have_attribute("aria-sort", "ascending")


def test_names_sort_by_letter(opened):
    opened.get_by_role("columnheader", name="class").get_by_role("button").click()
    assert first(opened, 1, 2) == ["class 0-0", "class 0-14"]


def test_long_tables_are_filtered(opened):
    fields = opened.get_by_label("Rows that contain")
    expect(fields).to_have_count(1)
    fields.fill("CLASS 3-")
    assert {name[:8] for name in first(opened, 1, 31)} == {"class 3-"}
    fields.fill("")
    assert len(first(opened, 1, 99)) == 31
    assert severe_faults(opened) == []


def test_a_table_of_one_row_has_nothing_to_sort(opened):
    expect(opened.locator("table >> nth=1 >> th button")).to_have_count(0)

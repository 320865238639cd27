"""Import: the first step, a file of an office: workbooks, other encodings, no header, years."""

import json
from base64 import b64encode

import httpx
import pytest
from playwright.sync_api import expect

from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource
from tests.console.looking import as_csv, choose
from tests.console.test_import import taught_events, teach
from tests.training.tables import workbooks
from tests.training.tables.notations import BANK

pytestmark = pytest.mark.slow  # needs chromium

READ = """async content => {
    const bytes = Uint8Array.from(atob(content), sign => sign.charCodeAt(0));
    const { openTable, rowsOf } = await import("/console/rows.js");
    const table = await openTable(new File([bytes], "a.xlsx"));
    const found = [];
    for await (const { line, row } of rowsOf(table)) found.push([line, row]);
    return JSON.stringify([table.names, found]);
}"""
WORKBOOKS = {
    "cells of each kind": workbooks.kinds()[0],
    "formulas and merged cells": workbooks.office(),
    "Excel before 2007": workbooks.old(),
    "LibreOffice": workbooks.libre(),
    "blank rows": workbooks.workbook([[], ["text", "label"], [], ["a", "b"], ["c", None]]),
    "titles": workbooks.workbook([["Of May"], ["text", "label"], ["a", "b"], ["c", "d"]]),
    "no header": workbooks.workbook(BANK),
    "years": workbooks.workbook([[2024, 2023], ["a text", 2136], ["b text", 2137]]),
}


@pytest.mark.parametrize("kind", WORKBOOKS)
def test_the_rows_of_a_workbook_are_those_of_the_command_line(untaught_page, tmp_path, kind):
    file = tmp_path / "a.xlsx"
    file.write_bytes(WORKBOOKS[kind])
    layout = Layout(text=("1",), classes=("2",))
    rows = [*TableSource(str(file), "xlsx", layout)]
    expected = [[*rows[0].names], [[row.number, [*row.cells]] for row in rows]]
    content = b64encode(WORKBOOKS[kind]).decode()
    assert json.loads(untaught_page.evaluate(READ, content)) == expected


def classes(served):
    found = httpx.get(f"{served.url}/classes", params={"limit": 1000}).json()["classes"]
    return sorted(each["class"] for each in found)


def test_a_workbook_is_taught(empty, look):
    page = look(empty, "import")
    rows = [["text", "label"], ["where is it", 2136], ["what is it", "007"], ["who", 2136]]
    choose(page, "tickets.xlsx", workbooks.workbook([["other"], ["sheet"]], rows))
    page.get_by_label("Sheet").select_option("S2")
    expect(page.get_by_label("Encoding of the file")).to_have_count(0)
    teach(page)
    assert classes(empty) == ["007", "2136"]
    assert taught_events(empty)[1] == ("what is it", "007")


@pytest.mark.parametrize("kind", ["password", "bomb", "far in .ods"])
def test_a_hostile_workbook_is_refused_with_the_reason(empty, look, kind):
    make, reason = workbooks.HOSTILE[kind]
    page = look(empty, "import")
    choose(page, "a.xlsx", make())
    said = page.get_by_role("alert").filter(has_text=reason)
    expect(said).to_be_visible(timeout=60_000)
    expect(page.get_by_label("Header")).to_have_count(0)


def test_a_workbook_needs_a_key_that_may_learn(serve, look):
    served = serve(rank_keys=("r",), learn_keys=("l",))
    page = look(served, "import")
    page.get_by_label("Key").fill("r")
    page.keyboard.press("Enter")
    choose(page, "a.xlsx", workbooks.workbook([["text"], ["a"]]))
    said = page.get_by_role("alert").filter(has_text="a key of the scope learn is needed")
    expect(said).to_be_visible()


def test_no_row_of_a_file_without_a_header_is_lost(empty, look):
    page = look(empty, "import")
    choose(page, "bank.csv", as_csv(BANK))
    header = page.get_by_label("Header")
    expect(header).to_have_value("false")
    page.get_by_label("Role of column 1").select_option("text")
    page.get_by_label("Role of column 2").select_option("class")
    teach(page)
    assert taught_events(empty) == [tuple(row) for row in BANK]
    assert len(classes(empty)) == 3
    header.select_option("true")
    expect(page.get_by_label("Role of card_arrival")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_years_are_names_or_data_as_the_person_says(empty, look):
    page = look(empty, "import")
    choose(page, "years.csv", as_csv([["2024", "2023"], ["a text", "x"], ["b text", "y"]]))
    header = page.get_by_label("Header")
    expect(header).to_have_value("true")
    page.get_by_label("Role of 2024").select_option("text")
    page.get_by_label("Role of 2023").select_option("class")
    teach(page)
    assert classes(empty) == ["x", "y"]
    choose(page, "numbers.csv", as_csv([["2024", "2023"], ["7", "8"], ["9", "10"]]))
    expect(header).to_have_value("false")
    header.select_option("true")
    expect(page.get_by_label("Role of 2024")).to_be_visible()


def test_the_sign_between_cells_is_changed(empty, look):
    page = look(empty, "import")
    choose(page, "a.csv", b"text;a,label\nb;c,x\nd;e,y\n")
    sign = page.get_by_label("Sign between cells")
    expect(sign).to_have_value(",")
    expect(page.get_by_role("cell", name="b;c")).to_be_visible()
    sign.select_option(";")
    expect(page.get_by_role("cell", name="c,x")).to_be_visible()
    expect(sign).to_have_value(";")


def test_rejected_rows_of_a_workbook_are_saved_to_be_fixed(empty, look):
    page = look(empty, "import")
    rows = [["text", "label", "weight"], ["ü", "x", 1], ["ö", "y", "many"], ["=a", "z", "few"]]
    choose(page, "a.xlsx", workbooks.workbook(rows))
    teach(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download them as CSV").click()
    content = download.value.path().read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    choose(page, "rejected.csv", content.replace(b"many", b"2").replace(b"few", b"3"))
    teach(page)
    assert sorted(taught_events(empty)) == [("=a", "z"), ("ö", "y"), ("ü", "x")]


def waiting(served):
    return httpx.get(f"{served.url}/review").json()["instances"]


def test_rows_without_a_class_are_put_into_review(empty, look):
    page = look(empty, "import")
    rows = [
        ["text", "label", "source"],
        *(["a message", "a", "mail"], ["b", "", "desk"], ["c", "", ""]),
    ]
    choose(page, "tickets.csv", as_csv(rows))
    page.get_by_role("button", name="Put 2 rows without a class into Review").click()
    expect(page.get_by_text("put 2 into Review")).to_be_visible()
    expect(page.get_by_text("with a class (1)")).to_be_visible()
    found = {each["text"]: (each["source"], each["batch"]) for each in waiting(empty)}
    assert found == {"b": ("desk", "tickets.csv"), "c": (None, "tickets.csv")}
    assert httpx.get(f"{empty.url}/stats").json()["seq"] == 0
    page.get_by_role("link", name="Label them in Review").click()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()


def test_a_file_without_classes_is_put_into_review_whole(empty, look):
    page = look(empty, "import")
    choose(page, "mail.csv", as_csv([["id", "text"], ["7", "where is it"], ["8", "who"]]))
    page.get_by_role("button", name="Put the rows into Review").click()
    expect(page.get_by_text("put 2 into Review")).to_be_visible()
    assert {each["text"] for each in waiting(empty)} == {"where is it", "who"}
    page.get_by_role("button", name="Put the rows into Review").click()
    expect(page.get_by_role("status").filter(has_text="put 2 into Review")).to_be_visible()
    page.wait_for_timeout(1500)
    assert len(waiting(empty)) == 2  # not twice

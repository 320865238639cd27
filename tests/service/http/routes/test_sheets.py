"""POST /sheets: the rows of a workbook, or the reason why it cannot be read."""

import asyncio
import re

import pytest

from manyclass.service.http import workbook_child
from manyclass.service.http import workbooks as workbooks_module
from tests.service.serving import KEYS, assert_problem, bearer, calling
from tests.training.tables import workbooks

BINARY = {"content-type": b"application/octet-stream"}


def assert_refused(answer, status, reason):
    assert_problem(answer, status)
    assert re.search(reason, answer.json()["detail"])


async def sheets(call, content, **headers):
    return await call("POST", "/sheets", content, headers=BINARY | headers)


async def test_the_sheets_of_a_workbook_are_read():
    async with calling() as call:
        found = (await sheets(call, workbooks.office())).json()
        assert found["first"] == "Data"
        assert [each["name"] for each in found["sheets"]] == ["Old", "Data"]
        assert found["sheets"][1]["rows"] == workbooks.OFFICE_ROWS
        for content, rows in (
            (workbooks.old(), workbooks.OLD_ROWS),
            (workbooks.libre(), workbooks.LIBRE_ROWS),
        ):
            found = (await sheets(call, content)).json()
            assert found == {"first": "S1", "sheets": [{"name": "S1", "rows": rows}]}


@pytest.mark.parametrize("kind", workbooks.HOSTILE)
async def test_a_hostile_workbook_is_refused_with_the_reason(kind):
    make, reason = workbooks.HOSTILE[kind]
    async with calling() as call:
        answer = await sheets(call, make())
        assert_refused(answer, 422, f"The workbook cannot be read: .*({reason})")
        assert (await sheets(call, workbooks.workbook([["a"]]))).status_code == 200


async def test_a_workbook_that_takes_too_much_memory_ends_the_child_alone(monkeypatch):
    """The texts of a sheet are within the bounds of cells and bytes, and more than fits."""
    rows = [["a"] * 1000] * 3999
    async with calling() as call:
        answer = await sheets(call, workbooks.open_document(many_texts()))
        assert_refused(answer, 422, "to read it takes more than 402,653,184 bytes: save the sheet")
        assert (await sheets(call, workbooks.workbook(rows[:1]))).status_code == 200


def many_texts():
    """Return the XML of rows of which each text is repeated, so that the reader holds copies."""
    text = "x" * 10_000
    return (
        f'<table:table-row><table:table-cell table:number-columns-repeated="100000"'
        f' office:value-type="string"><text:p>{text}</text:p></table:table-cell></table:table-row>'
    )


async def test_an_answer_is_bounded_by_the_memory_for_requests():
    rows = [["text " * 100] * 10] * 100
    async with calling(max_body_bytes=10**5, max_buffered_bytes=10**6) as call:
        answer = await sheets(call, workbooks.workbook(rows))
        assert_refused(answer, 422, "its rows take more than 250,000 bytes: save the sheet as CSV")
        assert call.app.limits.budget.used == 0
        assert (await sheets(call, workbooks.workbook(rows[:10]))).status_code == 200
        assert call.app.limits.budget.used == 0


async def test_workbooks_reserve_their_answers_when_their_turn_comes():
    async with calling(max_body_bytes=10**5, max_buffered_bytes=10**6) as call:
        content = workbooks.workbook([["a"]])
        answers = await asyncio.gather(*(sheets(call, content) for _ in range(6)))
        assert [each.status_code for each in answers] == [200] * 6
        assert call.app.limits.budget.used == 0


async def test_too_many_workbooks_at_once_are_asked_to_come_again(monkeypatch):
    monkeypatch.setattr(workbooks_module, "MOST_WAITING", 2)
    async with calling() as call:
        content = workbooks.workbook([["a"]])
        answers = await asyncio.gather(*(sheets(call, content) for _ in range(4)))
        assert sorted(each.status_code for each in answers) == [200, 200, 503, 503]
        assert (await sheets(call, content)).status_code == 200


async def test_a_large_body_and_another_type_are_refused():
    async with calling(max_body_bytes=2048) as call:
        assert_refused(await sheets(call, bytes(2049)), 413, "A body has at most 2048 bytes")
        answer = await call("POST", "/sheets", b"{}")
        assert_refused(answer, 415, "Content-Type must be application/octet-stream")


async def test_it_needs_a_key_that_may_learn():
    async with calling(**KEYS) as call:
        content = workbooks.workbook([["a"]])
        assert (await sheets(call, content, **bearer("r"))).status_code == 403
        assert (await sheets(call, content, **bearer("l"))).status_code == 200


def test_the_child_is_bounded_below_what_a_service_may_take():
    assert workbook_child.BOUNDS.cells * 32 < workbook_child.MEMORY_BYTES
    assert workbook_child.BOUNDS.unpacked < workbook_child.MEMORY_BYTES

"""Moments are read in each form in which people and programs write them."""

import pytest

from manyclass.service.http.moments import LAST, moment_of

DAY = 1704067200.0  # 2024-01-01, in UTC


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2024-01-01T00:00:00Z", DAY),
        ("2024-01-01t00:00:00z", DAY),
        ("2024-01-01 00:00:00Z", DAY),
        ("2024-01-01T00:00:00.250Z", DAY + 0.25),
        ("2024-01-01T02:00:00+02:00", DAY),
        ("2024-01-01T02:00:00 02:00", DAY),  # a plus that was not percent-encoded
        ("2023-12-31T19:00:00-05:00", DAY),
        ("2024-01-01T00:00:00", DAY),
        ("2024-01-01T00:00", DAY),
        ("2024-01-01", DAY),
        (" 2024-01-01 ", DAY),
        ("1704067200", DAY),
        (1704067200, DAY),
        (1704067200.5, DAY + 0.5),
        ("1704067200.5", DAY + 0.5),
        ("1.7040672e9", DAY),
        ("0", 0.0),
        ("20240101", DAY),
        (20240101, DAY),
        (20241301, 20_241_301.0),  # no date: any number of seconds is valid
        ("19999999", 19_999_999.0),
        ("2023-12-31T23:59:60Z", DAY - 1),
        ("2024-01-01T00:00:00+00:00", DAY),
        ("0072-02-09T11:32:14-15:37", 0.0),
        ("1969-12-31", 0.0),
        ("1969-12-31T23:59:59Z", 0.0),
        ("9999-12-31T23:59:59Z", LAST),
    ],
)
def test_a_moment_is_read(given, seconds):
    assert moment_of(given) == seconds


def test_a_date_that_ends_is_its_whole_day():
    assert moment_of("2024-01-01", ends=True) == DAY + 86_399.999
    assert moment_of("2024-01-01T00:00:00Z", ends=True) == DAY
    assert moment_of("1704067200", ends=True) == DAY


@pytest.mark.parametrize(
    "given",
    [
        "",
        "yesterday",
        "2024-13-01",
        "2024-02-30",
        "2024-01-01T12:60",
        "01.02.2024",
        "-1",
        "1e12",
        "nan",
        "inf",
        "\u0661",
        "2024-W01",
        "2024W011",
        "2024-w01-1T00:00:00Z",
    ],
)
def test_what_is_no_moment_is_refused_with_the_form(given):
    with pytest.raises(ValueError, match="2026-11-25T09:30:00Z") as error:
        moment_of(given)
    assert repr(given) in str(error.value)


@pytest.mark.parametrize(
    ("given", "why"), [("1704067200000", "milliseconds"), ("-1", "before 1970")]
)
def test_a_number_out_of_range_says_why(given, why):
    with pytest.raises(ValueError, match=why):
        moment_of(given)


async def test_events_are_found_by_each_form(call):
    async def found(**chosen):
        answered = await call("GET", "/events", params=chosen)
        assert answered.status_code == 200, answered.text
        return len(answered.json()["events"])

    call.clock.now = DAY + 3600
    await call.learn(("a", "x"))
    for since in ("2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01T03:00:00+02:00", DAY):
        assert await found(since=since) == 1
    for since in ("2024-01-02", "2024-01-01T01:00:01Z", DAY + 3601):
        assert await found(since=since) == 0
    assert await found(until="2024-01-01") == 1
    assert await found(until="2024-01-01T00:00:00Z") == 0
    assert await found(until="2023-12-31") == 0
    assert await found(since="0072-02-09T11:32:14-15:37") == 1
    assert await found(until="1969-07-20") == 0
    for name in ("since", "until"):
        answered = await call("GET", "/events", params={name: "yesterday"})
        assert answered.status_code == 422
        [fault] = answered.json()["errors"]
        assert fault["parameter"] == name
        assert fault["detail"].startswith("'yesterday' is not a time: give a time such as 2026")

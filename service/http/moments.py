"""Moments in the form of a parameter: a number of seconds, a time, or a date."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

LAST: Final = 1e11  # unix seconds
FORM: Final = (
    "a time such as 2026-11-25T09:30:00Z (RFC 3339, in UTC unless it names another zone), a date"
    " such as 2026-11-25, or unix seconds such as 1764063000"
)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WEEK = re.compile(r"\d{4}-?W")  # refused: names many days, but Python reads it as the first
# In a query that was not percent-encoded, the plus of a time zone arrives as a space.
_PLUS = re.compile(r" (\d{2}:?\d{2})$")
_LEAP_SECOND = re.compile(r"(:\d{2}):60(?!\d)")  # valid in RFC 3339, unknown to Python
_COMPACT = re.compile(r"(19|20)\d{6}", re.ASCII)  # a date; as unix seconds it would be in 1970


def moment_of(given: object, ends: bool = False) -> float:
    """Return the unix seconds of a moment. A date without a time stands for the first moment of the
    day, or with `ends` for its last millisecond. A time before 1970 becomes the beginning of 1970,
    because no event is older, and a time after LAST becomes LAST. Raises ValueError, which says the
    form.
    """
    text = str(given).strip()
    if _COMPACT.fullmatch(text):
        with suppress(ValueError):  # 20241301 is not a date, so it is read as seconds
            text = date.fromisoformat(text).isoformat()
    if not _is_number(text):
        try:
            return min(max(_seconds_of(text, ends), 0.0), LAST)
        except ValueError:
            raise ValueError(f"{text!r} is not a time: give {FORM}") from None
    seconds = float(text)
    if seconds > LAST:
        raise ValueError(f"{text!r} is too late, perhaps in milliseconds: give {FORM}")
    if seconds < 0:
        raise ValueError(f"{text!r} is before 1970: give {FORM}")
    return seconds


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII) is not None


def _seconds_of(text: str, ends: bool) -> float:
    if _WEEK.match(text.upper()):
        raise ValueError
    if _DATE.fullmatch(text):
        day = datetime.combine(datetime.fromisoformat(text), time(), UTC)
        moment = day + timedelta(days=1, milliseconds=-1) if ends else day
    else:
        text = _LEAP_SECOND.sub(r"\1:59", _PLUS.sub(r"+\1", text.upper()))
        moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

"""Submission: retries stay out of the log, and every entry gets its answer in its place."""

import asyncio

import pytest

from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.service.log.request import Result
from manyclass.service.log.submission import Submission
from tests.service.engines import model_of
from tests.service.faulty import learn

RETRY = Result.of_retry(7)


def submission(*entries):
    return Submission(entries, 0.0, asyncio.get_running_loop().create_future())


async def test_only_events_count_and_go_into_the_log():
    event = learn("a", "x")
    one = submission(RETRY, event, RETRY)
    assert (one.count, one.size) == (1, len(bytes(event)))
    assert list(one.payloads()) == [bytes(event)]
    result = Result(8, False, None, True)
    assert one.in_order([result]) == [RETRY, result, RETRY]


async def test_retries_of_applied_events_are_set_aside():
    known, new = learn("a", "x", "known"), learn("b", "y", "new")
    one = submission(known, RETRY, new, new)
    one.set_aside(model_of(known))
    assert one.new == [new, new]  # the second is told apart when the first is applied
    assert one.count == 3
    result, again = Result(2, False, None, True), Result.of_retry(2)
    assert one.in_order([result, again]) == [Result.of_retry(1), RETRY, result, again]


async def test_events_with_ids_are_joined_also_when_the_first_was_set_aside():
    known, one, two = learn("a", "x", "known"), learn("b", "y", "one"), learn("c", "z")
    submitted = submission(known, one, two)
    submitted.set_aside(model_of(known))
    assert [Event.from_bytes(each).joined for each in submitted.payloads()] == [False, True]


async def test_a_conflict_has_its_place_among_all_entries():
    known = learn("a", "x", "known")
    with pytest.raises(EventConflict) as caught:
        submission(RETRY, known, learn("b", "y", "known")).set_aside(model_of(known))
    assert caught.value.position == 2
    one = submission(RETRY, known, learn("b", "y", "two"), learn("c", "z", "three"))
    one.set_aside(model_of(known))
    assert one.placed(EventConflict(1, "three", 9)).position == 3

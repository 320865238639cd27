import asyncio

import pytest

from load_tests.stretches import bodies, measure, watched
from tests.load_tests.commands import run_module

SMALL = 40_000


@pytest.mark.parametrize(
    ("name", "body"), [pytest.param(*each, id=each[0]) for each in bodies(SMALL, 100)]
)
def test_every_body_is_answered_and_measured(name, body):
    sent, empty = asyncio.run(measure(body, "ff", 2**21))
    assert sent.status in (200, 400, 413, 422)
    assert empty.status == 422
    assert sent.answer_bytes > 0
    assert 0 < sent.longest <= sent.total


def test_each_callback_is_measured():
    async def three_turns():
        for _ in range(3):
            await asyncio.sleep(0)

    async def counted():
        with watched() as stretches:
            await asyncio.ensure_future(three_turns())
        return stretches.callbacks

    assert asyncio.run(counted()) >= 4


def test_a_stretch_over_the_limit_fails_the_run():
    options = ("stretches", "--bytes", str(SMALL), "--only", "deep JSON")
    assert run_module(*options).returncode == 0
    result = run_module(*options, "--limit", "0")
    assert result.returncode == 1
    assert "longer than 0 ms: /rank deep JSON, /learn deep JSON" in result.stderr

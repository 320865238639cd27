"""GET /state: the whole state, from the process and not from the store."""

import asyncio
import re
from unittest.mock import AsyncMock

from manyclass.core.model import Model
from manyclass.service.http.routes import state as state_module
from manyclass.service.http.routes.state import MOST_READERS
from manyclass.service.store.errors import StoreUnavailable
from tests.service.serving import assert_problem


async def test_it_is_the_state_as_it_is_now(call, monkeypatch):
    monkeypatch.setattr(state_module, "PIECE_BYTES", 100)
    await call.learn(("a b", "x"), ("b c", "y"))
    answer = await call("GET", "/state")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert re.search('filename="manyclass-2.snapshot"', answer.headers["content-disposition"])
    assert Model.load([answer.content]).digest() == call.digest()


async def test_it_can_be_had_while_the_store_is_away_or_learning_has_stopped(call):
    await call.learn(("a", "x"))
    call.store.append_error = call.store.save_error = StoreUnavailable("away")
    assert (await call("GET", "/state")).status_code == 200
    call.app.engine._pipeline.group_commit.fail("a test wants it so")
    assert call.app.engine.status == "failed"
    answer = await call("GET", "/state")
    assert Model.load([answer.content]).digest() == call.digest()


async def test_one_copy_is_made_for_all_who_read_at_once(call, monkeypatch):
    await call.learn(("a b", "x"))
    engine, downloads = call.app.engine, call.app.api.state.downloads
    made = 0
    state = engine.state

    async def counted():
        nonlocal made
        made += 1
        return await state()

    monkeypatch.setattr(engine, "state", counted)
    opened = await asyncio.gather(*(downloads.open() for _ in range(MOST_READERS)))
    assert made == 1
    assert all(pieces is opened[0][1] for _, pieces in opened)
    assert_problem(await call("GET", "/state"), 503)  # too many
    downloads.close()
    await call.learn(("c", "y"))
    assert_problem(await call("GET", "/state"), 503)  # an older one is being read
    for _ in range(MOST_READERS - 1):
        downloads.close()
    answer = await call("GET", "/state")
    assert Model.load([answer.content]).digest() == call.digest()
    assert made == 2
    assert downloads._readers == 0


async def test_a_copy_that_fails_is_not_kept(call, monkeypatch):
    engine = call.app.engine
    with monkeypatch.context() as patched:
        fails = AsyncMock(side_effect=StoreUnavailable("a test wants it so"))
        patched.setattr(engine, "state", fails)
        assert_problem(await call("GET", "/state"), 503)
    assert (await call("GET", "/state")).status_code == 200

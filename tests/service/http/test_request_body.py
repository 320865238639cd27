import asyncio
import gzip
import random
import tracemalloc
import zlib
from unittest.mock import AsyncMock

import pytest

from manyclass.service.http import request_body
from manyclass.service.http.memory_budget import MemoryBudget, Reservation
from manyclass.service.http.problems import ClientGone, Problem
from manyclass.service.http.request_body import (
    FED_BYTES,
    MEMBER_BYTES,
    MOST_SMALL_MEMBERS,
    MOST_UNUSED_BYTES,
    PIECE_BYTES,
    Blocks,
    Gunzip,
    discard_body,
    is_gzipped,
    media_type,
    read_body,
    require_json,
)

TEXT = b"x" * 1000
ZIPPED = gzip.compress(TEXT, mtime=0)  # the same test ids in each process
GZIP = {b"content-encoding": b"gzip"}
LEFT = {"type": "http.disconnect"}


def piece(data, more=True):
    return {"type": "http.request", "body": data, "more_body": more}


def receiving(*messages):
    """Return a `receive` that returns these messages in turn."""
    return AsyncMock(side_effect=messages)


async def read(*pieces, headers=None, most=1000, leave=False):
    """Return the result of `read_body` for these pieces."""
    messages = [piece(data, leave or number < len(pieces)) for number, data in enumerate(pieces, 1)]
    budget = MemoryBudget(10 * 2**20)
    reservation = Reservation(budget)
    try:
        whole = await read_body(headers or {}, receiving(*messages, LEFT), most, reservation)
        assert budget.used == len(whole)
        return whole
    finally:
        reservation.release()
        assert budget.used == 0


async def refused(*pieces, **options):
    with pytest.raises(Problem) as caught:
        await read(*pieces, **options)
    return caught.value.status


async def test_reads_a_body_in_one_piece_or_many():
    assert await read(TEXT) == TEXT
    assert await read(b"ab", b"", b"cd") == b"abcd"
    assert await read(b"") == b""


async def test_reads_gzip():
    assert await read(ZIPPED, headers=GZIP) == TEXT
    assert await read(ZIPPED[:10], ZIPPED[10:], headers=GZIP) == TEXT
    assert await read(gzip.compress(b"ab") + gzip.compress(b"cd"), headers=GZIP) == b"abcd"
    assert await read(b"", headers=GZIP) == b""


async def test_refuses_what_is_too_large():
    assert await refused(b"x" * 1001) == 413
    assert await refused(b"x" * 600, b"x" * 600) == 413
    assert await refused(b"", headers={b"content-length": b"1001"}) == 413
    assert await refused(gzip.compress(b"x" * 1001), headers=GZIP) == 413


async def test_reads_no_more_than_it_may():
    receive = AsyncMock(return_value=piece(b"x" * 600))
    with pytest.raises(Problem):
        await read_body({}, receive, 1000, Reservation(MemoryBudget(2000)))
    assert receive.await_count == 2


async def test_bodies_on_their_way_share_one_budget():
    """Bodies release their memory, however they end. Small ones have room left."""
    budget = MemoryBudget(8 * 100_000)

    async def reading(receive):
        reservation = Reservation(budget)
        try:
            return await read_body({}, receive, 100_000, reservation)
        finally:
            reservation.release()

    queues = [asyncio.Queue() for _ in range(8)]
    tasks = [asyncio.create_task(reading(queue.get)) for queue in queues]

    async def say(number, *messages):
        for message in messages:
            queues[number].put_nowait(message)
            for _ in range(5):
                await asyncio.sleep(0)

    for number in range(7):
        await say(number, piece(b"x" * 50_000), piece(b"x" * 50_000))
    assert budget.used == 700_000
    await say(7, piece(b"x" * 50_000), piece(b"x" * 50_000))
    with pytest.raises(Problem) as caught:
        await tasks[7]
    assert caught.value.status == 503
    assert int(caught.value.headers["Retry-After"]) >= 1
    assert budget.refused == 1
    small = receiving(piece(b"x" * 60_000, more=False))
    assert len(await reading(small)) == 60_000

    await say(0, piece(b"x"))  # too large
    with pytest.raises(Problem) as caught:
        await tasks[0]
    assert caught.value.status == 413
    tasks[1].cancel()
    await say(2, LEFT)
    with pytest.raises(ClientGone):
        await tasks[2]
    for number in range(3, 7):
        await say(number, piece(b"", more=False))
        assert len(await tasks[number]) == 100_000
    assert budget.used == 0


async def test_a_body_that_is_not_needed_is_read_to_its_end():
    half, last = piece(b"x" * (MOST_UNUSED_BYTES // 2)), piece(b"", more=False)
    for messages in ([last], [half, half, last]):
        receive = receiving(*messages)
        await discard_body(receive)
        assert receive.await_count == len(messages)
    with pytest.raises(ClientGone):
        await discard_body(receiving(half, LEFT))
    with pytest.raises(Problem) as caught:
        await discard_body(receiving(half, half, half))
    assert caught.value.status == 413


class CountingZlib:
    """A zlib that counts its decompressors and their input bytes."""

    error = zlib.error

    def __init__(self):
        self.made = 0
        self.given = 0

    def decompressobj(self, wbits):
        self.made += 1
        return CountingMember(self, zlib.decompressobj(wbits=wbits))


class CountingMember:
    def __init__(self, counts, member):
        self._counts = counts
        self._member = member

    def decompress(self, data, most):
        self._counts.given += len(data)
        return self._member.decompress(data, most)

    def __getattr__(self, name):
        return getattr(self._member, name)


@pytest.fixture
def counting(monkeypatch):
    counting = CountingZlib()
    monkeypatch.setattr(request_body, "zlib", counting)
    return counting


@pytest.mark.parametrize("count", [200, 2000])
async def test_many_members_take_work_linear_in_their_bytes(count, counting):
    """Use members of the smallest allowed average size."""
    noise = random.Random(0).randbytes(MEMBER_BYTES)
    packed = gzip.compress(noise) * count
    assert await read(packed, headers=GZIP, most=len(packed)) == noise * count
    assert counting.made == count
    assert counting.given <= (FED_BYTES // MEMBER_BYTES + 1) * len(packed)


@pytest.mark.parametrize("size", [2**18, 2**20])
async def test_members_of_nothing_are_refused_before_they_take_work(size, counting):
    empty = gzip.compress(b"")
    assert await refused(empty * (size // len(empty)), headers=GZIP, most=2**20) == 400
    assert counting.made <= 2 * MOST_SMALL_MEMBERS
    assert counting.given <= counting.made * FED_BYTES


async def test_a_few_members_may_be_as_small_as_they_like():
    packed = gzip.compress(b"x") * MOST_SMALL_MEMBERS
    assert await read(packed, headers=GZIP, most=len(packed)) == b"x" * MOST_SMALL_MEMBERS


async def test_a_bomb_takes_no_memory():
    bomb = gzip.compress(bytes(200 * 2**20), compresslevel=9)
    tracemalloc.start()
    assert await refused(bomb, headers=GZIP, most=2**20) == 413
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20


@pytest.mark.parametrize(
    "broken",
    [b"not gzip", ZIPPED[:-1], ZIPPED[:12], ZIPPED[:-5] + b"\0" + ZIPPED[-4:], ZIPPED + b"more"],
)
async def test_refuses_broken_gzip(broken):
    assert await refused(broken, headers=GZIP) == 400


async def test_a_client_that_left_is_not_answered():
    for pieces in ([], [b"{"], [b"{", b"}"]):
        with pytest.raises(ClientGone):
            await read(*pieces, leave=True)


def test_the_refusal_of_a_body_names_the_types_that_are_read():
    for others, wanted in (
        ((), "must be application/json; this request has text/plain."),
        (("application/x-ndjson",), "must be application/json or application/x-ndjson; this"),
    ):
        with pytest.raises(Problem, match=wanted) as caught:
            require_json({b"content-type": b"text/plain"}, *others)
        assert caught.value.status == 415


@pytest.mark.parametrize("encoding", [b"br", b"deflate", b"gzip, gzip", b"zstd"])
def test_refuses_other_encodings(encoding):
    with pytest.raises(Problem) as caught:
        is_gzipped({b"content-encoding": encoding})
    assert caught.value.status == 415
    assert caught.value.headers == {"Accept-Encoding": "gzip"}


def test_knows_when_to_unpack():
    assert is_gzipped({b"content-encoding": b"GZIP"})
    assert not is_gzipped({b"content-encoding": b"identity"})
    assert not is_gzipped({})


def test_gunzip_gives_pieces_of_bounded_size_however_it_is_fed():
    data = random.Random(0).randbytes(300_000) + bytes(300_000)
    packed = gzip.compress(data)
    for step in (1000, 70_000, len(packed)):
        gunzip = Gunzip()
        pieces = [
            piece
            for start in range(0, len(packed), step)
            for piece in gunzip.feed(packed[start : start + step])
        ]
        gunzip.end()
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) <= PIECE_BYTES


def test_only_json_is_json():
    for given in (b"application/json", b"Application/JSON; charset=utf-8"):
        require_json({b"content-type": given})
    for headers in ({}, {b"content-type": b"text/plain"}, {b"content-type": b"application/jsonx"}):
        with pytest.raises(Problem) as caught:
            require_json(headers)
        assert caught.value.status == 415


def test_the_media_type_has_no_parameters():
    assert media_type({b"content-type": b" Application/X-NDJSON ; a=b"}) == b"application/x-ndjson"
    assert media_type({}) == b""


def test_blocks_keep_pieces_of_any_size_in_order_and_take_little_more_memory():
    sizes = (1, 100, 70_000, 5, 60_000, 60_000, 250_000, 250_000) * 20 + (9_000,) * 300
    pieces = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    blocks = Blocks()
    tracemalloc.start()
    for each in pieces:
        blocks.add(each)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    large = sum(size for size in sizes if size >= 65_536)  # kept as they came
    whole = b"".join(pieces)
    assert blocks.size == len(whole)
    assert held < 1.02 * (len(whole) - large) + 70_000
    assert blocks.join() == whole
    assert (blocks.size, blocks.join()) == (0, b"")

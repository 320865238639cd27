"""Batches are answered as their instances are one by one, to the byte."""

import asyncio
import json
import random

import pytest

from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT
from manyclass.service.http import time_slice
from manyclass.service.http.batches import BatchBody, BatchRankings
from manyclass.service.http.routes import rank
from manyclass.service.http.titles import Titles
from tests.core.specifications import ONE_OF_EACH
from tests.service.faulty import PATIENCE
from tests.service.http.instance_texts import OTHER_TEXTS, PLAIN_TEXTS
from tests.service.serving import Conversation, calling

CLASSES = ["x", "ärger", "日本", "a b", 'quote"', "back\\slash", "".join(map(chr, range(33)))]
JSON = {"content-type": "application/json"}


def events(drawn, count):
    return [
        {
            "features": {name: drawn.randrange(1, 5) for name in drawn.sample("abcdefghij", 4)},
            "classes": drawn.sample(CLASSES, drawn.choice((1, 1, 2))),
        }
        for _ in range(count)
    ]


def asked_of(drawn, number):
    values = (1, 0.5, 3.25, 1e-5, 7e9)
    names = drawn.sample("abcdefghijklmno", drawn.randrange(1, 8))
    return {"features": {name: drawn.choice(values) for name in names}, "id": f"q {number}"}


def is_plain(body):
    return BatchBody.read(json.dumps(body).encode(), DEFAULT_TEXT, 1000, 1000, 2**20) is not None


def one_of_many(content, seq):
    """Return the answer to one instance as it is among those of a batch."""
    return content.replace(b'"seq":%d,' % seq, b"", 1)


@pytest.mark.parametrize("learner", ONE_OF_EACH)
async def test_a_batch_answers_what_single_requests_answer(learner, monkeypatch):
    drawn = random.Random(learner)
    async with calling(learner=learner, native=False) as call:
        parents = dict(zip(CLASSES, "ppqqrrr", strict=True))
        assert (await call("POST", "/classes", {"parents": parents})).status_code == 200
        assert (await call("POST", "/learn", {"events": events(drawn, 150)})).status_code == 200
        seq = call.app.engine.model.seq
        instances = [asked_of(drawn, number) for number in range(12)]
        for how in (
            {},
            {"k": 1},
            {"k": 50, "threshold": 0.1},
            {"threshold": -0.5, "min_confidence": 0.6},
            {"k": 3, "min_confidence": 1},
            {"min_accuracy": 0.2},
            {"k": 2, "min_accuracy": 0.5, "min_confidence": 0.4},
            {"min_accuracy": 1, "threshold": 0.1},
            {"probabilities": True, "k": 7},
            {"k": 30, "min_probability": 0.05, "threshold": -0.5},
            {"min_precision": 0.3, "min_probability": 0.02},
            {"min_precision": 1},
            {"probabilities": None, "min_probability": None, "min_precision": None},
            {"threshold": None, "min_confidence": None, "among": None, "decode": None},
            {"explain": False, "min_seq": seq},
            {"keep": True},
            {"keep": False, "min_confidence": 0.4},
            {"keep": None, "k": 2},
        ):
            body = {"instances": instances} | how
            assert is_plain(body)
            singles = [
                one_of_many((await call("POST", "/rank", each | how)).content, seq)
                for each in instances
            ]
            expected = b'{"seq":%d,"results":[%s]}' % (seq, b",".join(singles))
            assert (await call("POST", "/rank", body)).content == expected
            with monkeypatch.context() as patched:
                patched.setattr(rank, "BLOCK_SECONDS", 0)
                assert (await call("POST", "/rank", body)).content == expected
                patched.setattr(rank.Rank, "_batch", lambda *_: None)
                assert (await call("POST", "/rank", body)).content == expected


async def test_ids_and_counts_are_those_of_single_requests(call):
    await call.learn(("a", "x"), ("b", "y"))
    body = {"instances": [{"features": ["a"]}, {"features": ["b"], "id": 'my "id"'}] * 2}
    results = (await call("POST", "/rank", body)).json()["results"]
    made = [each["id"] for each in results[::2]]
    assert len(set(made)) == 2
    assert [each["id"] for each in results[1::2]] == ['my "id"'] * 2
    pending = call.app.api.state.pending
    assert pending.find(made[0]).data == bytes(Instance(["a"]))
    assert pending.find('my "id"').data == bytes(Instance(["b"]))
    metrics = await call.metrics()
    assert metrics["rank_duration_seconds_count"] == 4
    assert metrics["abstained_total"] == 0
    body |= {"min_confidence": 0.5}
    assert (await call("POST", "/rank", body)).json()["results"][3]["abstained"] is True
    assert (await call.metrics())["abstained_total"] == 4


@pytest.mark.parametrize("how", [{}, {"explain": True}, {"among": ["x", "y"]}, {"k": 2.0}])
async def test_instances_that_are_not_kept_have_no_id_made_for_them(call, how):
    await call.learn(("a", "x"), ("b", "y"))
    pending = call.app.api.state.pending
    instances = [{"features": ["a"]}, {"features": ["b"], "id": "mine"}]
    kept = (await call("POST", "/rank", {"instances": instances} | how)).json()
    one = (await call("POST", "/rank", instances[0] | how)).json()
    assert len(pending) == 3
    many = (await call("POST", "/rank", {"instances": instances, "keep": False} | how)).json()
    assert [each.get("id") for each in many["results"]] == [None, "mine"]
    assert "id" not in many["results"][0]
    for each in kept["results"]:
        del each["id"]
    many["results"][1].pop("id")
    assert many == kept
    del one["id"]
    assert (await call("POST", "/rank", instances[0] | how | {"keep": False})).json() == one
    assert len(pending) == 3
    labelled = await call("POST", "/learn", {"id": "mine", "classes": ["x"]})
    assert labelled.status_code == 200  # that of the ranking before


async def test_learning_goes_on_between_slices(call, monkeypatch):
    monkeypatch.setattr(time_slice, "SLICE_SECONDS", 0)
    monkeypatch.setattr(rank, "BLOCK_SECONDS", 0)
    metrics, learned, renew = (
        call.app.api.state.metrics,
        asyncio.Event(),
        time_slice.TimeSlice.renew,
    )

    async def renew_later(of):
        """Stop the batch behind its first block until there is more to know."""
        await renew(of)
        if asyncio.current_task() is many.task and any(metrics.rank_duration._counts):
            await asyncio.wait_for(learned.wait(), PATIENCE)

    await call.learn(("a", "x"))
    many = Conversation(call.app, "/rank", JSON)
    monkeypatch.setattr(time_slice.TimeSlice, "renew", renew_later)
    many.say(json.dumps({"instances": [{"features": ["a"]}] * 1000}).encode(), more=False)
    async with asyncio.timeout(PATIENCE):
        while not any(metrics.rank_duration._counts):
            await asyncio.sleep(0)
    await call.learn(("a", "y"), ("a", "y"), ("a", "y"))
    learned.set()
    status, _, content = await many.end()
    assert status == 200
    answer = json.loads(content)
    assert answer["seq"] == 1
    first, last = (answer["results"][at]["ranked"] for at in (0, -1))
    assert [each["class"] for each in first] == ["x"]
    assert {each["class"] for each in last} == {"x", "y"}


async def test_a_promoted_committee_ranks_the_rest(call):
    """The learner of the next block is that of the model by then."""
    await call.learn(("a", "x"), ("a", "y"))
    committee = "committee(members=ff+ind,vote=score)"
    async with calling(learner=committee) as other:
        await other.learn(("a", "x"), ("a", "y"))
        rankings = BatchRankings.of([Instance(["a"])] * 2, ["1", "2"], [None] * 2, 5, None, None)
        state = call.app.api.state
        blocks = []
        for app in (call.app, other.app):
            assert not rankings.is_done
            enrolled = app.engine.model.answering
            blocks.append(
                rankings.rank_block(
                    enrolled, state.pending, Titles(), state.metrics.rank_duration, 0
                )
            )
        assert rankings.is_done
        for block, app in zip(blocks, (call.app, other.app), strict=True):
            ranked = app.engine.model.rank(Instance(["a"]))
            assert [tuple(each.values()) for each in json.loads(block)["ranked"]] == ranked


ONE = b'{"features":["a"]}'


@pytest.mark.parametrize(
    "body",
    [
        b'{"instances":[%s]}' % ONE,
        b' {"k" : 2,"threshold":-1e-3, "instances" : [ %s , %s ] , "min_confidence":0.5 } '
        % (ONE, ONE),
        b'{"instances":[{"id":"q","features":{"a":2,"b":0,"c":-1}}]}',
        b'{"instances":[{"features":{"a":1e30,"b":0.5}}],"k":1000}',
    ],
)
async def test_plain_bodies(call, body, monkeypatch):
    assert BatchBody.read(body, DEFAULT_TEXT, 2, 10, 2**20) is not None
    await assert_same_both_ways(call, body, monkeypatch)


NOT_PLAIN = [
    b"",
    b"{}",
    b"[]",
    ONE,
    b'{"instances":[]}',
    b'{"instances":{}}',
    b'{"instances":[1]}',
    b'{"instances":[{}]}',
    b'{"instances":[{"id":"q"}]}',
    b'{"instances":[%s' % ONE,
    b'{"instances":[%s]' % ONE,
    b'{"instances":[%s}]' % ONE,
    b'{"instances":[%s,]}' % ONE,
    b'{"instances":[%s]}}' % ONE,
    b'{"instances":[%s],}' % ONE,
    b'{"instances":[%s,%s,%s]}' % (ONE, ONE, ONE),
    b'{"instances":[%s],"instances":[%s]}' % (ONE, ONE),
    b'{"instances":[%s],"k":0}' % ONE,
    b'{"instances":[%s],"k":1001}' % ONE,
    b'{"instances":[%s],"k":2.0}' % ONE,
    b'{"instances":[%s],"k":1,"k":2}' % ONE,
    b'{"instances":[%s],"id":"q"}' % ONE,
    b'{"instances":[%s],"features":["a"]}' % ONE,
    b'{"instances":[%s],"threshold":null,"threshold":1}' % ONE,
    b'{"instances":[%s],"min_confidence":1.5}' % ONE,
    b'{"instances":[%s],"min_confidence":-1}' % ONE,
    b'{"instances":[%s],"min_accuracy":1.5}' % ONE,
    b'{"instances":[%s],"min_accuracy":"0.9"}' % ONE,
    b'{"instances":[%s],"min_precision":0.5,"min_accuracy":0.5}' % ONE,
    b'{"instances":[%s],"probabilities":"yes"}' % ONE,
    b'{"instances":[%s],"explain":true}' % ONE,
    b'{"instances":[%s],"among":["x"]}' % ONE,
    b'{"instances":[%s],"min_seq":0.0}' % ONE,
    b'{"instances":[{"features":["a"],"explain":false}]}',
    b'{"instances":[{"features":["a"],"k":1}]}',
    b'{"instances":[{"features":["a"],"features":["a"]}]}',
    b'{"instances":[{"features":["a"],"id":""}]}',
    b'{"instances":[{"features":["a"],"id":"%s"}]}' % (b"x" * 201),
    b'{"instances":[{"features":["a"],"id":"\\u0061"}]}',
    b'{"instances":[{"features":["a"],"id":null}]}',
    b'{"instances":[{"features":["a"],"source":null}]}',
    b'{"instances":[{"features":["a"],"text":null}]}',
    b'{"instances":[{"features":null,"text":"a"}]}',
    b'{"instances":[%s],"k":null,"explain":null,"min_seq":null}' % ONE,
    b'{"instances":[{"features":["\\u0061"]}]}',
    b'{"instances":[{"features":["a","b","c"]}]}',
    b'{"instances":[{"features":[]}]}',
    b'{"instances":[{"features":{"a":0}}]}',
    b'{"instances":[{"features":{"a":"1"}}]}',
    b'{"instances":[{"features":{"a":01}}]}',
    b'{"instances":[{"features":{"a":1}1}]}',
    b'{"instances":[{"text":"a","features":["a"]}]}',
    b'{"instances":[{"text":"a","text":"b"}]}',
    *(json.dumps({"instances": [{"text": text}]}).encode() for text in OTHER_TEXTS),
]


async def test_bodies_that_are_not_plain(monkeypatch):
    async with calling(max_batch=2, max_features_per_instance=2) as call:
        for body in NOT_PLAIN:
            assert BatchBody.read(body, DEFAULT_TEXT, 2, 2, 2**20) is None, body
            await assert_same_both_ways(call, body, monkeypatch)


@pytest.mark.parametrize("escaped", [False, True])
async def test_texts(call, escaped, monkeypatch):
    """Each instance that waits has its own text, as it was given."""
    instances = [{"text": text, "id": f"{at}"} for at, text in enumerate(PLAIN_TEXTS)]
    body = json.dumps({"instances": instances}, ensure_ascii=escaped).encode()
    assert BatchBody.read(body, DEFAULT_TEXT, 1000, 2000, 2**20) is not None
    await assert_same_both_ways(call, body, monkeypatch)
    assert (await call("POST", "/rank", body)).status_code == 200
    found = [call.app.api.state.pending.find(each["id"]) for each in instances]
    assert [each.text for each in found] == PLAIN_TEXTS
    read = [DEFAULT_TEXT.instance_of(text).instance for text in PLAIN_TEXTS]
    assert [each.data for each in found] == [*map(bytes, read)]


async def assert_same_both_ways(call, body, monkeypatch):
    """Check that the answer does not depend on the native reader, but for the ids it makes."""
    await call.learn(("a", "x"), ("a b", "y"))
    answer = await call("POST", "/rank", body)
    with monkeypatch.context() as patched:
        patched.setattr(rank.Rank, "_batch", lambda *_: None)
        other = await call("POST", "/rank", body)
    assert (answer.status_code, without_ids(answer)) == (other.status_code, without_ids(other)), (
        body
    )


def without_ids(answer):
    content = answer.json()
    for each in (content, *content.get("results", ())):
        each.pop("id", None)
    return content


async def test_the_limit_of_instances_times_classes(call):
    instances = [{"features": ["a"]}] * 21
    assert (await call("POST", "/rank", {"instances": instances, "k": 1000})).status_code == 422
    assert (await call("POST", "/rank", {"instances": instances[1:], "k": 1000})).status_code == 200

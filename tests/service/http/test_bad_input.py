"""Every invalid input gets a problem in answer; nothing is learned, nothing breaks."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hypothesis_examples import examples
from tests.service.serving import assert_problem, calling

BODIES = {
    "empty": (b"", {400}),
    "white space": (b" \n ", {400}),
    "null": (b"null", {422}),
    "not json": (b"{features: 1}", {400}),
    "cut short": (b'{"features":{"a":1}', {400}),
    "more than one": (b'{"text":"a"}{"text":"a"}', {400}),
    "NaN": (b'{"features":{"a":NaN},"classes":["x"]}', {400}),
    "Infinity": (b'{"features":{"a":Infinity},"classes":["x"]}', {400}),
    "-Infinity": (b'{"features":{"a":-Infinity},"classes":["x"]}', {400}),
    "1e400": (b'{"features":{"a":1e400},"classes":["x"]}', {422}),
    "-1e400": (b'{"features":{"a":-1e400},"classes":["x"]}', {422}),
    "1e308": (b'{"features":{"a":1e308},"classes":["x"]}', {422}),
    "5000 digits": (b'{"features":{"a":' + b"9" * 5000 + b'},"classes":["x"]}', {422}),
    "a name of 5000 digits": (b'{"features":[' + b"9" * 5000 + b'],"classes":["x"]}', {422}),
    "1e400 as name": (b'{"features":[1e400],"classes":["x"]}', {422}),
    "leading zero": (b'{"features":{"a":01},"classes":["x"]}', {400}),
    "hex": (b'{"features":{"a":0x1},"classes":["x"]}', {400}),
    "deep arrays": (b"[" * 100_000, {400, 422}),
    "deep objects": (b'{"features":' * 50_000, {400, 422}),
    "deep features": (b'{"features":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", {400, 422}),
    "deep unknown": (b'{"z":' + b"[" * 100_000 + b"]" * 100_000 + b"}", {400, 422}),
    "invalid UTF-8 in a name": (b'{"features":{"\xff\xfe":1},"classes":["x"]}', {400}),
    "a large number beside invalid UTF-8": (
        b'{"features":{"a":1e400,"\xff":1},"classes":["x"]}',
        {400, 422},
    ),
    "invalid UTF-8 in a text": (b'{"text":"\xc3(","classes":["x"]}', {400}),
    "encoded surrogate": (b'{"text":"\xed\xa0\x80","classes":["x"]}', {400}),
    "lone surrogate in a name": (b'{"features":{"\\ud800":1},"classes":["x"]}', {400}),
    "lone surrogate in an array": (b'{"features":["\\udfff"],"classes":["x"]}', {400}),
    "lone surrogate in a class": (b'{"features":["a"],"classes":["\\ud800x"]}', {400}),
    "lone surrogate in a text": (b'{"text":"\\ud83d","classes":["x"]}', {400}),
    "bad escape": (b'{"text":"\\x","classes":["x"]}', {400}),
    "control character": (b'{"text":"a\x01","classes":["x"]}', {400}),
    "UTF-16": ('{"text":"a","classes":["x"]}'.encode("utf-16"), {400}),
    "byte order mark": (b'\xef\xbb\xbf{"text":"a","classes":["x"]}', {400}),
    "wrong types": (b'{"features":[{}],"classes":[[]]}', {422}),
    "boolean value": (b'{"features":{"a":true},"classes":["x"]}', {422}),
    "boolean name": (b'{"features":[true],"classes":["x"]}', {422}),
    "oversized": (b" " * 2**20 + b"{}", {413}),
}


@pytest.mark.parametrize("path", ["/learn", "/rank"])
async def test_bad_bodies(path):
    async with calling(max_body_bytes=2**20) as call:
        await call.learn(("a", "x"))
        before = call.digest()
        for name, (body, statuses) in BODIES.items():
            if path == "/rank":  # /rank takes no classes
                body = body.replace(b',"classes":["x"]', b"").replace(b'"classes"', b'"instances"')
            response = await call("POST", path, body)
            assert response.status_code in statuses, name
            assert_problem(response, response.status_code)
            packed = gzip.compress(body)
            again = await call("POST", path, packed, headers={"content-encoding": "gzip"})
            assert again.json() == response.json(), name
            assert call.digest() == before, name
            assert (await call("POST", "/rank", {"text": "a"})).json()["ranked"], name


async def test_bad_lines():
    async with calling(max_body_bytes=2**20) as call:
        before = call.digest()
        for name, (body, _) in BODIES.items():
            if b"\n" not in body:
                *faults, summary = await call.stream(body + b"\n")
                assert (summary["kind"], summary["accepted"]) == ("summary", 0), name
                assert [fault["kind"] for fault in faults] == (["fault"] if body else []), name
                assert call.digest() == before, name


async def test_a_bomb():
    async with calling(max_body_bytes=2**20) as call:
        bomb = gzip.compress(b'{"text":"' + b"a" * 20 * 2**20 + b'"}')
        headers = {"content-encoding": "gzip"}
        for path in ("/rank", "/learn"):
            assert_problem(await call("POST", path, bomb, headers=headers), 413)
        fault, summary = await call.stream(bomb, **headers)
        assert "too long" in fault["detail"]
        assert summary["accepted"] == 0


async def test_the_last_of_two_equal_keys_counts():
    async with calling() as call, calling() as other:
        await call(
            "POST", "/learn", b'{"features":{"a":5,"b":1,"a":2},"classes":["y"],"classes":["x"]}'
        )
        await other("POST", "/learn", {"features": {"a": 2, "b": 1}, "classes": ["x"]})
        assert call.digest() == other.digest()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["features", "classes", "text", "id", "events", "instances", "k", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@examples(30)
@given(st.lists(JSON, min_size=1, max_size=50))
async def test_no_json_breaks_it(bodies):
    async with calling() as call:
        for body in bodies:
            for path in ("/rank", "/learn"):
                response = await call("POST", path, json.dumps(body).encode())
                assert response.status_code in (200, 400, 404, 410, 422)
                if response.status_code != 200:
                    assert_problem(response, response.status_code)
        assert await call.learn(("a", "x"))


@examples(25)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=20))
async def test_no_bytes_break_it(bodies):
    async with calling() as call:
        before = call.digest()
        for body in bodies:
            for headers in ({}, {"content-encoding": "gzip"}):
                for path in ("/rank", "/learn"):
                    response = await call("POST", path, body, headers=headers)
                    assert response.status_code in (400, 422)
            assert (await call.stream(body))[-1]["kind"] == "summary"
        assert call.digest() == before


async def test_no_refusal_of_a_parameter_shows_a_regular_expression():
    async with calling() as call:
        paths = (await call("GET", "/openapi.json")).json()["paths"]
        wrong = {
            f"{path}?{each['name']}=*": each["name"]
            for path, methods in paths.items()
            for each in methods.get("get", {}).get("parameters", ())
            if each["in"] == "query" and "{" not in path
        }
        assert len(wrong) > 20
        answers = {target: await call("GET", target) for target in wrong}
        refused = {target: each for target, each in answers.items() if each.status_code == 422}
        assert len(refused) > 10
        for target, answer in refused.items():
            assert wrong[target] in answer.json()["detail"]
            assert "pattern" not in answer.text, target
            assert "^" not in answer.text, target

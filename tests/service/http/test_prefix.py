"""The document names the path below which a proxy serves it, from a setting or a trusted header."""

import pytest

from tests.service.serving import assert_problem, calling

HEADER = "x-forwarded-prefix"


async def server_in_document(call, **headers):
    answer = await call("GET", "/openapi.json", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    [server] = answer.json()["servers"]
    return server["url"]


async def test_without_a_proxy_it_is_the_root():
    async with calling() as call:
        assert await server_in_document(call) == "/"


async def test_any_client_may_send_the_header_and_it_is_not_read():
    async with calling() as call:
        assert await server_in_document(call, **{HEADER: "/evil"}) == "/"
    async with calling(root_path="/ml") as call:
        assert await server_in_document(call, **{HEADER: "/evil"}) == "/ml"


async def test_a_setting_names_the_path():
    async with calling(root_path="/ml/v1") as call:
        assert await server_in_document(call) == "/ml/v1"
        assert (await call("GET", "/stats")).status_code == 200  # the proxy takes it away


@pytest.mark.parametrize(
    ("given", "path"), [("/ml", "/ml"), ("/ml/", "/ml"), ("/a/b ", "/a/b"), ("/", "/"), ("", "/")]
)
async def test_a_trusted_proxy_names_the_path(given, path):
    async with calling(forwarded_prefix=True, root_path="/set") as call:
        assert await server_in_document(call, **{HEADER: given}) == path
        assert await server_in_document(call, **{HEADER: "/other"}) == "/other"
        assert await server_in_document(call) == "/set"  # as for a probe that no proxy passed on


@pytest.mark.parametrize(
    "given", ["//evil.example", "https://evil.example", "ml", "/a b", "/a, /b", "/a?b", "/a" * 2000]
)
async def test_a_header_that_is_no_path_is_refused(given):
    async with calling(forwarded_prefix=True) as call:
        answer = await call("GET", "/openapi.json", headers={HEADER: given})
        assert "X-Forwarded-Prefix" in assert_problem(answer, 400)["detail"]


async def test_many_paths_of_a_proxy_take_no_memory():
    async with calling(forwarded_prefix=True) as call:
        for number in range(20):
            path = f"/p{number}"
            assert await server_in_document(call, **{HEADER: path}) == path
        assert call.app.api.state.document.cache_info().currsize <= 8

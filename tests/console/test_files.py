"""The files of the console: small, from one origin, under a strict policy."""

import re
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from manyclass.service.http.console.router import SAMPLES, console_files
from tests.service.serving import assert_problem, calling

MOST_BYTES = 500_000  # of all files but the samples
IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']""")
ADDRESS = re.compile(rb"https?://[^\s\"'`<>)]+")
NAMESPACE = b"http://www.w3.org/"


@pytest.fixture
async def call():
    async with calling() as calls:
        yield calls


def modules():
    return {
        name: file.content.decode()
        for name, file in console_files().items()
        if name.endswith((".js", ".mjs"))
    }


def test_all_files_are_small():
    own = (file for name, file in console_files().items() if not name.startswith("samples/"))
    assert 50_000 < sum(len(file.content) for file in own) <= MOST_BYTES


def test_every_import_is_a_file_of_the_console():
    for name, text in modules().items():
        for address in IMPORT.findall(text):
            assert normpath(join(dirname(name), address)) in console_files(), (name, address)


def test_no_file_names_another_host():
    for name, file in console_files().items():
        if name.endswith((".gz", ".txt")):
            continue
        for address in ADDRESS.findall(file.content):
            if not address.startswith(NAMESPACE):
                pytest.fail(f"{name} names {address.decode()}")


def test_the_page_has_nothing_inline():
    page = console_files()["index.html"].content.decode()
    assert re.findall(r"<script(?![^>]* src=)|<style| on[a-z]+=| style=", page) == []


def test_the_notice_names_every_vendored_file():
    notice = console_files()["vendor/NOTICE.txt"].content.decode()
    named = re.findall(r"^\S+ [\d.]+, [\w.-]+: (.*)$", notice, re.MULTILINE)
    files = {file for line in named for file in line.split(", ")}
    there = {Path(name).name for name in console_files() if name.startswith("vendor/")}
    assert files == there - {"NOTICE.txt"}


async def test_a_browser_gets_the_console_and_other_clients_the_reference(call):
    accept = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    home = await call("GET", "/", headers=accept)
    assert (home.status_code, home.headers["location"]) == (307, "console")
    for other in ({}, {"accept": "*/*"}, {"accept": "application/json"}):
        home = await call("GET", "/", headers=other)
        assert (home.status_code, home.headers["location"]) == (307, "docs")


async def test_the_page_and_every_file_are_served_with_the_policy(call):
    page = await call("GET", "/console")
    assert page.content == console_files()["index.html"].content
    for name, file in console_files().items():
        answer = await call("GET", f"/console/{name}")
        assert answer.content == file.content, name
        assert answer.headers["content-type"] == file.media_type
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; ")
        assert "unsafe" not in policy


async def test_an_unchanged_file_is_not_sent_again(call):
    first = await call("GET", "/console/app.js")
    assert first.headers["cache-control"] == "no-cache"
    again = await call("GET", "/console/app.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await call("GET", "/console/app.js", headers={"if-none-match": '"other"'})
    assert other.status_code == 200


async def test_the_files_are_there_with_keys_too():
    async with calling(rank_keys=("r",)) as call:
        assert (await call("GET", "/console")).status_code == 200
        assert (await call("GET", f"/console/samples/{SAMPLES[0]}")).status_code == 200
        assert_problem(await call("GET", "/stats"), 401)


async def test_other_files_are_not_there(call):
    for path in ("nothing.js", "../router.py", "..%2frouter.py", "%2e%2e/router.py", "", "pages"):
        assert_problem(await call("GET", f"/console/{path}"), 404)
    head = await call("HEAD", "/console/app.js")
    assert (head.status_code, head.content) == (200, b"")

"""The page of the reference works without the internet."""

import re
from urllib.parse import urljoin, urlsplit

import pytest

from tests.service.serving import assert_problem

HERE = "http://127.0.0.1"
ADDRESSES = re.compile(r"""(?:src|href|url)\s*[=:]\s*["']([^"']*)["']""")


def addresses(page, text):
    """Return every address in the page or its script, as the browser resolves it."""
    found = [urljoin(HERE + page, each) for each in ADDRESSES.findall(text)]
    return [each for each in found if not each.startswith("data:")]


@pytest.mark.parametrize("below", ["", "/some/path"])
async def test_every_address_of_the_page_is_served_here(call, below):
    page = await call("GET", "/docs")
    assert page.headers["content-type"].startswith("text/html")
    script = await call("GET", "/docs/start.js")
    named = addresses(f"{below}/docs", page.text) + addresses(f"{below}/docs", script.text)
    assert len(named) == 5
    for address in named:
        assert address.startswith(f"{HERE}{below}/")
        response = await call("GET", urlsplit(address).path.removeprefix(below))
        assert response.status_code == 200
        assert response.content


async def test_the_browser_may_load_from_this_origin_only(call):
    policy = (await call("GET", "/docs")).headers["content-security-policy"]
    sources = [source for rule in policy.split("; ") for source in rule.split()[1:]]
    assert policy.startswith("default-src 'none'")
    assert {*sources} == {"'none'", "'self'", "'unsafe-inline'", "data:"}
    assert "script-src 'self';" in policy  # so that no text of a name is executed
    page = await call("GET", "/docs")
    assert re.findall(r"<script(?! src=)|<style| on[a-z]+=", page.text) == []


async def test_the_script_is_swagger_ui_which_checks_nothing_elsewhere(call):
    bundle = await call("GET", "/docs/files/swagger-ui-bundle.js")
    assert "javascript" in bundle.headers["content-type"]
    assert "SwaggerUIBundle" in bundle.text
    assert "validatorUrl: null" in (await call("GET", "/docs/start.js")).text
    tag = {"if-none-match": bundle.headers["etag"]}
    again = await call("GET", "/docs/files/swagger-ui-bundle.js", headers=tag)
    assert again.status_code == 304


async def test_other_files_are_not_there(call):
    for path in ("nothing.js", "..%2f__init__.py", "../core.py", ""):
        assert_problem(await call("GET", f"/docs/files/{path}"), 404)
    assert (await call("GET", "/docs?x=1")).status_code == 200
    assert (await call("GET", "/?x=1")).status_code == 307

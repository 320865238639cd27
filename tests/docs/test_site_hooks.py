"""Links of the pages become links of the site, and nothing is loaded from another server."""

from types import SimpleNamespace

import pytest

from deploy.site_hooks import LOADED, on_page_markdown

KNOWN = {"history.md", "howto/run.md", "deploy/README.md", "ARCHITECTURE.md"}
FILES = SimpleNamespace(get_file_from_path=lambda uri: uri if uri in KNOWN else None)


def on_site(text, source):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=source))
    return on_page_markdown(text, page, None, FILES)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("faq.md", "[a](history.md#x)", "[a](history.md#x)"),
        ("faq.md", "[a](../deploy/README.md)", "[a](deploy/README.md)"),
        ("howto/run.md", "[a](../../deploy/README.md#nginx)", "[a](../deploy/README.md#nginx)"),
        ("ARCHITECTURE.md", "[a](docs/history.md)", "[a](history.md)"),
        ("deploy/README.md", "[a](../docs/history.md)", "[a](../history.md)"),
        ("faq.md", "[a](../Makefile)", "a"),
        ("faq.md", "[a](missing.md)", "[a](missing.md)"),
        ("faq.md", "[a](https://example.org)", "[a](https://example.org)"),
        ("faq.md", "`../Makefile`", "`../Makefile`"),
        ("history.md", "`docs/history.md`", "`docs/history.md`"),
        ("faq.md", "```text\n`docs/history.md`\n```", "```text\n`docs/history.md`\n```"),
    ],
)
def test_links(source, text, expected):
    assert on_site(text, source) == expected


def test_a_named_page_becomes_a_link_with_its_title():
    title = "History: correct labels, erase data, rebuild"
    assert on_site("see `docs/history.md`", "howto/run.md") == f"see [{title}](../history.md)"


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<script src="https://x.org/a.js">', True),
        ("<script src=//x.org/a.js>", True),
        ('<link rel="stylesheet" href="https://x.org/a.css">', True),
        ('<link href="https://x.org" rel="preconnect">', True),
        ("body { background: url(https://x.org/a.png) }", True),
        ('<img src="pictures/index.svg">', False),
        ('<a href="https://x.org">', False),
        ('<svg xmlns="http://www.w3.org/2000/svg">', False),
    ],
)
def test_what_is_loaded_from_another_server_is_found(text, loads):
    assert (LOADED.search(text) is not None) == loads

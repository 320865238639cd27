"""Links between the Markdown pages lead to a file, and to a heading in it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "deploy/README.md"]
PAGES += ROOT.glob("examples/**/README.md")


def anchors(page):
    """Return the anchors of the headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def broken(page):
    """Return the links of a page without a target."""
    links = re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", page.read_text())
    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]
    return [
        (str(target), anchor)
        for target, anchor in targets
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page):
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.md").write_text(
        "# Some `name`\n\n[a](#some-name) [b](b.md) [c](#c) [d](http://x)"
    )
    assert broken(tmp_path / "a.md") == [
        (str(tmp_path / "b.md"), ""),
        (str(tmp_path / "a.md"), "c"),
    ]


def test_the_readme_is_short_and_shows_pictures():
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 150
    assert len(re.findall(r"^!\[[^\]]+\]\(docs/", readme, re.MULTILINE)) == 2

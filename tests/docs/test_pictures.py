"""Pictures of the documentation: each is shown by a page, and those made of text are small."""

import re
from xml.etree import ElementTree

import pytest

from tests.docs.blocks import ROOT

PICTURES = [
    *(ROOT / "docs").rglob("*.svg"),
    *(ROOT / "docs").rglob("*.png"),
]
DRAWN = [path for path in PICTURES if path.suffix == ".svg"]
MOST_BYTES = 15_000
MOST_LINES = 60


def named(path):
    return str(path.relative_to(ROOT))


def shown(page):
    links = re.findall(r"!\[[^\]]*\]\((?!\w+:)([^)\s]+)\)", page.read_text())
    return {(page.parent / link).resolve() for link in links}


def test_every_picture_is_shown_by_a_page():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

    assert {*PICTURES} == set().union(*map(shown, pages))


@pytest.mark.parametrize("path", DRAWN, ids=named)
def test_a_drawing_is_small_and_its_text_is_text(path):
    written = path.read_text()

    assert len(written.encode()) <= MOST_BYTES
    assert written.count("\n") <= MOST_LINES
    assert any(each.tag.endswith("}text") for each in ElementTree.fromstring(written).iter())

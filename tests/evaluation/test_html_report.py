import re
from html.parser import HTMLParser

import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Result
from manyclass.evaluation.html_report import html_report
from manyclass.evaluation.run import Outcome, Pass
from tests.evaluation.examples import Always, compared, comparison_of

VOID = {"meta", "br", "img"}


class Outline(HTMLParser):
    """The elements of a page; fails when an element is not closed in its place."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def comparisons():
    given = ([Options(), Options(rating=0)], {"leak": ["yes", "no"]}, {"a<b": Always})
    return [compared(*given, passes=2, splits=2), compared(*given, progressive=True)]


@pytest.fixture(scope="module")
def text(comparisons):
    return html_report(comparisons, {"command": "manyclass evaluate <x>", "machine": "m"})


def test_every_element_is_closed(text):
    assert Outline(text).tags.count("figure") > 8


def test_the_page_needs_nothing_else(text):
    outline = Outline(text)

    assert outline.tags.count("script") == 1
    assert "link" not in outline.tags
    assert "url(" not in text
    assert "@import" not in text
    references = {value for _, name, value in outline.attributes if name in ("src", "href")}
    assert {each.partition(",")[0] for each in references} == {
        "#easy",
        "data:image/svg+xml;base64",
    }


def test_it_is_readable_in_light_and_dark(text):
    used = {*re.findall(r"var\((--[a-z0-9]+)\)", text)}
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    dark = dark[: dark.index("* {")]
    for colour in used:
        assert f"{colour}:" in light
        assert f"{colour}:" in dark


def test_names_are_escaped(text):
    assert "a&lt;b" in text
    assert "a<b" not in text
    assert "manyclass evaluate &lt;x&gt;" in text


def test_several_sets_have_an_overview(text, comparisons):
    tables = Outline(text).tags.count("table")
    alone = html_report(comparisons[:1], {})

    assert "<nav>" in text
    assert "<nav>" not in alone
    assert tables == 1 + 2 + 2
    assert Outline(alone).tags.count("table") == 2


def test_the_overview_shows_the_passes_that_the_tables_show():
    rest = {"R5": 0.9, "HR": 1.5, "macro F1": 0.4}
    passes = [Pass(1, 1.0, {"R1": 0.625} | rest, {"R1": 1.0}, 9)]
    passes.append(Pass(2, 2.0, {"R1": 0.5} | rest, {"R1": 1.0}, 9))
    found = comparison_of(Result("ff", [Outcome(0, passes)], "ff"), splits=1)

    def first_table(best_pass):
        written = html_report([found, found], {}, best_pass)
        return written[written.index("<table>") : written.index("</table>")]

    assert "0.500" in first_table(best_pass=False)
    assert "0.625" in first_table(best_pass=True)


def test_the_best_of_each_column_is_marked(text):
    assert re.search(r'<td class="best" title="1">1\.000', text)


def test_variations_are_folded_away(text):
    folded = re.findall(r"<details>(.*?)</details>", text, re.DOTALL)

    assert len(folded) == 2
    assert "ff(leak=no)" in folded[0]
    assert "ff(rating=0)" in folded[0]  # leak=yes, its default
    main = text[: text.index("<details>")]
    assert "ff(leak=no)" not in main

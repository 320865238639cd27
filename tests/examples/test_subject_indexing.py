import csv
import re

import pytest

from tests.docs.blocks import ROOT
from tests.docs.session import is_shown

NAME = "subject-indexing"


@pytest.fixture(scope="module")
def output(run_example):
    return run_example(NAME)


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def test_most_headings_are_suggested(output):
    rows = re.findall(r"^ *([\d,]+) +(0\.\d+) +(0\.\d+)$", output, re.M)
    assert [titles for titles, _, _ in rows] == [f"{each:,}" for each in range(500, 4001, 500)]
    assert all(float(recall) > 0.85 for _, recall, _ in rows)
    assert all(float(commonest) < 0.2 for _, _, commonest in rows)


def test_new_headings_are_suggested_after_a_few_titles(output):
    rows = re.findall(r"^(\w[\w ]+\w) +(\d+) +no\. (\d+) +([01]\.\d+)$", output, re.M)
    with (ROOT / "examples" / NAME / "headings.csv").open(newline="") as file:
        new = {row["heading"] for row in csv.DictReader(file) if row["since"] == "1"}
    assert {heading for heading, *_ in rows} == new
    assert all(2 <= int(first) <= 8 for _, _, first, _ in rows)
    titles = sum(int(count) for _, count, _, _ in rows)
    assert sum(int(count) * float(recall) for _, count, _, recall in rows) / titles > 0.7


def test_suggestions_name_their_words(output):
    first, second = re.split(r"^Monks.*$", output.partition("== suggestions")[2], flags=re.M)
    assert re.search(r"Artificial intelligence \(chatbots, ", first)
    assert re.search(r"Austria \(vienna, ", first)
    assert re.search(r"Buddhism \(monks, ", second)
    assert re.search(r"Japan \(kyoto, ", second)

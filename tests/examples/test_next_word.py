import re

import pytest

from tests.docs.session import is_shown

NAME = "next-word"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(run_example):
    return run_example(NAME)


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def test_accuracy_rises(output):
    rows = re.findall(r"^ *[\d,]+ +(0\.\d+) +(0\.\d+)$", output, re.M)
    assert len(rows) == 8
    first, five = ([float(each) for each in column] for column in zip(*rows, strict=True))
    assert sum(first[-3:]) > 1.2 * sum(first[:3])
    assert sum(five[-3:]) > 1.15 * sum(five[:3])
    assert five[-1] > 0.28


def test_the_learner_is_better_than_the_commonest_words(output):
    r1 = dict(re.findall(r"^(ff|frequency) +\w+ +10,000 +(0\.\d+)", output, re.M))
    assert float(r1["ff"]) > 3 * float(r1["frequency"])


def test_names_are_learned_among_thousands_of_classes(output):
    [classes] = re.findall(r"knows ([\d,]+) classes", output)
    assert int(classes.replace(",", "")) > 5_000
    assert re.search(r"^Captain … Wentworth ", output, re.M)

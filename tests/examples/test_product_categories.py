import csv
import re

import pytest

from tests.docs.blocks import ROOT
from tests.docs.session import is_shown

NAME = "product-categories"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(run_example):
    return run_example(NAME)


def test_it_prints_what_its_page_shows(output, output_on_page):
    assert is_shown(output_on_page(NAME), output)


def compared(output):
    rows = re.findall(r"^(by-\w+) +(0\.\d+) +(0\.\d+) +(0\.\d+)$", output, re.M)
    return {name: [float(each) for each in numbers] for name, *numbers in rows}


def test_most_categories_are_right_and_mistakes_are_near(output):
    tables = compared(output)
    assert tables.keys() == {"by-score", "by-loss", "by-path"}
    for right, family, loss in tables.values():
        assert right > 0.7
        assert family > 0.85
        assert loss < 0.5


def test_the_tree_makes_mistakes_smaller(output):
    tables = compared(output)
    losses = {name: loss for name, (_, _, loss) in tables.items()}
    assert losses["by-path"] < losses["by-loss"] < losses["by-score"]


def test_the_service_counts_the_loss_of_the_shadow_too(output):
    learners = re.findall(r"^(svm|path) +(primary|shadow) .* ([\d.]+)$", output, re.M)
    assert [(name, role) for name, role, _ in learners] == [("svm", "primary"), ("path", "shadow")]
    primary, shadow = (float(loss) for *_, loss in learners)
    assert 0 < shadow < primary < 1


@pytest.mark.parametrize("table", ["by-score", "by-loss", "by-path"])
def test_the_printed_loss_is_that_of_the_ranked_table(table, output):
    with (ROOT / "examples" / NAME / "data" / f"{table}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0].keys() >= {"sku", "title", "category", "confidence", "class_3", "score_3"}
    steps = 0
    for row in rows:
        one, other = (nodes(row[column]) for column in ("category", "class_1"))
        steps += len(one ^ other)
    assert compared(output)[table][2] == pytest.approx(steps / 2 / len(rows), abs=0.0006)


def nodes(path):
    parts = path.split(" > ")
    return {tuple(parts[:length]) for length in range(1, len(parts) + 1)}

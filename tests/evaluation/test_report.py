import json
import math

import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Plan, Result, compare, variants
from manyclass.evaluation.report import (
    EMPTY,
    Cell,
    Table,
    as_json,
    best_of,
    short,
    table_of,
    title_of,
)
from manyclass.evaluation.run import Outcome, Pass
from manyclass.evaluation.taxonomy import Taxonomy
from tests.evaluation.examples import Always, compared, comparison_of, data_set


def passed(number, r1, **given):
    test = {"R1": r1, "R5": 0.9, "HR": 1.5, "macro F1": 0.4, "P3": 0.3, "P5": 0.2}
    test |= {"nDCG3": 0.3, "nDCG5": 0.3}
    test |= {"PSP1": 0.1, "PSP3": 0.1, "PSP5": 0.1, "taxo-loss": 2.0, "parent": 0.6, "MRR": 0.7}
    test |= {"taxo-loss decoded": 1.5, "R1 decoded": 0.4}
    return Pass(number, 0.5 * number, test, {"R1": 0.99}, 2_000_000, **given)


@pytest.fixture
def ours():
    splits = [
        [passed(1, 0.8, edges=10, touched=2.5), passed(2, 0.7, edges=30, touched=3)],
        [passed(1, 0.6, edges=20, touched=2.5), passed(2, 0.5, edges=30, touched=3)],
    ]
    return Result("ff", [Outcome(seed, passes, 5e5) for seed, passes in enumerate(splits)], "ff")


@pytest.fixture
def peer():
    outcomes = [Outcome(seed, [passed(1, 0.9)]) for seed in (0, 1)]
    return Result("svm", outcomes, "svm", ours=False)


def by_name(table, row):
    return {name: cell.text for name, cell in zip(table.columns, table.rows[row], strict=True)}


def test_a_row_shows_accuracy_and_cost_after_the_last_pass(ours, peer):
    table = table_of(comparison_of(ours, peer))

    assert by_name(table, 0) == {
        "learner": "ff",
        "pass": "2",
        "R1": "0.600 ± 0.141",
        "R5": "0.900 ± 0.000",
        "HR": "1.500",
        "macro F1": "0.400",
        "T_train s": "1",
        "d": "3",
        "|W|": "30",
        "bytes": "2M",
        "ranks/s": "500k",
        "training R1": "0.990",
        "wins": "-",
    }
    assert by_name(table, 1)["|W|"] == "-"
    assert by_name(table, 1)["wins"] == "2:0"


def test_the_pass_with_the_best_accuracy_can_be_shown(ours):
    shown = by_name(table_of(comparison_of(ours), best_pass=True), 0)

    assert (shown["pass"], shown["R1"], shown["|W|"]) == ("1", "0.700 ± 0.141", "15")


def test_columns_are_there_where_they_say_something(ours, peer):
    plain = table_of(comparison_of(peer, splits=1)).columns
    assert not {"d", "|W|", "wins", "P5", "taxo-loss", "progressive R1"} & {*plain}

    labels = table_of(comparison_of(ours, classes=2.5)).columns
    assert {"P3", "P5", "nDCG3", "nDCG5", "PSP1", "PSP3", "PSP5"} <= {*labels}

    tree = table_of(comparison_of(ours, taxonomy=True)).columns
    assert {"MRR", "taxo-loss", "parent", "taxo-loss decoded", "R1 decoded"} <= {*tree}


def test_the_best_of_a_column_may_be_the_least(ours, peer):
    table = table_of(comparison_of(ours, peer))
    best = dict(zip(table.columns, table.best, strict=True))

    assert best["R1"] == 1
    assert best["T_train s"] == 1
    assert best["learner"] == best["pass"] == best["|W|"] == -1
    cells = [Cell("x", 2.0), EMPTY, Cell("y", 1.0), Cell("z", 1.0)]
    assert best_of(cells, "less") == 2
    assert best_of(cells, "more") == 0
    assert best_of(cells, "") == -1
    assert best_of(cells[:2], "more") == -1


def test_a_failed_peer_has_an_empty_row_and_a_note(ours):
    failed = Result("svm", [], "svm", ours=False, failed="OSError: no such program")

    table = table_of(comparison_of(ours, failed))

    assert {*by_name(table, 1).values()} == {"svm", "-"}
    assert "svm failed: OSError: no such program" in table.text()
    assert "svm failed: OSError: no such program" in table.markdown()


def test_a_estimator_stands_in_the_table_once_and_variations_may_be_apart(ours):
    again = Result("ff", ours.outcomes, "ff", "rating", "10")
    varied = Result("ff(rating=0)", ours.outcomes, "ff", "rating", "0")
    all_of_them = comparison_of(ours, again, varied)

    def names(**given):
        return [row[0].text for row in table_of(all_of_them, **given).rows]

    assert names() == ["ff", "ff(rating=0)"]
    assert names(variations=False) == ["ff"]
    assert names(variations=True) == ["ff", "ff(rating=0)"]


def test_text_is_aligned():
    table = Table(
        "t", ["learner", "R1"], [[Cell("a"), Cell("1")], [Cell("bcdefghi"), EMPTY]], [-1, -1]
    )

    assert table.text() == "t\n\n  learner   R1\n  a          1\n  bcdefghi   -"


def test_markdown_marks_what_is_best_and_escapes_bars():
    cells = [[Cell("a|b"), Cell("1", 1.0)], [Cell("c"), Cell("2", 2.0)]]

    written = Table("t", ["learner", "|W|"], cells, [-1, 1]).markdown()

    assert written.splitlines()[2:] == [
        "| learner | \\|W\\| |",
        "| --- | ---: |",
        "| a\\|b | 1 |",
        "| c | **2** |",
    ]


def test_the_title_says_what_was_split_and_how(ours):
    assert title_of(comparison_of(ours, classes=1.5)) == (
        "set: 80 + 20 instances, split at random, 7 classes (1.5 to an instance), 50 features"
        " (3.2 active), 2 splits"
    )


def test_json_has_every_figure_of_every_split_and_the_means():
    data = data_set(taxonomy=Taxonomy({}))
    found = compare(data, variants([Options()], {}), {"always": Always}, Plan(splits=2, passes=2))

    read = json.loads(as_json([found], {"machine": "m"}))

    assert read["machine"] == "m"
    (only,) = read["sets"]
    assert only["name"] == "easy"
    assert only["plan"]["splits"] == 2
    ours, peer = only["results"]
    assert ours["estimator"] == "ff"
    assert len(ours["outcomes"]) == 2
    assert ours["outcomes"][1]["passes"][1]["test"]["R1"] == 1
    assert ours["test_by_pass"][1]["R1"] == {"mean": 1.0, "deviation": 0.0}
    assert ours["outcomes"][0]["stream"]["curve"]["learned"][-1] == 60
    assert "taxo-loss" in peer["test_by_pass"][0]


def test_json_has_null_for_an_infinite_rank(ours):
    ours.outcomes[0].passes[0].test["HR"] = math.inf

    read = json.loads(as_json([comparison_of(ours)], {}))

    result = read["sets"][0]["results"][0]
    assert result["outcomes"][0]["passes"][0]["test"]["HR"] is None
    assert result["outcomes"][1]["passes"][0]["test"]["HR"] == 1.5


def test_a_stream_has_a_table_of_its_own():
    table = table_of(compared(splits=2, progressive=True))

    assert table.columns == ["learner", "R1", "R5", "R10", "HR", "T s", "|W|", "bytes"]
    assert "80 instances as one stream" in table.title
    assert "2 orders" in table.title


def test_wins_are_those_of_the_passes_and_rows_that_are_shown(ours, peer):
    late = Result("pa", [Outcome(0, [passed(1, 0.1), passed(2, 0.75)])] * 2, "pa", "rating", "0")
    early = Result("x", [Outcome(0, [passed(1, 0.77), passed(2, 0.1)])] * 2, "x", "rating", "1")
    found = comparison_of(ours, late, early)

    def wins(**given):
        table = table_of(found, **given)
        return {row[0].text: row[table.columns.index("wins")].text for row in table.rows}

    assert wins() == {"ff": "-", "pa": "2:0", "x": "0:2"}
    assert wins(best_pass=True) == {"ff": "-", "pa": "1:1", "x": "1:1"}
    assert wins(best_pass=True, variations=True) == {"pa": "-", "x": "2:0"}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.095213, "0.0952"),
        (12.84, "12.8"),
        (999.4, "999"),
        (999.9, "1k"),
        (4310, "4.31k"),
        (999_999, "1M"),
        (2.5e9, "2.5G"),
        (-2000, "-2k"),
    ],
)
def test_costs_have_three_digits(number, text):
    assert short(number) == text


def test_columns_of_text_are_aligned_to_the_left():
    rows = [[Cell("1"), Cell("long name"), Cell("5", 5)], [Cell("20"), Cell("b"), Cell("10", 10)]]

    table = Table("", ["line", "class", "rows"], rows, [-1, -1, -1], texts=frozenset(["class"]))

    assert table.text().splitlines()[2:] == [
        "  line  class      rows",
        "  1     long name     5",
        "  20    b            10",
    ]


def test_a_table_as_csv_has_numbers_without_rounding():
    cells = [Cell('a "b", c'), Cell("1,234", 1234), Cell("0.333", 1 / 3), EMPTY, Cell("-")]

    table = Table("title", ["name", "n", "share", "none", "dash"], [cells], [-1] * 5, ["a note"])

    assert table.csv().splitlines() == [
        "name,n,share,none,dash",
        '"a ""b"", c",1234,0.3333333333,,-',
    ]


def test_a_terminal_gets_no_control_characters():
    table = Table("", ["name"], [[Cell("a\n\x1b[1mé…")]], [-1])

    assert table.text().splitlines()[-1] == "  a\\n\\x1b[1mé…"

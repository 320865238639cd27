import json
from dataclasses import replace

import pytest

from manyclass.evaluation.comparison import Result
from manyclass.evaluation.run import Outcome, Pass
from manyclass.evaluation.studies import figures
from manyclass.evaluation.studies.default import CHOSEN
from manyclass.evaluation.studies.figures import KEPT, Setting
from manyclass.evaluation.studies.study import parser_of
from tests.evaluation.examples import data_set

VARY = {
    "max_outdegree": ("1", "25"),
    "min_weight": ("0.01", "0.1"),
    "margin_threshold": ("0", "0.5"),
    "leak": ("no", "yes"),
    "rating": ("0", "10"),
}
FULL = Setting(0.5, 2, 2, VARY, boolean=True, unweighted={"unweighted": 1})
BARE = Setting(0.1, 1, 1, {"rating": ("0", "10")}, unlimited=False)


@pytest.fixture(scope="module")
def found():
    return [
        figures.measure("newsgroups", data_set(), FULL),
        figures.measure("bare", data_set(), BARE),
    ]


@pytest.fixture(scope="module")
def tables(found):
    return {each.title.partition(":")[0]: each for each in figures.tables(found)}


def names(table):
    return [row[0].text for row in table.rows]


def test_the_base_and_its_variations_are_run_in_all_passes_and_splits(found):
    base = found[0].of(found[0].base)

    assert (base.passes, len(base.outcomes)) == (2, 2)
    assert list(found[0].varied("margin_threshold")) == ["0", "0.5"]
    assert found[0].varied("margin_threshold")["0.5"].outcomes is base.outcomes
    assert found[1].of(figures.focused(0.1, **figures.UNLIMITED)) is None


def test_ind_is_run_with_a_chosen_threshold_and_without(found):
    assert [len(found[0].of(name).outcomes) for name in (CHOSEN, KEPT)] == [2, 2]
    assert len(found[0].thresholds) == 2
    assert found[1].of(CHOSEN) is None


def test_there_is_a_table_for_each_figure_and_no_empty_one(tables):
    names = ["11", "12", "13", "s 14 and 19", "15", "16", "17", "18"]

    assert [name.removeprefix("Figure").strip() for name in tables] == names


def test_a_set_stands_only_in_the_tables_of_what_was_run_on_it(tables):
    assert names(tables["Figure 16"]) == ["newsgroups", "bare"]
    assert names(tables["Figure 12"]) == names(tables["Figure 17"]) == ["newsgroups"]


def test_figures_of_the_paper_stand_behind_ours_where_it_has_the_set(tables):
    table = tables["Figure 16"]

    assert table.columns == ["", "rating 0", "rating 10", "paper: rating 0", "paper: rating 10"]
    assert [cell.text for cell in table.rows[0][3:]] == ["0.860", "0.865"]
    assert [cell.text for cell in table.rows[1][3:]] == ["-", "-"]


def test_values_that_were_not_run_are_empty(tables):
    cells = dict(zip(tables["Figure 12"].columns, tables["Figure 12"].rows[0], strict=True))

    assert cells["max_outdegree 1"].figure == 1
    assert cells["max_outdegree 3"].text == "-"


def test_removing_the_limits_shows_what_it_costs(tables):
    table = tables["Figure 11"]

    assert len(table.rows[0]) == len(table.columns) == 11
    assert all(cell.figure is not None for cell in table.rows[0][1:])


def test_margins_are_shown_pass_by_pass_on_test_and_learned_rows(tables):
    table = tables["Figures 14 and 19"]

    assert names(table) == ["δ_m=0, test", "δ_m=0, training", "δ_m=0.5, test", "δ_m=0.5, training"]
    assert table.columns == ["", "pass 1", "pass 2"]


def test_learned_rows_have_figures_of_their_own(found):
    passes = [Pass(number, 1.0, {"R1": 0.5}, {"R1": 0.75}, 10) for number in (1, 2)]
    result = Result("ff", [Outcome(0, passes)], "ff", "margin_threshold", "0")
    comparison = replace(found[0].comparisons[0], results=[result])

    table = figures.by_pass(replace(found[0], comparisons=[comparison]))

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["δ_m=0, test", "0.500", "0.500"],
        ["δ_m=0, training", "0.750", "0.750"],
    ]


def test_the_thresholds_of_ind_and_the_best_boolean_learner_are_named(tables, found):
    note = tables["Figure 17"].notes[0]

    assert f"p_ind {found[0].thresholds[0]:g}" in note
    assert "binarize=yes" in note


def test_indexes_that_were_not_run_are_empty(tables):
    row = tables["Figure 18"].rows[0]

    assert row[1].figure == 1
    assert row[2].text == "-"


def test_the_first_pass_and_the_best_one_are_told_apart():
    passes = [Pass(number, 1.0, {"R1": r1}, {}, 10) for number, r1 in ((1, 0.5), (2, 1.0))]
    result = Result("ff", [Outcome(0, passes)], "ff")

    assert figures.first(result).figure == 0.5
    assert figures.best(result).figure == 1


def test_the_command_prints_all_tables_once_every_set_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(figures, "SETTINGS", {"a": BARE, "b": BARE})
    given = ["--json", str(tmp_path / "f.json"), "--html", str(tmp_path / "f.html")]

    figures.main(parser_of("", ["a", "b"]).parse_args(given), lambda name, folder: data_set())

    assert capsys.readouterr().out.count("Figure 16") == 1
    assert len(json.loads((tmp_path / "f.json").read_text())["sets"]) == 2
    assert "</html>" in (tmp_path / "f.html").read_text()

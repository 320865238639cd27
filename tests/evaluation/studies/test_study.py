from pathlib import Path

import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Plan, compare, variants
from manyclass.evaluation.readers import data_folder
from manyclass.evaluation.report import Cell, Table
from manyclass.evaluation.studies import study
from manyclass.evaluation.studies.study import Study, parser_of
from tests.evaluation.examples import data_set

TABLE = Table("title", ["", "R1"], [[Cell("ff"), Cell("0.5", 0.5)]], [-1, -1])


def test_all_sets_are_run_unless_some_are_named():
    parser = parser_of("", ["a", "b", "c"])

    assert parser.parse_args([]).sets == ["a", "b", "c"]
    assert parser.parse_args([]).data == data_folder()
    given = parser.parse_args(["--sets", "c,a", "--data", "there"])
    assert (given.sets, given.data) == (["c", "a"], Path("there"))


def test_a_study_without_sets_asks_for_no_data():
    with pytest.raises(SystemExit):
        parser_of("").parse_args(["--data", "there"])


def test_tables_are_printed_at_once_as_text_or_markdown(capsys):
    Study("a.study", parser_of("").parse_args([])).show(TABLE)
    assert "  ff  0.5" in capsys.readouterr().out

    Study("a.study", parser_of("").parse_args(["--markdown"])).show(TABLE)
    assert "| ff | 0.5 |" in capsys.readouterr().out


def test_nothing_is_written_that_was_not_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    Study("a.study", parser_of("").parse_args([])).write()

    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_the_best_pass_as_the_tables_do(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(study, "page", lambda *given, **named: asked.append(named) or "written")
    made = Study("a.study", parser_of("").parse_args(["--html", str(tmp_path / "f.html")]))
    made.comparisons.append(compare(data_set(), variants([Options()], {}), {}, Plan(splits=1)))

    made.write()

    assert asked == [{"best_pass": True}]
    assert (tmp_path / "f.html").read_text() == "written"
